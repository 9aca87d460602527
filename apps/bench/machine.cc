#include "bench/machine.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "shoal/collectives/all_reduce.h"
#include "shoal/runtime/cores.h"

namespace shoal::bench {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

/// Cores that any rank may use, at most as many as the quota gives time for.
int cores_of(Communicator& comm) {
  constexpr std::size_t kMostCores = 8192;  // What Linux can be built for.
  const AllowedCores own = allowed_cores();
  std::array<std::uint64_t, kMostCores / 64> any{};
  for (const int core : own.cores) {
    const auto bit = static_cast<std::size_t>(core);
    if (bit < kMostCores) any[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  all_reduce(comm, any, ReduceOp::bor);
  AllowedCores all{.cores = {}, .quota = own.quota};
  for (std::size_t bit = 0; bit < kMostCores; ++bit)
    if ((any[bit / 64] >> (bit % 64) & 1) != 0) all.cores.push_back(static_cast<int>(bit));
  return all.count();
}

}  // namespace

Machine machine_of(Communicator& comm) {
  return {.processor = processor(), .cores = cores_of(comm), .ranks = comm.size()};
}

}  // namespace shoal::bench
