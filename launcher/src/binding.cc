#include "binding.h"

#include <sched.h>

namespace shoal::detail {

std::optional<int> core_of_rank(Binding binding, int rank, int ranks, const AllowedCores& allowed) {
  if (binding == Binding::none || allowed.cores.empty()) return std::nullopt;
  const auto cores = allowed.cores.size();
  const bool fits = static_cast<std::size_t>(ranks) == cores && allowed.count() == ranks;
  if (binding == Binding::automatic && !fits) return std::nullopt;
  return allowed.cores[static_cast<std::size_t>(rank) % cores];
}

void bind_to_core(int core) {
  cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(core) + 1);
  if (set == nullptr) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(core) + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<std::size_t>(core), bytes, set);
  ::sched_setaffinity(0, bytes, set);
  CPU_FREE(set);
}

}  // namespace shoal::detail
