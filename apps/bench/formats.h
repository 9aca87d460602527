#pragma once

#include <optional>
#include <span>
#include <string>

#include "bench/bench.h"
#include "bench/machine.h"

namespace shoal::bench {

/// "all_reduce 65536 12.345": operation, bytes as asked, microseconds.
std::string plain_line(const Row& row);

/// What stands above the rows, with the column's names.
std::string table_head(const BenchOptions& options, const Machine& machine);
std::string table_line(const Row& row);

/// All of it, schema shoal.bench/1.
std::string json_text(const BenchOptions& options, const Machine& machine, std::span<const Row> rows);

/// As nccl-tests has them, in 10^9 bytes a second: of the vector that was moved, by the median; none of a barrier.
struct Bandwidth {
  double algorithm = 0;
  double bus = 0;
};
std::optional<Bandwidth> bandwidth(const Row& row);

}  // namespace shoal::bench
