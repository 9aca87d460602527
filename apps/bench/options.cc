#include "bench/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "bench/operations.h"
#include "calls/collective_call.h"
#include "calls/with_type.h"
#include "program/program.h"
#include "shoal/runtime/units.h"
#include "shoal/simulation.h"

namespace shoal::bench {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;
constexpr double kMostSeconds = 3600;

struct RawOptions {
  std::string operations = "all";
  std::string sizes = "8,64,512,4K,32K,256K,1M,4M,16M,64M";
  std::string seconds = "0.15";
  std::string memory = "private";
  std::string type = "f32";
  std::string reduce_op = "sum";
  std::string algorithm = "auto";
  std::string format = "table";
};

/// What `entry` makes of each entry of a list between commas.
template <class Entry>
auto listed(std::string_view text, Entry&& entry) {
  std::vector<decltype(entry(text))> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    values.push_back(entry(text.substr(start, comma - start)));
    start = comma + 1;
  }
  return values;
}

std::string names_of(std::span<const Operation> operations) {
  std::string names;
  for (const Operation operation : operations) names += (names.empty() ? "" : ", ") + std::string(name(operation));
  return names;
}

std::vector<Operation> operations_option(const std::string& text) {
  if (text == "all") return {operations().begin(), operations().end()};
  return listed(text, [&](std::string_view entry) {
    const auto operation = operation_named(entry);
    if (!operation || std::ranges::find(operations(), *operation) == operations().end())
      throw UsageError("--op " + text + ": '" + std::string(entry) + "' is not one of " + names_of(operations()) +
                       "; all is all of them");
    return *operation;
  });
}

std::vector<std::uint64_t> sizes_option(const std::string& text) {
  return listed(text, [&](std::string_view entry) {
    const auto bytes = parse_bytes(entry);
    if (!bytes || *bytes > kMostBytes)
      throw UsageError("--sizes " + text + ": '" + std::string(entry) +
                       "' is not a size from 0 to 4096G, as in 64, 4K, 1G");
    return *bytes;
  });
}

double seconds_option(const std::string& text) {
  double seconds = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (error != std::errc{} || rest != text.data() + text.size() || !(seconds > 0 && seconds <= kMostSeconds))
    throw UsageError("--seconds " + text + ": not a number of seconds above 0 and up to 3600, as in 0.15");
  return seconds;
}

DataType type_option(const std::string& text) {
  const auto type = data_type_named(text);
  if (!type || *type == DataType::byte) {
    std::string names;
    for (std::size_t index = 1; index < kDataTypeCount; ++index)
      names += (names.empty() ? "" : ", ") + std::string(name(static_cast<DataType>(index)));
    throw UsageError("--dtype " + text + ": not one of " + names);
  }
  return *type;
}

ReduceOp reduce_op_option(const std::string& text) {
  const auto op = reduce_op_named(text);
  if (!op) {
    std::string names;
    for (std::size_t index = 0; index < kReduceOpCount; ++index)
      names += (names.empty() ? "" : ", ") + std::string(name(static_cast<ReduceOp>(index)));
    throw UsageError("--redop " + text + ": not one of " + names);
  }
  return *op;
}

void refuse_missing_in_place_forms(const BenchOptions& options) {
  for (const Operation operation : options.operations) {
    if (calls::has_in_place_form(operation)) continue;
    std::vector<Operation> others;
    std::ranges::copy_if(operations(), std::back_inserter(others), calls::has_in_place_form);
    throw UsageError("--in-place: " + std::string(name(operation)) + " has no such form; " + names_of(others) +
                     " have");
  }
}

/// Whether the operations know the reduction is theirs to say: one call in a world of one tells.
void refuse_undefined_reduction(const BenchOptions& options) {
  if (std::ranges::none_of(options.operations, reduces)) return;
  const calls::CollectiveCall call{.operation = Operation::all_reduce,
                                   .algorithm = Algorithm::pairwise,
                                   .type = options.type,
                                   .count = 1,
                                   .reduce_op = options.reduce_op,
                                   .in_place = true};
  const PhantomBuffer element(sizeof(std::uint64_t));
  const SimulationResult run =
      simulate(1,
               [&](Communicator& comm) {
                 calls::with_type(options.type, [&]<class T>() { calls::make_call(comm, call, element.as<T>(1), {}); });
               },
               {.phantom = true});
  if (!run.ok())
    throw UsageError("--redop " + std::string(name(options.reduce_op)) + " is not defined for --dtype " +
                     std::string(name(options.type)));
}

void fill(BenchOptions& options, const RawOptions& raw) {
  options.operations = operations_option(raw.operations);
  options.sizes = sizes_option(raw.sizes);
  options.seconds = seconds_option(raw.seconds);
  options.memory = raw.memory == "heap" ? Memory::heap : Memory::private_;
  options.type = type_option(raw.type);
  options.reduce_op = reduce_op_option(raw.reduce_op);
  options.algorithm = calls::algorithm_option(raw.algorithm);
  options.format = raw.format == "plain" ? Format::plain : raw.format == "json" ? Format::json : Format::table;
  if (options.in_place) refuse_missing_in_place_forms(options);
  refuse_undefined_reduction(options);
}

}  // namespace

std::optional<std::string> parse_command_line(int argc, const char* const* argv, BenchOptions& options) {
  CLI::App app(
      "Times the collectives by size, and with --check verifies each result. A time is the median of 5 repeats of as "
      "many calls as fit, the mean of the slowest rank. Run it under shoalrun.",
      "shoal-bench");
  app.option_defaults()->always_capture_default();
  RawOptions raw;
  app.add_option("--op", raw.operations, "The operations, with commas between them; all for " + names_of(operations()));
  app.add_option("--sizes", raw.sizes,
                 "Bytes of the whole vector: what all_gather and gather end with, what reduce_scatter, scatter and "
                 "all_to_all start from");
  app.add_option("--seconds", raw.seconds, "Time to spend on each operation and size");
  app.add_option("--memory", raw.memory, "Where the data are: the rank's own memory, or the heap that its peers see")
      ->check(CLI::IsMember({"private", "heap"}));
  app.add_flag("--in-place", options.in_place, "The result takes the place of the data; for operations that can");
  app.add_option("--dtype", raw.type, "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bf16 f16 bool");
  app.add_option("--redop", raw.reduce_op, "sum mean min max prod band bor bxor");
  app.add_option("--algorithm", raw.algorithm, "Instead of the default one");
  app.add_option("--format", raw.format, "A table, plain lines `operation bytes microseconds`, or JSON")
      ->check(CLI::IsMember({"table", "plain", "json"}));
  app.add_flag("--check", options.check, "Verify every element of every result; a wrong one ends with status 1");

  auto text = shoal::parse_command_line(app, argc, argv);
  if (!text) fill(options, raw);
  return text;
}

}  // namespace shoal::bench
