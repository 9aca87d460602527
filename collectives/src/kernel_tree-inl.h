// The canonical tree on vectors, for the target that is being compiled.
//
// Up to eight operands are fused: each step loads a vector of every operand, combines them in registers and stores one
// result. More than eight are split as the tree is, whose upper levels combine subtrees of every other operand:
//
//     P = 11:   ranks 0 2 4 6 8 10 (fused) -> tile      ranks 1 3 5 7 9 (fused) -> tile      tile + tile -> out
//
// in tiles that stay in the first-level cache, so that memory is passed over once, too.

#if defined(SHOAL_KERNEL_TREE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_KERNEL_TREE_INL_H
#undef SHOAL_KERNEL_TREE_INL_H
#else
#define SHOAL_KERNEL_TREE_INL_H
#endif

#include <array>
#include <cassert>
#include <type_traits>
#include <utility>

#include "kernel_table.h"
#include "kernel_vectors-inl.h"

#if SHOAL_KERNEL_VECTORS
HWY_BEFORE_NAMESPACE();
namespace shoal::detail::HWY_NAMESPACE {
namespace {

constexpr std::size_t kMostFused = 8;

/// N operands of format In to one result of format Out. `out` may be one of the operands, so no element is read once it
/// has been written.
template <class In, class Out, class Op, std::size_t N, bool kMean>
class Fused {
 public:
  using Value = typename In::Value;
  static_assert(std::is_same_v<Value, typename Out::Value>);

  static void run(std::byte* out, const std::byte* const* operands, std::size_t elements, Value divisor) {
    Fused fused(out, divisor);
    for (std::size_t rank = 0; rank < N; ++rank) fused.in_[rank] = operands[rank];
    if (elements >= hn::Lanes(hn::ScalableTag<Value>())) {
      fused.many(hn::ScalableTag<Value>(), elements);
    } else if (elements >= hn::Lanes(Short())) {
      fused.few(Short(), elements);
    } else {
      for (std::size_t i = 0; i < elements; ++i) fused.store_one(i, fused.template value<0, 1>(i));
    }
  }

 private:
  using Short = hn::CappedTag<Value, 16 / sizeof(Value)>;

  HWY_INLINE Fused(std::byte* out, Value divisor) : out_(out), divisor_(divisor) {}

  /// At least one vector of elements, the last of which may overlap the one before: what it stores is computed before
  /// anything is stored.
  template <class D>
  HWY_INLINE void many(D d, std::size_t elements) const {
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    const auto last = vector<0, 1>(d, elements - kLanes);
    const auto head = vector<0, 1>(d, 0);
    std::size_t i = kLanes;
    if (elements >= 8 * kLanes) {  // Worth going on where `out` is aligned, so that no store crosses a cache line.
      const std::size_t aligned = kLanes - lanes_past_alignment<kLanes>();
      const auto next = vector<0, 1>(d, aligned);
      store(d, 0, head);
      store(d, aligned, next);
      i = aligned + kLanes;
    } else {
      store(d, 0, head);
    }
    for (; i + kLanes <= elements; i += kLanes) store(d, i, vector<0, 1>(d, i));
    store(d, elements - kLanes, last);
  }

  /// The same without alignment, in shorter vectors.
  template <class D>
  HWY_INLINE void few(D d, std::size_t elements) const {
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    const auto last = vector<0, 1>(d, elements - kLanes);
    for (std::size_t i = 0; i + kLanes <= elements; i += kLanes) store(d, i, vector<0, 1>(d, i));
    store(d, elements - kLanes, last);
  }

  /// By how many whole elements `out` lies beyond a multiple of a vector; 0 also where no element can lie there.
  template <std::size_t kLanes>
  HWY_INLINE std::size_t lanes_past_alignment() const {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(out_) % (kLanes * Out::kBytes);
    return past % Out::kBytes == 0 ? past / Out::kBytes : 0;
  }

  /// Elements from i on of ranks kRank, kRank + kDistance, kRank + 2 kDistance, ..., combined.
  template <std::size_t kRank, std::size_t kDistance, class D>
  HWY_INLINE hn::Vec<D> vector(D d, std::size_t i) const {
    if constexpr (kRank + kDistance >= N) {
      return In::load(d, in_[kRank] + i * In::kBytes);
    } else {
      const auto left = vector<kRank, 2 * kDistance>(d, i);
      return Lanewise<Op>::apply(d, left, vector<kRank + kDistance, 2 * kDistance>(d, i));
    }
  }

  template <std::size_t kRank, std::size_t kDistance>
  HWY_INLINE Value value(std::size_t i) const {
    if constexpr (kRank + kDistance >= N) {
      return In::load_one(in_[kRank] + i * In::kBytes);
    } else {
      const Value left = value<kRank, 2 * kDistance>(i);
      return Op::template apply<Value>(left, value<kRank + kDistance, 2 * kDistance>(i));
    }
  }

  template <class D>
  HWY_INLINE void store(D d, std::size_t i, hn::Vec<D> result) const {
    if constexpr (kMean) result = hn::Div(result, hn::Set(d, divisor_));
    Out::store(d, result, out_ + i * Out::kBytes);
  }

  HWY_INLINE void store_one(std::size_t i, Value result) const {
    if constexpr (kMean) result /= divisor_;
    Out::store_one(result, out_ + i * Out::kBytes);
  }

  std::byte* out_;
  std::array<const std::byte*, N> in_;
  Value divisor_;
};

/// The tree over any number of operands of a format.
template <class Format, class Op, bool kMean>
class VectorTree {
 public:
  static void combine(std::byte* out, std::span<const std::byte* const> operands, std::size_t elements) {
    assert(!operands.empty());
    const auto divisor = static_cast<Value>(operands.size());
    if (operands.size() <= kMostFused) {
      kFused[operands.size() - 1](out, operands.data(), elements, divisor);
      return;
    }
    alignas(HWY_MAX_BYTES) Tile left;  // Not initialised: written before they are read.
    alignas(HWY_MAX_BYTES) Tile right;
    for (std::size_t first = 0; first < elements; first += kTile) {
      const Part part{.operands = operands, .first = first, .elements = std::min(kTile, elements - first)};
      subtree(left, part, 0, 2);
      subtree(right, part, 1, 2);
      const std::array<const std::byte*, 2> halves{left.data(), right.data()};
      Fused<Same<Value>, Format, Op, 2, kMean>::run(out + first * Format::kBytes, halves.data(), part.elements,
                                                    divisor);
    }
  }

  static void fold(std::byte* into, const std::byte* incoming, std::size_t bytes) {
    const std::array<const std::byte*, 2> operands{into, incoming};
    Fused<Format, Format, Op, 2, false>::run(into, operands.data(), bytes / Format::kBytes, Value{});
  }

 private:
  using Value = typename Format::Value;
  static constexpr std::size_t kTile = 2048 / sizeof(Value);
  using Tile = std::array<std::byte, kTile * sizeof(Value)>;
  using Run = void (*)(std::byte*, const std::byte* const*, std::size_t, Value);

  struct Part {
    std::span<const std::byte* const> operands;
    std::size_t first;
    std::size_t elements;
  };

  /// Leaves in `tile` the values of ranks rank, rank + distance, rank + 2 distance, ...: at least four, as half of more
  /// than eight are.
  static void subtree(Tile& tile, const Part& part, std::size_t rank, std::size_t distance) {
    const std::size_t count = (part.operands.size() - rank + distance - 1) / distance;
    if (count <= kMostFused) {
      std::array<const std::byte*, kMostFused> leaves;
      for (std::size_t i = 0; i < count; ++i)
        leaves[i] = part.operands[rank + i * distance] + part.first * Format::kBytes;
      kSubtree[count - 4](tile.data(), leaves.data(), part.elements, Value{});
      return;
    }
    alignas(HWY_MAX_BYTES) Tile right;
    subtree(tile, part, rank, 2 * distance);
    subtree(right, part, rank + distance, 2 * distance);
    const std::array<const std::byte*, 2> halves{tile.data(), right.data()};
    Fused<Same<Value>, Same<Value>, Op, 2, false>::run(tile.data(), halves.data(), part.elements, Value{});
  }

  template <class Out, bool kDivide, std::size_t kFirst, std::size_t... kMore>
  static constexpr auto runs(std::index_sequence<kMore...>) {
    return std::array<Run, sizeof...(kMore)>{Fused<Format, Out, Op, kFirst + kMore, kDivide>::run...};
  }
  static constexpr auto kFused = runs<Format, kMean, 1>(std::make_index_sequence<kMostFused>());
  static constexpr auto kSubtree = runs<Same<Value>, false, 4>(std::make_index_sequence<kMostFused - 3>());
};

template <class Format, class Op>
constexpr Kernel kVectorKernel{.tree = VectorTree<Format, Op, false>::combine,
                               .fold = VectorTree<Format, Op, false>::fold};

}  // namespace
}  // namespace shoal::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // SHOAL_KERNEL_VECTORS

#endif
