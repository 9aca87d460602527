// shoal-sim: what an operation, or a training step, moves in a world of any size, as the real algorithms do it when the
// data are left out.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "program/program.h"
#include "shoal/runtime/session.h"
#include "shoal/runtime/units.h"
#include "sim/simulated_operation.h"
#include "sim/simulated_training.h"
#include "train/options.h"

namespace {

constexpr int kMostRanks = 16384;  // Each rank's stack takes two of the mappings that Linux allows a process.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;

struct Arguments {
  std::string op;
  int world = 0;
  std::string bytes;
  std::string algorithm = "auto";
  std::string format = "table";
  std::string stage = "2";
  std::string dims = "784,256,128,10";
  std::string optimizer = "adam";
};

std::vector<std::string> names_of_operations() {
  std::vector<std::string> names;
  for (const shoal::Operation operation : shoal::sim::phantom_operations()) names.emplace_back(shoal::name(operation));
  return names;
}

shoal::sim::PhantomCall call_of(const Arguments& arguments) {
  shoal::sim::PhantomCall call{.operation = *shoal::operation_named(arguments.op)};
  call.algorithm = shoal::calls::algorithm_option(arguments.algorithm);
  if (call.operation == shoal::Operation::barrier) {
    if (!arguments.bytes.empty()) throw shoal::UsageError("--bytes " + arguments.bytes + ": a barrier has no data");
  } else {
    const auto bytes = shoal::parse_bytes(arguments.bytes);
    if (!bytes || *bytes > kMostBytes)
      throw shoal::UsageError("--bytes " + arguments.bytes + ": not a size from 0 to 4096G, as in 64, 4K, 1G");
    if (*bytes % sizeof(float) != 0)
      throw shoal::UsageError("--bytes " + arguments.bytes + ": not a multiple of 4, the size of an element (f32)");
    call.count = *bytes / sizeof(float);
  }
  shoal::calls::refuse_impossible(call, arguments.world);
  return call;
}

shoal::sim::TrainingShape shape_of(const Arguments& arguments) {
  return {.dims = shoal::train::parse_dims(arguments.dims),
          .stage = arguments.stage.front() - '0',
          .ranks = arguments.world,
          .optimizer = *std::find_if(shoal::train::kOptimizers.begin(), shoal::train::kOptimizers.end(),
                                     [&](auto kind) { return shoal::train::name(kind) == arguments.optimizer; })};
}

/// Prints, and returns the exit status: 1 where simulation and closed form differ.
template <class Result>
int tell(const Result& result, const std::string& format) {
  std::cout << (format == "json" ? json_text(result) : table_text(result));
  return result.closed_form_matches ? 0 : 1;
}

int run(shoal::Session& session, const Arguments& arguments) {
  if (session.world().size() > 1) throw shoal::UsageError("runs in one process, without shoalrun or with -n 1");
  if (arguments.op == "train") return tell(shoal::sim::simulate_training(shape_of(arguments)), arguments.format);
  return tell(shoal::sim::simulate_operation(call_of(arguments), arguments.world), arguments.format);
}

void require(bool given, const std::string& option, const std::string& op) {
  if (!given) throw shoal::UsageError(option + " is required for " + op);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Runs an operation, or one training step, in a simulated world of any size, without data: bytes, messages and "
      "steps of every rank, compared with their closed form.",
      "shoal-sim");
  Arguments arguments;
  std::vector<std::string> names = names_of_operations();
  names.emplace_back("train");
  app.add_option("OP", arguments.op, "The operation, or train")->required()->check(CLI::IsMember(names));
  app.add_option("--world", arguments.world, "Number of ranks")->required()->check(CLI::Range(1, kMostRanks));
  const auto* bytes = app.add_option("--bytes", arguments.bytes, "Size of the whole vector of f32, as in 64, 4K, 1G");
  const auto* algorithm = app.add_option("--algorithm", arguments.algorithm, "Instead of the default one");
  app.add_option("--format", arguments.format, "table or json")->check(CLI::IsMember({"table", "json"}));
  const auto* stage = app.add_option("--stage", arguments.stage, "train: what is sharded, as of shoal-train (2)")
                          ->check(CLI::IsMember({"0", "1", "2", "3"}));
  const auto* dims = app.add_option("--dims", arguments.dims, "train: widths of the MLP (784,256,128,10)");
  const auto* optimizer =
      app.add_option("--optimizer", arguments.optimizer, "train: sgd, momentum, adam or adamw (adam)")
          ->check(CLI::IsMember({"sgd", "momentum", "adam", "adamw"}));

  const auto parse = [&] {
    auto text = shoal::parse_command_line(app, argc, argv);
    if (text) return text;
    if (arguments.op == "train") {
      if (bytes->count() > 0 || algorithm->count() > 0)
        throw shoal::UsageError("--bytes and --algorithm are not for train: its plan decides them");
      shape_of(arguments);
    } else {
      require(bytes->count() > 0 || arguments.op == "barrier", "--bytes", arguments.op);
      if (stage->count() + dims->count() + optimizer->count() > 0)
        throw shoal::UsageError("--stage, --dims and --optimizer are for train, not for " + arguments.op);
      call_of(arguments);
    }
    return text;
  };
  return shoal::run_program({.name = app.get_name(), .parse = parse, .run = [&](shoal::Session& session) {
                               return run(session, arguments);
                             }});
}
