// Expected values by serial loops that know nothing of algorithms. Every value depends on rank, position and seed, so
// that a block that is missing, twice there or from another call shows.

#include "support/checked_call.h"

#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "calls/with_type.h"
#include "support/serial_reference.h"

namespace shoal::test {
namespace {

constexpr int kWholeVector = 1'000'000;  // In the place of a rank: the vector that is scattered or gathered.

template <class T>
T value(std::uint64_t seed, int rank, std::size_t index) {
  return value_of_random_bits<T>(mixed_bits(mixed_bits(seed * 0x10001 + static_cast<std::uint64_t>(rank)) + index));
}

/// A rank's buffer: elements, or where there is no data addresses.
template <class T>
class Buffer {
 public:
  Buffer(const Communicator& comm, std::size_t count, std::pmr::memory_resource& memory)
      : count_(count), memory_(memory) {
    if (comm.phantom()) {
      phantom_ = std::make_unique<PhantomBuffer>(count * sizeof(T));
    } else {
      content_ = static_cast<T*>(memory_.allocate(count * sizeof(T), alignof(T)));
      std::uninitialized_fill_n(content_, count, static_cast<T>(77));
    }
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (content_ != nullptr) memory_.deallocate(content_, count_ * sizeof(T), alignof(T));
  }

  std::span<T> span() { return phantom_ ? phantom_->as<T>(count_) : std::span(content_, count_); }

 private:
  std::size_t count_;
  std::pmr::memory_resource& memory_;
  T* content_ = nullptr;
  std::unique_ptr<PhantomBuffer> phantom_;
};

}  // namespace

/// One rank's part in the call.
template <class T>
class CheckedCall::Making {
 public:
  Making(const CheckedCall& call, Communicator& comm, std::pmr::memory_resource& memory)
      : call_(call), spec_(call.spec_), comm_(comm), memory_(memory), options_{.algorithm = spec_.algorithm} {}

  void run() {
    switch (spec_.operation) {
      case Operation::barrier:
        return run_barrier();
      case Operation::broadcast:
        return run_broadcast();
      case Operation::reduce:
        return run_reduce();
      case Operation::all_reduce:
        return run_all_reduce();
      case Operation::reduce_scatter:
        return run_reduce_scatter();
      case Operation::all_gather:
      case Operation::all_gather_v:
        return run_all_gather();
      case Operation::gather:
      case Operation::gather_v:
        return run_gather();
      case Operation::scatter:
      case Operation::scatter_v:
        return run_scatter();
      case Operation::scatter_cyclic:
        return run_scatter_cyclic();
      case Operation::all_to_all:
        return run_all_to_all();
      case Operation::all_to_all_v:
        return run_all_to_all_v();
      default:
        throw std::logic_error("no test for " + std::string(name(spec_.operation)));
    }
  }

 private:
  int rank() const { return comm_.rank(); }
  Buffer<T> buffer(std::size_t count) const { return {comm_, count, memory_}; }
  bool at_root() const { return rank() == spec_.root; }
  T value_of(int rank, std::size_t index) const { return value<T>(spec_.seed, rank, index); }
  /// `buffer[i]` becomes element first + i of `rank`.
  void fill(std::span<T> buffer, int rank, std::size_t first = 0) const {
    for (std::size_t i = 0; !comm_.phantom() && i < buffer.size(); ++i) buffer[i] = value_of(rank, first + i);
  }
  template <class Expected>
  void check(std::span<const T> actual, const std::string& what, Expected&& expected) const {
    for (std::size_t i = 0; !comm_.phantom() && i < actual.size(); ++i) {
      const T right = expected(i);
      if (std::memcmp(&right, &actual[i], sizeof(T)) == 0) continue;
      std::ostringstream text;
      text << "rank " << rank() << ": " << text_of(spec_) << ": " << what << '[' << i << "] of " << actual.size()
           << " is " << shown(actual[i]) << ", not " << shown(right);
      throw std::logic_error(text.str());
    }
  }
  void check_values(std::span<const T> actual, const std::string& what, int rank, std::size_t first = 0) const {
    check(actual, what, [&](std::size_t i) { return value_of(rank, first + i); });
  }
  std::vector<std::size_t> bounds() const {
    if (!is_v()) return split_bounds(spec_.count, spec_.ranks);
    std::vector<std::size_t> bounds{0};
    for (const std::size_t length : call_.lengths(0)) bounds.push_back(bounds.back() + length);
    return bounds;
  }
  bool is_v() const {
    return spec_.operation == Operation::all_gather_v || spec_.operation == Operation::gather_v ||
           spec_.operation == Operation::scatter_v;
  }
  std::size_t begin(int rank) const { return bounds_[static_cast<std::size_t>(rank)]; }
  std::size_t size(int rank) const { return bounds_[static_cast<std::size_t>(rank) + 1] - begin(rank); }

  void run_barrier() {
    ++call_.entered_;
    barrier(comm_, options_);
    if (call_.entered_ != spec_.ranks)
      throw std::logic_error("rank " + std::to_string(rank()) + " left a barrier that " +
                             std::to_string(call_.entered_) + " of " + std::to_string(spec_.ranks) + " had entered");
  }

  void run_broadcast() {
    Buffer<T> data = buffer(spec_.count);
    if (at_root()) fill(data.span(), kWholeVector);
    broadcast(comm_, data.span(), spec_.root, options_);
    check_values(data.span(), "data", kWholeVector);
  }

  void check_reduced(std::span<const T> actual, const std::string& what, std::size_t first = 0) const {
    if (comm_.phantom()) return;
    const std::span<const T> reduced = call_.template reduced<T>();
    check(actual, what, [&](std::size_t i) { return reduced[first + i]; });
  }

  void run_reduce() {
    Buffer<T> in = buffer(spec_.count);
    Buffer<T> out = buffer(at_root() ? spec_.count : 0);
    fill(in.span(), rank());
    reduce(comm_, in.span(), out.span(), spec_.reduce_op, spec_.root, options_);
    check_values(in.span(), "in", rank());
    check_reduced(out.span(), "out");
  }

  void run_all_reduce() {
    Buffer<T> in = buffer(spec_.count);
    fill(in.span(), rank());
    if (spec_.in_place) {
      all_reduce(comm_, in.span(), spec_.reduce_op, options_);
      check_reduced(in.span(), "data");
      return;
    }
    Buffer<T> out = buffer(spec_.count);
    all_reduce(comm_, in.span(), out.span(), spec_.reduce_op, options_);
    check_values(in.span(), "in", rank());
    check_reduced(out.span(), "out");
  }

  void run_reduce_scatter() {
    Buffer<T> in = buffer(spec_.count);
    fill(in.span(), rank());
    if (spec_.in_place) {
      const std::span<T> own = reduce_scatter(comm_, in.span(), spec_.reduce_op, options_);
      if (own.data() != in.span().data() + begin(rank()) || own.size() != size(rank()))
        throw std::logic_error(text_of(spec_) + ": the chunk returned is not the rank's own");
      check_reduced(own, "own chunk", begin(rank()));
      return;
    }
    Buffer<T> out = buffer(size(rank()));
    reduce_scatter(comm_, in.span(), out.span(), spec_.reduce_op, options_);
    check_values(in.span(), "in", rank());
    check_reduced(out.span(), "out", begin(rank()));
  }

  void run_all_gather() {
    Buffer<T> out = buffer(bounds_.back());
    Buffer<T> apart = buffer(spec_.in_place ? 0 : size(rank()));
    const auto in = spec_.in_place ? out.span().subspan(begin(rank()), size(rank())) : apart.span();
    fill(in, kWholeVector, begin(rank()));
    if (is_v()) {
      all_gather_v(comm_, in, out.span(), call_.lengths(0), options_);
    } else {
      all_gather(comm_, in, out.span(), options_);
    }
    check_values(out.span(), "out", kWholeVector);
    check_values(in, "in", kWholeVector, begin(rank()));
  }

  void run_gather() {
    Buffer<T> in = buffer(size(rank()));
    Buffer<T> out = buffer(at_root() ? bounds_.back() : 0);
    fill(in.span(), kWholeVector, begin(rank()));
    if (is_v()) {
      gather_v(comm_, in.span(), out.span(), call_.lengths(0), spec_.root, options_);
    } else {
      gather(comm_, in.span(), out.span(), spec_.root, options_);
    }
    check_values(out.span(), "out", kWholeVector);
    check_values(in.span(), "in", kWholeVector, begin(rank()));
  }

  void run_scatter() {
    Buffer<T> in = buffer(at_root() ? bounds_.back() : 0);
    Buffer<T> out = buffer(size(rank()));
    fill(in.span(), kWholeVector);
    if (is_v()) {
      scatter_v(comm_, in.span(), out.span(), call_.lengths(0), spec_.root, options_);
    } else {
      scatter(comm_, in.span(), out.span(), spec_.root, options_);
    }
    check_values(out.span(), "out", kWholeVector, begin(rank()));
    check_values(in.span(), "in", kWholeVector);
  }

  void run_scatter_cyclic() {
    Buffer<T> in = buffer(at_root() ? spec_.count : 0);
    Buffer<T> out = buffer(size(rank()));
    fill(in.span(), kWholeVector);
    scatter_cyclic(comm_, in.span(), out.span(), spec_.root, options_);
    check(out.span(), "out", [&](std::size_t i) {
      return value_of(kWholeVector, static_cast<std::size_t>(rank()) + i * static_cast<std::size_t>(spec_.ranks));
    });
  }

  void run_all_to_all() {
    Buffer<T> in = buffer(spec_.count);
    Buffer<T> out = buffer(size(rank()) * static_cast<std::size_t>(spec_.ranks));
    fill(in.span(), rank());
    all_to_all(comm_, in.span(), out.span(), options_);
    for (int from = 0; from < spec_.ranks; ++from)
      check_values(out.span().subspan(static_cast<std::size_t>(from) * size(rank()), size(rank())),
                   "from rank " + std::to_string(from), from, begin(rank()));
    check_values(in.span(), "in", rank());
  }

  void run_all_to_all_v() {
    const auto sum = [](const std::vector<std::size_t>& lengths) {
      std::size_t total = 0;
      for (const std::size_t length : lengths) total += length;
      return total;
    };
    const auto sends = call_.lengths(rank());
    const auto receives = call_.lengths_to(rank());
    Buffer<T> in = buffer(sum(sends));
    Buffer<T> out = buffer(sum(receives));
    fill(in.span(), rank());
    all_to_all_v(comm_, in.span(), sends, out.span(), receives, options_);
    std::size_t place = 0;
    for (int from = 0; from < spec_.ranks; ++from) {
      std::size_t first = 0;
      for (int to = 0; to < rank(); ++to) first += call_.length(from, to);
      const std::size_t elements = receives[static_cast<std::size_t>(from)];
      check_values(out.span().subspan(place, elements), "from rank " + std::to_string(from), from, first);
      place += elements;
    }
    check_values(in.span(), "in", rank());
  }

  const CheckedCall& call_;
  const CallSpec& spec_;
  Communicator& comm_;
  std::pmr::memory_resource& memory_;
  Options options_;
  std::vector<std::size_t> bounds_ = bounds();
};

CheckedCall::CheckedCall(const CallSpec& spec) : spec_(spec) {}

void CheckedCall::run(Communicator& comm, std::pmr::memory_resource* memory) const {
  if (spec_.operation == Operation::barrier) {  // Has no type.
    Making<std::uint32_t>(*this, comm, *memory).run();
    return;
  }
  calls::with_type(spec_.type, [&]<class T>() { Making<T>(*this, comm, *memory).run(); });
}

template <class T>
std::span<const T> CheckedCall::reduced() const {
  if (!reduced_) {
    const auto values = std::make_shared<T[]>(spec_.count);
    reduce_serially(spec_.algorithm, spec_.reduce_op, spec_.ranks, std::span(values.get(), spec_.count),
                    [&](int rank, std::size_t i) { return value<T>(spec_.seed, rank, i); });
    reduced_ = values;
  }
  return {static_cast<const T*>(reduced_.get()), spec_.count};
}

std::size_t CheckedCall::length(int from, int to) const {
  const std::uint64_t bits = mixed_bits(mixed_bits(spec_.seed ^ 0x5bd1e995) + static_cast<std::uint64_t>(from) * 65536 +
                                        static_cast<std::uint64_t>(to));
  const std::size_t most = 2 * (spec_.count / static_cast<std::size_t>(spec_.ranks)) + 1;
  return (bits & 3) == 0 ? 0 : (bits >> 2) % (most + 1);  // Every fourth gives nothing.
}

std::vector<std::size_t> CheckedCall::lengths(int from) const {
  std::vector<std::size_t> lengths;
  for (int rank = 0; rank < spec_.ranks; ++rank)
    lengths.push_back(spec_.operation == Operation::all_to_all_v ? length(from, rank) : length(rank, 0));
  return lengths;
}

std::vector<std::size_t> CheckedCall::lengths_to(int to) const {
  std::vector<std::size_t> lengths;
  for (int from = 0; from < spec_.ranks; ++from) lengths.push_back(length(from, to));
  return lengths;
}

Cost CheckedCall::cost(int rank, const Calibration& calibration) const {
  const CostQuery query{.operation = spec_.operation,
                        .algorithm = spec_.algorithm,
                        .count = spec_.count,
                        .type = spec_.type,
                        .ranks = spec_.ranks,
                        .rank = rank,
                        .root = spec_.root,
                        .reduce_op = spec_.reduce_op,
                        .calibration = calibration};
  switch (spec_.operation) {
    case Operation::all_gather_v:
    case Operation::gather_v:
    case Operation::scatter_v:
      return shoal::cost(query, lengths(0));
    case Operation::all_to_all_v:
      return shoal::cost(query, lengths(rank), lengths_to(rank));
    default:
      return shoal::cost(query);
  }
}

std::string difference_from_cost(const SimulationResult& result, std::span<const CheckedCall> calls) {
  // Memory that others reach takes a round more, and less staging more rounds.
  const bool rounds_known = result.options.reach == SimulationOptions::Reach::none && !result.options.copies &&
                            result.options.staging_bytes == SimulationOptions{}.staging_bytes;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const SimulatedRank& ran = result.ranks[rank];
    const Cost moved{
        .sent = ran.traffic.sent, .received = ran.traffic.received, .steps = ran.steps, .messages = ran.messages};
    Cost expected;
    for (const CheckedCall& call : calls) expected += call.cost(static_cast<int>(rank));
    if (rounds_known ? moved == expected : moved.sent == expected.sent && moved.received == expected.received) continue;
    std::ostringstream text;
    const auto show = [&](const Cost& cost) {
      text << cost.sent << " sent, " << cost.received << " received, " << cost.steps << " steps, " << cost.messages
           << " messages";
    };
    text << "rank " << rank << " of " << result.ranks.size() << ": ";
    show(moved);
    text << "; by the closed form ";
    show(expected);
    if (calls.size() == 1) text << "; " << text_of(calls.front().spec());
    return text.str();
  }
  return {};
}

}  // namespace shoal::test
