#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "shoal/shoal.h"
#include "shoal/simulation.h"
#include "support/call_spec.h"

namespace shoal::test {

/// The call, and what each rank must end with by a plain serial loop.
class CheckedCall {
 public:
  explicit CheckedCall(const CallSpec& spec);

  /// Makes the call as one rank, its buffers from `memory`. Throws std::logic_error where its outcome is wrong; without
  /// data, checks nothing. A barrier needs one object that serves all ranks, as fibers of a simulation have it.
  void run(Communicator& comm, std::pmr::memory_resource* memory = std::pmr::get_default_resource()) const;

  /// What the closed form says of it.
  Cost cost(int rank, const Calibration& calibration = kReferenceCalibration) const;
  const CallSpec& spec() const { return spec_; }

 private:
  template <class T>
  class Making;
  /// The reduced vector of all ranks, formed when the first rank asks.
  template <class T>
  std::span<const T> reduced() const;

  /// Of a v-operation: elements that `from` gives to `to`; where all give to one or one to all, `to` is 0.
  std::size_t length(int from, int to) const;
  std::vector<std::size_t> lengths(int from) const;
  std::vector<std::size_t> lengths_to(int to) const;

  CallSpec spec_;
  mutable std::shared_ptr<const void> reduced_;
  mutable int entered_ = 0;  // Ranks that have come to a barrier.
};

/// Compares what each rank moved in a simulation of these calls with the sum of their closed forms: an empty text, or
/// the first difference.
std::string difference_from_cost(const SimulationResult& result, std::span<const CheckedCall> calls);

}  // namespace shoal::test
