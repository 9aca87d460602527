#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "shoal/runtime/choice.h"
#include "shoal/runtime/operation.h"

namespace shoal::detail {

/// SHOAL_EXPLAIN=1: what rank 0 of every communicator tells on standard error. A line when the first call of a kind
/// (operation, algorithm, type, reduction, count, ranks) has ended, and one for each kind, with the mean of its calls,
/// when the session ends.
class Explanations {
 public:
  /// Null unless SHOAL_EXPLAIN is 1. Throws Error `invalid_argument` for what is neither that, nor 0, nor empty.
  static std::unique_ptr<Explanations> of_environment();

  Explanations() = default;
  Explanations(const Explanations&) = delete;
  Explanations& operator=(const Explanations&) = delete;
  ~Explanations();

  /// Where the figures come from that choices are made by.
  void tell_calibration(const std::string& description);
  bool calibration_told() const noexcept { return calibration_told_; }
  /// Why calls of that kind are made as they are.
  void choose(const Call& call, int ranks, Choice choice);

  void begins(const Call& call, int ranks);
  /// The call that began last has returned.
  void ends() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  using Kind = std::tuple<Operation, Algorithm, DataType, ReduceOp, std::uint64_t, int>;
  struct Told {
    std::string subject;  // "all_reduce sum f32 x 262144 over 2 ranks: direct".
    double predicted_ns = -1;
    std::string others{};  // "; slots 380, pairwise 700".
    std::uint64_t calls = 0;
    double taken_ns = 0;
  };

  static Kind kind_of(const Call& call, int ranks);

  std::map<Kind, Told> told_;
  Told* current_ = nullptr;
  Clock::time_point begun_{};
  bool calibration_told_ = false;
};

}  // namespace shoal::detail
