#include "binding.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>

namespace shoal::detail {
namespace {

// Single processors, the first of every core, then the second of every core that has one, ...
std::vector<Processors> processors_of(const std::vector<Core>& cores) {
  std::vector<Processors> places;
  for (std::size_t thread = 0;; ++thread) {
    const std::size_t before = places.size();
    for (const Core& core : cores)
      if (thread < core.processors.size()) places.push_back({core.processors[thread]});
    if (places.size() == before) return places;
  }
}

std::vector<Processors> whole(const std::vector<Core>& cores) {
  std::vector<Processors> places;
  for (const Core& core : cores) places.push_back(core.processors);
  return places;
}

bool holds(const Core& core, int processor) {
  return std::ranges::find(core.processors, processor) != core.processors.end();
}

}  // namespace

std::vector<Processors> place_ranks(Binding binding, int ranks, const std::vector<Core>& cores, int at_once) {
  const auto number = static_cast<std::size_t>(ranks);
  std::vector<Processors> placed(number);
  const auto singles = processors_of(cores);
  const bool fits =
      (number == cores.size() || number == singles.size()) && static_cast<std::size_t>(at_once) == singles.size();
  if (binding == Binding::none || singles.empty() || (binding == Binding::automatic && !fits)) return placed;
  const auto& places = number <= cores.size() ? whole(cores) : singles;
  for (std::size_t rank = 0; rank < number; ++rank) placed[rank] = places[rank % places.size()];
  return placed;
}

void bind_to(const Processors& processors) {
  const auto most = static_cast<std::size_t>(std::ranges::max(processors)) + 1;
  std::vector<std::uint64_t> storage(CPU_ALLOC_SIZE(most) / sizeof(std::uint64_t) + 1);  // More than a cpu_set_t holds.
  auto* set = reinterpret_cast<cpu_set_t*>(storage.data());
  const std::size_t bytes = storage.size() * sizeof(std::uint64_t);
  for (const int processor : processors) CPU_SET_S(static_cast<std::size_t>(processor), bytes, set);
  ::sched_setaffinity(0, bytes, set);
}

std::string describe_binding(int rank, const Processors& processors, const std::vector<Core>& cores) {
  std::string text = "rank " + std::to_string(rank) + ": ";
  if (processors.empty()) return text + "not bound";
  text += processors.size() == 1 ? "processor " : "processors ";
  for (std::size_t i = 0; i < processors.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(processors[i]);
  const auto core = std::ranges::find_if(cores, [&](const Core& one) { return holds(one, processors.front()); });
  if (core == cores.end()) return text;
  return text + " (package " + std::to_string(core->package) + ", NUMA node " + std::to_string(core->numa_node) + ")";
}

}  // namespace shoal::detail
