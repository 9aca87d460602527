// shoal-bench: how long each collective takes, by size, and whether what comes out is right.
#include <iostream>
#include <vector>

#include "bench/bench.h"
#include "bench/formats.h"
#include "program/program.h"

namespace {

namespace bench = shoal::bench;

int run(shoal::Session& session, const bench::BenchOptions& options) {
  const bench::Plan plan = bench::plan_rows(options, session.world().size());
  const bench::Machine machine = bench::machine_of(session.world());
  if (session.world().rank() != 0) {
    bench::run_plan(session, options, plan, [](const bench::Row&) {});
    return 0;
  }

  for (const std::string& note : plan.left_out) std::cerr << "shoal-bench: note: " + note + "\n";
  std::vector<bench::Row> rows;
  bench::run_plan(session, options, plan, [&](const bench::Row& row) {
    if (options.format == bench::Format::plain) std::cout << bench::plain_line(row) << std::flush;
    if (options.format == bench::Format::table)
      std::cout << (rows.empty() ? bench::table_head(options, machine) : "") << bench::table_line(row) << std::flush;
    rows.push_back(row);
  });
  if (options.format == bench::Format::json) std::cout << bench::json_text(options, machine, rows);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bench::BenchOptions options;
  return shoal::run_program({.name = "shoal-bench",
                             .parse = [&] { return bench::parse_command_line(argc, argv, options); },
                             .run = [&](shoal::Session& session) { return run(session, options); }});
}
