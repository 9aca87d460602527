#include "heap.h"

#include <fmt/format.h>

#include <algorithm>

namespace shoal::detail {
namespace {

constexpr std::size_t kAlignment = 64;  // Whole cache lines: no two allocations share one.

}  // namespace

Heap::Heap(std::span<std::byte> arena, int rank) : manager_(new (arena.data()) Manager(arena.size(), 0)), rank_(rank) {}

void* Heap::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  void* memory = manager_->allocate_aligned(wanted, std::max(alignment, kAlignment));
  if (memory == nullptr) {
    throw HeapExhausted(fmt::format(
        "rank {}: shared heap exhausted: {} bytes asked for, {} of {} free; shoalrun --heap SIZE makes it larger",
        rank_, bytes, manager_->get_free_memory(), manager_->get_size()));
  }
  return memory;
}

void Heap::do_deallocate(void* memory, std::size_t, std::size_t) { manager_->deallocate(memory); }

}  // namespace shoal::detail
