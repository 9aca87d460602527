#include "train/memory.h"

#include <algorithm>

namespace shoal::train {
namespace {

constexpr std::size_t kVectorAlignment = 64;

}  // namespace

void* AccountedMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = upstream_->allocate(bytes, std::max(alignment, kVectorAlignment));
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  ++allocations_;
  return memory;
}

void AccountedMemory::do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
  upstream_->deallocate(memory, bytes, std::max(alignment, kVectorAlignment));
  bytes_ -= bytes;
}

}  // namespace shoal::train
