#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "kernels.h"
#include "shoal/runtime/communicator.h"
#include "shoal/runtime/copy_blocks.h"
#include "shoal/runtime/phantom_buffer.h"

// All that an algorithm does to data by itself, between transfers: scratch memory, copies, arithmetic. Each is told the
// communicator, because in a simulation without data (Communicator::phantom) buffers are addresses only: nothing may be
// read or written, and scratch takes no memory. Algorithms touch data through these, or ask phantom() themselves.

namespace shoal::detail {

/// Private memory of one call, uninitialised, aligned for any element.
class Scratch {
 public:
  Scratch(const Communicator& comm, std::size_t bytes) : bytes_(bytes) {
    if (comm.phantom()) {
      phantom_.emplace(bytes);
    } else if (bytes > 0) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    }
  }

  std::span<std::byte> bytes() noexcept { return phantom_ ? phantom_->bytes() : std::span(memory_.get(), bytes_); }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::optional<PhantomBuffer> phantom_;
  std::size_t bytes_;
};

/// Copies all of `from` to the start of `to`; they are the very same bytes or do not overlap.
inline void copy_bytes(const Communicator& comm, std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  assert(from.size() <= to.size());
  // memcpy wants pointers that are not null, and apart.
  if (from.empty() || from.data() == to.data() || comm.phantom()) return;
  copy_blocks(to, from);
}

/// Combines one operand a rank along the canonical tree into `out`, which may be one of them.
inline void combine_tree(const Communicator& comm, ReduceOp op, DataType type, std::span<std::byte> out,
                         std::span<const std::byte* const> operands) {
  if (!comm.phantom()) tree_kernel(op, type)(out.data(), operands, elements_in(out.size(), type));
}

/// into[i] = into[i] (op) incoming[i], as exchange_fold does with what arrives.
inline void fold_bytes(const Communicator& comm, const Fold& fold, std::span<std::byte> into,
                       std::span<const std::byte> incoming) {
  if (!comm.phantom() && !into.empty()) fold.function(into.data(), incoming.data(), into.size());
}

/// Turns sums of floating-point numbers over all ranks into means.
inline void divide_by_ranks(const Communicator& comm, DataType type, std::span<std::byte> sums) {
  if (!comm.phantom()) divide_kernel(type)(sums.data(), elements_in(sums.size(), type), comm.size());
}

}  // namespace shoal::detail
