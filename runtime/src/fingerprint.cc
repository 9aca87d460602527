#include "fingerprint.h"

#include <algorithm>

namespace shoal::detail {
namespace {

struct Field {
  unsigned shift;
  unsigned bits;

  constexpr std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
  constexpr std::uint64_t of(std::uint64_t value) const { return value << shift; }
  constexpr std::uint64_t in(std::uint64_t fingerprint) const { return fingerprint >> shift & mask(); }
};

constexpr Field kOperation{0, 5};
constexpr Field kAlgorithm{5, 4};
constexpr Field kType{9, 4};
constexpr Field kReduction{13, 3};
constexpr Field kRoot{16, 13};
constexpr std::uint64_t kNamed = (std::uint64_t{1} << 29) - 1;
static_assert(kOperationCount <= kOperation.mask() + 1 && kAlgorithmCount <= kAlgorithm.mask() + 1 &&
              kDataTypeCount <= kType.mask() + 1 && kReduceOpCount <= kReduction.mask() + 1);

}  // namespace

std::uint64_t fingerprint_of(const Call& call, std::uint64_t history) {
  const auto root = std::min<std::uint64_t>(static_cast<std::uint64_t>(call.root + 1), kRoot.mask());
  return kOperation.of(static_cast<std::uint64_t>(call.operation)) |
         kAlgorithm.of(static_cast<std::uint64_t>(call.algorithm)) | kType.of(static_cast<std::uint64_t>(call.type)) |
         kReduction.of(static_cast<std::uint64_t>(call.reduce_op)) | kRoot.of(root) | (history & ~kNamed);
}

std::uint64_t point_to_point_fingerprint(DataType type, std::uint64_t history) {
  return fingerprint_of({.operation = Operation::send, .type = type}, history);
}

Call call_in(std::uint64_t fingerprint) {
  const std::uint64_t root = kRoot.in(fingerprint);
  return {.operation = static_cast<Operation>(kOperation.in(fingerprint)),
          .algorithm = static_cast<Algorithm>(kAlgorithm.in(fingerprint)),
          .type = static_cast<DataType>(kType.in(fingerprint)),
          .reduce_op = static_cast<ReduceOp>(kReduction.in(fingerprint)),
          .root = root == kRoot.mask() ? -1 : static_cast<int>(root) - 1};
}

}  // namespace shoal::detail
