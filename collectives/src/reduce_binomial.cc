// Binomial reduce: partial results climb the canonical tree to the root, far ranks first.
//
//     P = 6, C = 4, root 0     4 > 0   5 > 1            distance 4
//                              2 > 0   3 > 1            distance 2
//                              1 > 0                    distance 1
//
//     root 2                   4 > 0   5 > 1            a root other than 0 is reached by XOR within the core of C
//                              0 > 2   1 > 3            ranks: who receives is the one whose number, XOR the root's,
//                              3 > 2                    is lower
//     root 5                   4 > 0   1 > 5            an outer root acts in the core for its inner rank
//                              2 > 0   3 > 5
//                              0 > 5
//
// Invariant: entering the level of distance d, the ranks whose number in the core, XOR the root's, is below 2d hold the
// results over all ranks that are congruent to theirs modulo 2d. Ranks are never rotated and the lower one stands left,
// so the bits are those of the canonical order at any root.
//
// ceil(log2 P) levels; every rank but the root sends the vector once. Memory: the vector, where partial results arrive;
// twice where a root other than 0 has some arrive from the left.

#include <array>
#include <optional>

#include "algorithms.h"
#include "core.h"
#include "scratch.h"

namespace shoal::detail {
namespace {

/// The partial result of this rank: at first its operand, then in one of two buffers.
class Partial {
 public:
  /// `out`: taken as the first of the buffers, if it is not empty.
  Partial(Communicator& comm, std::span<const std::byte> operand, std::span<std::byte> out, const Fold& fold)
      : comm_(comm), value_(operand), out_(out), fold_(fold) {}

  std::span<const std::byte> value() const { return value_; }

  /// Combines it with that of `from`, which stands left of it or right.
  void take(int from, bool from_left) {
    if (from_left) {
      use_buffer(place_ == 0 ? 1 : 0);
      comm_.recv(from, buffer_);
      fold_bytes(comm_, fold_, buffer_, value_);
    } else {
      use_buffer(place_ == 1 ? 1 : 0);
      copy_bytes(comm_, value_, buffer_);
      comm_.recv_fold(from, buffer_, fold_);
    }
    value_ = buffer_;
  }

 private:
  void use_buffer(int index) {
    place_ = index;
    auto& scratch = scratch_[static_cast<std::size_t>(index)];
    const bool in_out = index == 0 && !out_.empty();
    if (!in_out && !scratch) scratch.emplace(comm_, value_.size());
    buffer_ = in_out ? out_ : scratch->bytes();
  }

  Communicator& comm_;
  std::span<const std::byte> value_;
  std::span<std::byte> out_;
  Fold fold_;
  int place_ = -1;  // Which buffer value_ lies in; -1: neither yet.
  std::span<std::byte> buffer_;
  std::array<std::optional<Scratch>, 2> scratch_;
};

}  // namespace

void reduce_binomial(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int root, ReduceOp op,
                     DataType type) {
  const Core core(comm.size());
  const auto inner = [&](int rank) { return core.holds(rank) ? rank : core.inner_of(rank); };
  const auto actor = [&](int number) { return number == inner(root) ? root : number; };
  const int number = inner(comm.rank());

  Partial partial(comm, in, out, fold_kernel(op, type));
  if (core.has_outer(number)) {
    const int twin = core.holds(comm.rank()) ? core.outer_of(number) : number;
    if (comm.rank() != actor(number)) return comm.send(twin, in);
    partial.take(twin, twin < comm.rank());
  }
  for (int distance = core.size() / 2; distance >= 1; distance /= 2) {
    const int peer = number ^ distance;
    if ((number ^ inner(root)) >= distance) return comm.send(actor(peer), partial.value());
    partial.take(actor(peer), peer < number);
  }
  copy_bytes(comm, partial.value(), out);
  if (op == ReduceOp::mean) divide_by_ranks(comm, type, out);
}

}  // namespace shoal::detail
