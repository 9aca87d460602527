#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shoal/runtime/operation.h"

namespace shoal::bench {

enum class Memory : std::uint8_t { private_, heap };
enum class Format : std::uint8_t { table, plain, json };

/// The command line.
struct BenchOptions {
  std::vector<Operation> operations;
  std::vector<std::uint64_t> sizes;  ///< Bytes of the whole vector, as asked.
  double seconds = 0.15;             ///< Of measuring each row.
  Memory memory = Memory::private_;
  bool in_place = false;
  DataType type = DataType::f32;
  ReduceOp reduce_op = ReduceOp::sum;
  Algorithm algorithm = Algorithm::automatic;
  Format format = Format::table;
  bool check = false;
};

/// Fills `options`, or returns what to print instead. Throws UsageError for what cannot be at any number of ranks.
std::optional<std::string> parse_command_line(int argc, const char* const* argv, BenchOptions& options);

}  // namespace shoal::bench
