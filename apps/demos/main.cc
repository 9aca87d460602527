// shoal-demo: shows one collective, or all of them, on a few small numbers.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "demos/demonstrations.h"
#include "program/program.h"
#include "shoal/shoal.h"

namespace {

/// Each rank's lines, in rank order: rank 0 takes and prints them. (Ranks that print for themselves reach
/// a common output in any order, however they take turns.)
void print_in_rank_order(shoal::Communicator& comm, const std::vector<std::string>& lines) {
  std::vector<std::uint8_t> text;
  for (const std::string& line : lines) {
    text.insert(text.end(), line.begin(), line.end());
    text.push_back('\n');
  }
  std::array<std::uint64_t, 1> length{text.size()};
  if (comm.rank() != 0) {
    shoal::send(comm, length, 0);
    shoal::send(comm, text, 0);
    return;
  }
  std::cout << std::string(text.begin(), text.end());
  for (int rank = 1; rank < comm.size(); ++rank) {
    shoal::recv(comm, length, rank);
    text.resize(length[0]);
    shoal::recv(comm, text, rank);
    std::cout << std::string(text.begin(), text.end());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows a collective on a few small numbers: what each rank had, and what it got.", "shoal-demo");
  std::vector<std::string> names;
  for (const auto& demonstration : shoal::demos::demonstrations()) names.emplace_back(demonstration.name);
  names.emplace_back("all");
  std::string chosen;
  app.add_option("NAME", chosen, "The collective, or all of them")->required()->check(CLI::IsMember(names));

  const auto run = [&](shoal::Session& session) {
    for (const auto& demonstration : shoal::demos::demonstrations()) {
      if (chosen != "all" && chosen != demonstration.name) continue;
      print_in_rank_order(session.world(), demonstration.run(session.world()));
    }
    return 0;
  };
  return shoal::run_program(
      {.name = app.get_name(), .parse = [&] { return shoal::parse_command_line(app, argc, argv); }, .run = run});
}
