#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "bench/serial.h"
#include "calls/collective_call.h"

// Whether a call did what it should: values before it, and the first that is wrong after it.

namespace shoal::bench {

/// The first element that is not what it should be.
struct Difference {
  std::string buffer;  ///< "in" or "out"
  std::size_t index = 0;
  std::string got;
  std::string expected;

  friend bool operator==(const Difference&, const Difference&) = default;
};

template <class T>
std::string shown(T value) {
  std::ostringstream text;
  text.precision(sizeof(T) > sizeof(float) ? 17 : 9);  // Enough to tell any two values apart.
  if constexpr (kIsHalf<T>) {
    text << static_cast<float>(value);
  } else {
    text << +value;
  }
  return text.str();
}

/// Compares bit for bit with expected(index).
template <class T, class Expected>
std::optional<Difference> first_difference(const std::string& buffer, std::span<const T> got, Expected&& expected) {
  for (std::size_t index = 0; index < got.size(); ++index) {
    const T right = expected(index);
    if (std::memcmp(&right, &got[index], sizeof(T)) == 0) continue;
    return Difference{.buffer = buffer, .index = index, .got = shown(got[index]), .expected = shown(right)};
  }
  return std::nullopt;
}

/// One rank's buffers of one call.
template <class T>
class CheckedBuffers {
 public:
  CheckedBuffers(const calls::CollectiveCall& call, int ranks, int rank, std::span<T> in, std::span<T> out)
      : call_(call), ranks_(ranks), rank_(rank), in_(in), out_(out) {}

  /// Gives every element its value before the call.
  void prepare() const {
    std::ranges::fill(out_, T{});
    const bool known = call_.operation != Operation::broadcast || rank_ == 0;
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = known ? value_at<T>(rank_, i) : T{};
    if (gathers_in_place()) {
      const auto own = own_chunk(out_);
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = value_at<T>(rank_, i);
    }
  }

  /// After the call, done by `algorithm`. What the call only reads must be as it was.
  std::optional<Difference> first_wrong(Algorithm algorithm) const {
    SerialResult<T> reduced({.op = call_.reduce_op,
                             .algorithm = algorithm,
                             .ranks = ranks_,
                             .count = static_cast<std::size_t>(call_.count)});
    const std::size_t first = chunks().begin(rank_);
    const std::size_t own = chunks().size(rank_);
    const auto in_reduced_chunk = [&](std::size_t i) { return reduced(first + i); };
    if (call_.in_place && call_.operation == Operation::all_reduce) return wrong("in", in_, reduced);
    if (call_.in_place && call_.operation == Operation::reduce_scatter)
      return wrong("own chunk", own_chunk(in_), in_reduced_chunk);

    const int source = call_.operation == Operation::broadcast ? 0 : rank_;
    auto difference = wrong("in", in_, [&](std::size_t i) { return value_at<T>(source, i); });
    if (difference) return difference;
    switch (call_.operation) {
      case Operation::reduce:
      case Operation::all_reduce:
        return wrong("out", out_, reduced);
      case Operation::reduce_scatter:
        return wrong("out", out_, in_reduced_chunk);
      case Operation::all_gather:
      case Operation::gather:  // Position i of rank r's chunk is that rank's i-th value.
        return wrong("out", out_, [&](std::size_t i) { return value_at<T>(static_cast<int>(i / own), i % own); });
      case Operation::scatter:
        return wrong("out", out_, [&](std::size_t i) { return value_at<T>(0, first + i); });
      case Operation::all_to_all:
        return wrong("out", out_,
                     [&](std::size_t i) { return value_at<T>(static_cast<int>(i / own), first + i % own); });
      default:
        return std::nullopt;
    }
  }

 private:
  template <class Expected>
  std::optional<Difference> wrong(const std::string& buffer, std::span<const T> got, Expected&& expected) const {
    return first_difference(buffer, got, std::forward<Expected>(expected));
  }
  Partition chunks() const { return {static_cast<std::size_t>(call_.count), ranks_}; }
  std::span<T> own_chunk(std::span<T> whole) const { return chunks().slice(whole, rank_); }
  bool gathers_in_place() const { return call_.in_place && call_.operation == Operation::all_gather; }

  calls::CollectiveCall call_;
  int ranks_;
  int rank_;
  std::span<T> in_;
  std::span<T> out_;
};

}  // namespace shoal::bench
