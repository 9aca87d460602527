#include "shoal/runtime/operation.h"

#include <fmt/format.h>

#include <array>

namespace shoal {
namespace {

constexpr std::array<std::string_view, kOperationCount> kOperationNames{
    "barrier",      "broadcast",    "reduce",   "all_reduce", "reduce_scatter", "all_gather",
    "all_gather_v", "gather",       "gather_v", "scatter",    "scatter_v",      "scatter_cyclic",
    "all_to_all",   "all_to_all_v", "send",     "recv",       "exchange",       "split"};
constexpr std::array<std::string_view, kAlgorithmCount> kAlgorithmNames{"auto",
                                                                        "ring",
                                                                        "pairwise",
                                                                        "recursive_halving",
                                                                        "recursive_doubling",
                                                                        "binomial",
                                                                        "pipelined",
                                                                        "bruck",
                                                                        "linear",
                                                                        "dissemination",
                                                                        "tiny",
                                                                        "slots",
                                                                        "direct"};
constexpr std::array<std::string_view, kReduceOpCount> kReduceOpNames{"sum",  "mean", "min", "max",
                                                                      "prod", "band", "bor", "bxor"};
constexpr std::array<std::string_view, kDataTypeCount> kDataTypeNames{
    "byte", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "bf16", "f16", "bool"};
// A value read from shared memory may be anything; a name for it must still come out.
template <std::size_t N, class Enum>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : std::string_view("unknown");
}

template <class Enum, std::size_t N>
std::optional<Enum> named_in(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t index = 0; index < N; ++index) {
    if (names[index] == text) {
      return static_cast<Enum>(index);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Operation operation) { return name_in(kOperationNames, operation); }
std::string_view name(Algorithm algorithm) { return name_in(kAlgorithmNames, algorithm); }
std::string_view name(ReduceOp op) { return name_in(kReduceOpNames, op); }
std::string_view name(DataType type) { return name_in(kDataTypeNames, type); }

std::optional<Operation> operation_named(std::string_view text) { return named_in<Operation>(kOperationNames, text); }
std::optional<Algorithm> algorithm_named(std::string_view text) { return named_in<Algorithm>(kAlgorithmNames, text); }
std::optional<ReduceOp> reduce_op_named(std::string_view text) { return named_in<ReduceOp>(kReduceOpNames, text); }
std::optional<DataType> data_type_named(std::string_view text) { return named_in<DataType>(kDataTypeNames, text); }

std::string describe(const Call& call) {
  std::string text = fmt::format("{} ({}", name(call.operation), name(call.algorithm));
  if (call.operation != Operation::barrier) {
    text += fmt::format(", {}", name(call.type));
    if (reduces(call.operation)) {
      text += fmt::format(" {}", name(call.reduce_op));
    }
    text += fmt::format(", count {}", call.count);
  }
  if (call.root >= 0) {
    text += fmt::format(", root {}", call.root);
  }
  return text + ")";
}

}  // namespace shoal
