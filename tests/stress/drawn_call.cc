#include "stress/drawn_call.h"

#include <array>
#include <vector>

#include "kernels.h"
#include "selection.h"

namespace shoal::test {
namespace {

constexpr std::array kTypes{DataType::i8,   DataType::i16, DataType::i32,    DataType::i64, DataType::u8,
                            DataType::u16,  DataType::u32, DataType::u64,    DataType::f32, DataType::f64,
                            DataType::bf16, DataType::f16, DataType::boolean};

ReduceOp draw_reduction(Draws& draws, DataType type) {
  std::vector<ReduceOp> defined;
  for (const ReduceOp op : kAllReductions)
    if (detail::is_defined(op, type)) defined.push_back(op);
  return draws.one_of(std::span<const ReduceOp>(defined));
}

/// Its default, or one of those that can.
Algorithm draw_algorithm(Draws& draws, const CallSpec& spec) {
  const auto reduction = reduces(spec.operation)
                             ? std::optional(detail::Reduction{.op = spec.reduce_op, .type = spec.type})
                             : std::nullopt;
  const detail::CallSize size{.bytes = spec.count * element_bytes(spec.type), .ranks = spec.ranks, .type = spec.type};
  std::vector<Algorithm> able{Algorithm::automatic};
  for (const Algorithm algorithm : detail::algorithms_of(spec.operation))
    if (detail::select(spec.operation, algorithm, reduction, {}, size).mistake.empty()) able.push_back(algorithm);
  return draws.one_of(std::span<const Algorithm>(able));
}

}  // namespace

DataType draw_type(Draws& draws) { return draws.one_of(std::span<const DataType>(kTypes)); }

std::size_t draw_count(Draws& draws, int ranks) {
  constexpr std::size_t kOften = 300;
  constexpr std::size_t kLarge = 20'000;
  if (draws.once_in(500)) return kLarge / 4 + draws.below(kLarge);
  if (draws.once_in(8)) return draws.below(static_cast<std::size_t>(ranks) + 2);
  return draws.below(kOften);
}

CallSpec draw_call(Draws& draws, Operation operation, int ranks) {
  CallSpec spec{.operation = operation,
                .ranks = ranks,
                .count = draw_count(draws, ranks),
                .root = has_root(operation) ? draws.rank_of(ranks) : 0,
                .type = draw_type(draws),
                .in_place = draws.once_in(2),
                .seed = draws.bits()};
  if (reduces(operation)) spec.reduce_op = draw_reduction(draws, spec.type);
  spec.algorithm = draw_algorithm(draws, spec);
  return spec;
}

}  // namespace shoal::test
