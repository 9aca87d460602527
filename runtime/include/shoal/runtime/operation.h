#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The vocabulary of a call: which operation, by which algorithm, on which type, with which reduction.

namespace shoal {

/// Every operation that moves bytes; the row names of the ledger.
enum class Operation : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  all_reduce,
  reduce_scatter,
  all_gather,
  all_gather_v,
  gather,
  gather_v,
  scatter,
  scatter_v,
  scatter_cyclic,
  all_to_all,
  all_to_all_v,
  send,
  recv,
  exchange,
  split
};
inline constexpr std::size_t kOperationCount = 18;

enum class Algorithm : std::uint8_t {
  automatic,
  ring,
  pairwise,
  recursive_halving,
  recursive_doubling,
  binomial,
  pipelined,
  bruck,
  linear,
  dissemination,
  tiny,
  slots,
  direct
};
inline constexpr std::size_t kAlgorithmCount = 13;

enum class ReduceOp : std::uint8_t { sum, mean, min, max, prod, band, bor, bxor };
inline constexpr std::size_t kReduceOpCount = 8;

/// Type of one element. `byte` stands for calls that carry no typed data; `boolean` is named "bool".
enum class DataType : std::uint8_t { byte, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, bf16, f16, boolean };
inline constexpr std::size_t kDataTypeCount = 14;

std::string_view name(Operation operation);
std::string_view name(Algorithm algorithm);
std::string_view name(ReduceOp op);
std::string_view name(DataType type);
constexpr std::size_t element_bytes(DataType type) noexcept {
  constexpr std::array<std::uint8_t, kDataTypeCount> kBytes{1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 2, 2, 1};
  const auto index = static_cast<std::size_t>(type);
  return index < kDataTypeCount ? kBytes[index] : 1;
}

/// Whether it combines values.
constexpr bool reduces(Operation operation) noexcept {
  return operation == Operation::reduce || operation == Operation::all_reduce || operation == Operation::reduce_scatter;
}

/// Whole elements in so many bytes. (A shift: the compiler does not know that the divisor is a power of two.)
constexpr std::size_t elements_in(std::size_t bytes, DataType type) noexcept {
  return bytes >> std::countr_zero(element_bytes(type));
}

/// The inverse of name(); empty for a name that is none.
std::optional<Operation> operation_named(std::string_view text);
std::optional<Algorithm> algorithm_named(std::string_view text);
std::optional<ReduceOp> reduce_op_named(std::string_view text);
std::optional<DataType> data_type_named(std::string_view text);

/// One call as a rank makes it. All ranks of a communicator must make the same calls in the same order;
/// a digest of these fields (the fingerprint) travels with every message, and receivers compare.
struct Call {
  Operation operation = Operation::barrier;
  Algorithm algorithm = Algorithm::automatic;
  DataType type = DataType::byte;
  ReduceOp reduce_op = ReduceOp::sum;
  std::int32_t root = -1;  ///< Rank of the communicator; -1 for operations without a root.
  /// Elements that every rank must agree on (the whole vector); 0 where ranks may differ (v-operations). Of send, recv
  /// and exchange those of the message, for exchange the one that goes out; ranks agree on the bytes of each that
  /// arrives.
  std::uint64_t count = 0;
  /// Transfers that this rank makes, where the caller knows it, for error texts; 0 where it does not.
  std::uint32_t steps = 0;

  friend bool operator==(const Call&, const Call&) = default;
};

/// "all_reduce (ring, f32 sum, count 409600)", "gather (linear, i32, count 10, root 1)", "barrier (dissemination)".
std::string describe(const Call& call);

}  // namespace shoal
