// Reduction kernels as plain loops, one for each type and reduction, which the compiler vectorises for the baseline:
// what runs where no vector kernel does, and what those must agree with to the bit.
//
// Operands are bytes at any alignment: elements are read and written by memcpy of their size, which compiles to plain
// (vector) loads and stores. The tree kernel works on tiles that stay in the first-level cache; a subtree's value is
// computed depth first into one tile, so that a tree over P operands needs log2 P tiles and passes once over memory.

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernel_ops.h"
#include "kernel_table.h"

namespace shoal::detail {
namespace {

template <class T>
T load(const std::byte* bytes, std::size_t index) noexcept {
  if constexpr (kIsHalf<T>) {  // By its bits: loops that copy objects of a class do not vectorise.
    return T::from_bits(load<std::uint16_t>(bytes, index));
  } else {
    T value;
    std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
    return value;
  }
}

template <class T>
void store(std::byte* bytes, std::size_t index, T value) noexcept {
  if constexpr (kIsHalf<T>) {
    store<std::uint16_t>(bytes, index, value.bits());
  } else {
    std::memcpy(bytes + index * sizeof(T), &value, sizeof(T));
  }
}

/// The canonical tree over operands of type T, values between its levels being of type Value.
template <class T, class Value, class Op, bool kMean>
class Tree {
 public:
  static void combine(std::byte* out, std::span<const std::byte* const> operands, std::size_t elements) {
    const Tree tree(operands);
    for (std::size_t first = 0; first < elements; first += kTile) {
      const std::size_t rest = elements - first;
      tree.combine_tile(out, first, rest < kTile ? rest : kTile);
    }
  }

 private:
  static constexpr std::size_t kTile = 2048 / sizeof(Value);
  using Tile = std::array<Value, kTile>;
  using Divisor = std::conditional_t<kMean, Value, std::size_t>;

  explicit Tree(std::span<const std::byte* const> operands)
      : operands_(operands), widest_(static_cast<std::size_t>(tree_distance(static_cast<int>(operands.size())))) {
    assert(!operands.empty());
  }

  void combine_tile(std::byte* out, std::size_t first, std::size_t elements) const {
    Tile result;  // Not initialised: written before it is read.
    subtree(0, 1, result, first, elements);
    [[maybe_unused]] const auto divisor = static_cast<Divisor>(operands_.size());
    for (std::size_t i = 0; i < elements; ++i) {
      if constexpr (kMean) result[i] /= divisor;
      store<T>(out, first + i, static_cast<T>(result[i]));
    }
  }

  /// Leaves in `left` the value of ranks rank, rank + distance, rank + 2 distance, ...
  void subtree(std::size_t rank, std::size_t distance, Tile& left, std::size_t first, std::size_t elements) const {
    if (distance >= widest_) {
      leaves(rank, left, first, elements);
      return;
    }
    Tile right;
    subtree(rank, 2 * distance, left, first, elements);
    subtree(rank + distance, 2 * distance, right, first, elements);
    for (std::size_t i = 0; i < elements; ++i) left[i] = Op::template apply<Value>(left[i], right[i]);
  }

  /// Rank `rank` with the one at the widest distance, where there is one.
  void leaves(std::size_t rank, Tile& value, std::size_t first, std::size_t elements) const {
    const std::byte* const near = operands_[rank] + first * sizeof(T);
    const bool alone = widest_ == 0 || rank + widest_ >= operands_.size();
    // Two conversions from a half in one loop are more than GCC vectorises.
    if (alone || kIsHalf<T>)
      for (std::size_t i = 0; i < elements; ++i) value[i] = static_cast<Value>(load<T>(near, i));
    if (alone) return;
    const std::byte* const far = operands_[rank + widest_] + first * sizeof(T);
    for (std::size_t i = 0; i < elements; ++i) {
      const Value left = kIsHalf<T> ? value[i] : static_cast<Value>(load<T>(near, i));
      value[i] = Op::template apply<Value>(left, static_cast<Value>(load<T>(far, i)));
    }
  }

  std::span<const std::byte* const> operands_;
  std::size_t widest_;
};

template <class T, class Op>
void fold(std::byte* into, const std::byte* incoming, std::size_t bytes) {
  const std::size_t elements = bytes / sizeof(T);
  for (std::size_t i = 0; i < elements; ++i)
    store<T>(into, i, Op::template apply<T>(load<T>(into, i), load<T>(incoming, i)));
}

template <class T>
void divide(std::byte* data, std::size_t elements, int divisor) {
  const T by = static_cast<T>(divisor);
  for (std::size_t i = 0; i < elements; ++i) store<T>(data, i, load<T>(data, i) / by);
}

/// The kernels of one type.
struct KernelTable {
  std::array<TreeKernel, kReduceOpCount> tree{};
  std::array<decltype(Fold::function), kReduceOpCount> fold{};
  DivideKernel divide = nullptr;
};

constexpr std::size_t index_of(ReduceOp op) { return static_cast<std::size_t>(op); }

/// One reduction of T, its values between the operands and the result being of type Value.
template <class T, class Value, class Op>
constexpr void add(KernelTable& table, ReduceOp op) {
  table.tree[index_of(op)] = Tree<T, Value, Op, false>::combine;
  if constexpr (std::is_same_v<T, Value>) table.fold[index_of(op)] = fold<T, Op>;
}

template <class T>
constexpr void add_extremes(KernelTable& table) {
  if constexpr (kIsHalf<T>) {
    add<std::int16_t, std::int16_t, ExtremeOfBits<T, true>>(table, ReduceOp::min);
    add<std::int16_t, std::int16_t, ExtremeOfBits<T, false>>(table, ReduceOp::max);
  } else {
    add<T, T, Min>(table, ReduceOp::min);
    add<T, T, Max>(table, ReduceOp::max);
  }
}

template <class T>
constexpr void add_bits(KernelTable& table) {
  add<T, T, BitAnd>(table, ReduceOp::band);
  add<T, T, BitOr>(table, ReduceOp::bor);
  add<T, T, BitXor>(table, ReduceOp::bxor);
}

template <class T>
constexpr KernelTable table_of() {
  KernelTable table;
  add<T, Accumulator<T>, Sum>(table, ReduceOp::sum);
  add<T, Accumulator<T>, Product>(table, ReduceOp::prod);
  add_extremes<T>(table);
  table.tree[index_of(ReduceOp::mean)] = Tree<T, MeanAccumulator<T>, Sum, true>::combine;
  table.fold[index_of(ReduceOp::mean)] = table.fold[index_of(ReduceOp::sum)];
  if constexpr (std::is_integral_v<T>) {
    add_bits<T>(table);
  } else if constexpr (std::is_floating_point_v<T>) {
    table.divide = divide<T>;
  }
  return table;
}

/// A bool is a byte of 0 or 1, which these keep it.
constexpr KernelTable table_of_bool() {
  KernelTable table;
  add_extremes<std::uint8_t>(table);
  add_bits<std::uint8_t>(table);
  return table;
}

template <class T>
constexpr KernelTable kTableOf = table_of<T>();
constexpr KernelTable kTableOfBool = table_of_bool();

const KernelTable& table_for(DataType type) {
  static constexpr KernelTable kNone;
  switch (type) {
    case DataType::i8:
      return kTableOf<std::int8_t>;
    case DataType::i16:
      return kTableOf<std::int16_t>;
    case DataType::i32:
      return kTableOf<std::int32_t>;
    case DataType::i64:
      return kTableOf<std::int64_t>;
    case DataType::u8:
      return kTableOf<std::uint8_t>;
    case DataType::u16:
      return kTableOf<std::uint16_t>;
    case DataType::u32:
      return kTableOf<std::uint32_t>;
    case DataType::u64:
      return kTableOf<std::uint64_t>;
    case DataType::f32:
      return kTableOf<float>;
    case DataType::f64:
      return kTableOf<double>;
    case DataType::bf16:
      return kTableOf<bf16>;
    case DataType::f16:
      return kTableOf<f16>;
    case DataType::boolean:
      return kTableOfBool;
    case DataType::byte:
      break;
  }
  return kNone;
}

}  // namespace

Kernel plain_kernel(ReduceOp op, DataType type) {
  const KernelTable& table = table_for(type);
  return {.tree = table.tree[index_of(op)], .fold = table.fold[index_of(op)]};
}

DivideKernel plain_divide(DataType type) { return table_for(type).divide; }

}  // namespace shoal::detail
