// Where data lies is nothing to the result: at any byte offset (B68), in the shared heap or in private memory.

#include <cstring>
#include <memory_resource>

#include "moving_forms.h"
#include "reduction_forms.h"

namespace shoal::test {
namespace {

/// Values at a byte offset of a buffer. A float may not lie at an odd address, but the bytes that operations are made
/// of may. The bytes beside them are marked.
template <class T>
class Placed {
 public:
  Placed(const std::vector<T>& values, std::size_t offset)
      : count_(values.size()), offset_(offset), memory_(offset + count_ * sizeof(T) + kMargin, kMark) {
    if (count_ > 0) std::memcpy(bytes().data(), values.data(), count_ * sizeof(T));
  }

  std::span<std::byte> bytes() { return std::span(memory_).subspan(offset_, count_ * sizeof(T)); }
  std::vector<T> values() const {
    std::vector<T> copy(count_);
    if (count_ > 0) std::memcpy(copy.data(), memory_.data() + offset_, count_ * sizeof(T));
    return copy;
  }
  /// They are `expected`, and nothing beside them was written.
  testing::AssertionResult hold(const std::vector<T>& expected) const {
    const auto begin = static_cast<std::ptrdiff_t>(offset_);
    const auto end = static_cast<std::ptrdiff_t>(memory_.size() - kMargin);
    if (std::count(memory_.begin(), memory_.begin() + begin, kMark) != begin)
      return testing::AssertionFailure() << "written before the first byte";
    if (std::count(memory_.begin() + end, memory_.end(), kMark) != static_cast<std::ptrdiff_t>(kMargin))
      return testing::AssertionFailure() << "written behind the last byte";
    return same_bits(expected, values());
  }

 private:
  static constexpr std::size_t kMargin = 64;
  static constexpr std::byte kMark{0xA5};

  std::size_t count_;
  std::size_t offset_;
  std::vector<std::byte> memory_;
};

/// One call on values at offsets from 0 to 63, which are others for each rank and each of its two buffers.
struct PlacedCall {
  Communicator& comm;
  Algorithm algorithm;
  std::size_t count;
  std::size_t offset;

  Options options() const { return {.algorithm = algorithm}; }
  std::size_t first() const { return (offset + 5 * static_cast<std::size_t>(comm.rank())) % 64; }
  std::size_t second() const { return (offset + 5 * static_cast<std::size_t>(comm.rank()) + 11) % 64; }
};

/// Over all ways to do the operation that `can_do` lets through: `prepare(algorithm, count)`, and what that gives at
/// every offset. The number of ranks divides neither count.
template <class CanDo, class Prepare>
void at_every_offset(Communicator& comm, Operation operation, CanDo&& can_do, Prepare&& prepare) {
  for (const Algorithm algorithm : ways_to(operation)) {
    if (!can_do(algorithm)) continue;
    const std::size_t count = algorithm == Algorithm::tiny ? 13 : 70;
    SCOPED_TRACE(std::string(name(operation)) + " by " + std::string(name(algorithm)));
    const auto expect = prepare(algorithm, count);
    for (std::size_t offset = 0; offset < 64; ++offset) {
      SCOPED_TRACE(offset);
      expect(PlacedCall{.comm = comm, .algorithm = algorithm, .count = count, .offset = offset});
    }
  }
}

template <class T>
void expect_all_reduce_at(const PlacedCall& call, ReduceOp op, const std::vector<T>& expected) {
  const auto values = values_of<T>(call.comm.rank(), call.count);
  Placed<T> data(values, call.first());
  detail::all_reduce(call.comm, data.bytes(), kDataType<T>, op, call.options());
  EXPECT_TRUE(data.hold(expected)) << "in place";

  Placed<T> in(values, call.first());
  Placed<T> out(blank<T>(call.count), call.second());
  detail::all_reduce(call.comm, in.bytes(), out.bytes(), kDataType<T>, op, call.options());
  EXPECT_TRUE(out.hold(expected)) << "out of place";
  EXPECT_TRUE(in.hold(values)) << "the input is left alone";
}

template <class T>
void expect_reduce_scatter_at(const PlacedCall& call, ReduceOp op, const std::vector<T>& whole) {
  const auto expected = chunk_of(whole, call.comm.rank(), call.comm.size());
  const auto values = values_of<T>(call.comm.rank(), call.count);
  Placed<T> data(values, call.first());
  detail::reduce_scatter(call.comm, data.bytes(), kDataType<T>, op, call.options());
  const auto after = data.values();
  EXPECT_TRUE(data.hold(after)) << "in place";
  EXPECT_TRUE(same_bits(expected, chunk_of(after, call.comm.rank(), call.comm.size()))) << "in place";

  Placed<T> in(values, call.first());
  Placed<T> out(blank<T>(expected.size()), call.second());
  detail::reduce_scatter(call.comm, in.bytes(), out.bytes(), kDataType<T>, op, call.options());
  EXPECT_TRUE(out.hold(expected)) << "out of place";
  EXPECT_TRUE(in.hold(values)) << "the input is left alone";
}

template <class T>
void expect_reduce_at(const PlacedCall& call, ReduceOp op, const std::vector<T>& whole) {
  const int root = static_cast<int>(call.offset) % call.comm.size();
  const auto values = values_of<T>(call.comm.rank(), call.count);
  Placed<T> in(values, call.first());
  Placed<T> out(blank<T>(call.comm.rank() == root ? call.count : 0), call.second());
  detail::reduce(call.comm, in.bytes(), out.bytes(), kDataType<T>, op, root, call.options());
  EXPECT_TRUE(out.hold(call.comm.rank() == root ? whole : std::vector<T>{})) << "root " << root;
  EXPECT_TRUE(in.hold(values)) << "the input is left alone";
}

// A job for each type: three ranks on fewer cores take their time where others want these too.
TEST(Addresses, OfAnyAlignmentGiveTheSameForEveryTypeAndReduction) {
  for_each_type(AllTypes{}, []<class T>() {
    const auto ranks = run_ranks(3, [](Communicator& comm) {
      for (const ReduceOp op : kAllReductions) {
        SCOPED_TRACE(std::string(name(op)) + " of " + std::string(name(kDataType<T>)));
        const auto of = [&](Operation operation, auto expect) {
          at_every_offset(
              comm, operation, [&](Algorithm algorithm) { return can<T>(algorithm, op); },
              [&](Algorithm algorithm, std::size_t count) {
                return [=, whole = expected_by<T>(algorithm, op, 3, count)](const PlacedCall& call) {
                  expect(call, op, whole);
                };
              });
        };
        of(Operation::all_reduce, expect_all_reduce_at<T>);
        of(Operation::reduce_scatter, expect_reduce_scatter_at<T>);
        of(Operation::reduce, expect_reduce_at<T>);
      }
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  });
}

template <class T>
void expect_broadcast_at(const PlacedCall& call) {
  Placed<T> data(values_of<T>(call.comm.rank(), call.count), call.first());
  detail::broadcast(call.comm, data.bytes(), kDataType<T>, 1, call.options());
  EXPECT_TRUE(data.hold(values_of<T>(1, call.count)));
}

template <class T>
void expect_all_gather_at(const PlacedCall& call) {
  const auto whole = values_of<T>(99, call.count);
  const auto own = chunk_of(whole, call.comm.rank(), call.comm.size());
  Placed<T> in(own, call.first());
  Placed<T> out(blank<T>(call.count), call.second());
  detail::all_gather(call.comm, in.bytes(), out.bytes(), kDataType<T>, call.options());
  EXPECT_TRUE(out.hold(whole)) << "out of place";
  EXPECT_TRUE(in.hold(own)) << "the input is left alone";

  Placed<T> data(blank<T>(call.count), call.first());
  const std::size_t begin = split_bounds(call.count, call.comm.size())[static_cast<std::size_t>(call.comm.rank())];
  const auto slice = data.bytes().subspan(begin * sizeof(T), own.size() * sizeof(T));
  std::memcpy(slice.data(), own.data(), slice.size());
  detail::all_gather(call.comm, slice, data.bytes(), kDataType<T>, call.options());
  EXPECT_TRUE(data.hold(whole)) << "in place";
}

template <class T>
void expect_gather_at(const PlacedCall& call) {
  const auto whole = values_of<T>(99, call.count);
  const bool at_root = call.comm.rank() == 2;
  Placed<T> in(chunk_of(whole, call.comm.rank(), call.comm.size()), call.first());
  Placed<T> out(blank<T>(at_root ? call.count : 0), call.second());
  detail::gather(call.comm, in.bytes(), out.bytes(), kDataType<T>, 2, call.options());
  EXPECT_TRUE(out.hold(at_root ? whole : std::vector<T>{}));
}

template <class T>
void expect_scatter_at(const PlacedCall& call, bool cyclic) {
  const auto whole = values_of<T>(99, call.count);
  const auto expected = cyclic ? every_nth(whole, call.comm.rank(), call.comm.size())
                               : chunk_of(whole, call.comm.rank(), call.comm.size());
  Placed<T> in(call.comm.rank() == 2 ? whole : std::vector<T>{}, call.first());
  Placed<T> out(blank<T>(expected.size()), call.second());
  const auto scatter_bytes = cyclic ? detail::scatter_cyclic : detail::scatter;
  scatter_bytes(call.comm, in.bytes(), out.bytes(), kDataType<T>, 2, call.options());
  EXPECT_TRUE(out.hold(expected));
}

template <class T>
void expect_all_to_all_at(const PlacedCall& call) {
  std::vector<T> expected;
  for (int from = 0; from < call.comm.size(); ++from) {
    const auto chunk = chunk_of(values_of<T>(from, call.count), call.comm.rank(), call.comm.size());
    expected.insert(expected.end(), chunk.begin(), chunk.end());
  }
  Placed<T> in(values_of<T>(call.comm.rank(), call.count), call.first());
  Placed<T> out(blank<T>(expected.size()), call.second());
  detail::all_to_all(call.comm, in.bytes(), out.bytes(), kDataType<T>, call.options());
  EXPECT_TRUE(out.hold(expected));
}

template <class T>
void expect_exchange_at(const PlacedCall& call) {
  const int right = (call.comm.rank() + 1) % call.comm.size();
  const int left = (call.comm.rank() + call.comm.size() - 1) % call.comm.size();
  Placed<T> out(values_of<T>(call.comm.rank(), call.count), call.first());
  Placed<T> in(blank<T>(call.count), call.second());
  detail::exchange(call.comm, out.bytes(), right, in.bytes(), left, kDataType<T>);
  EXPECT_TRUE(in.hold(values_of<T>(left, call.count)));
}

TEST(Addresses, OfAnyAlignmentKeepWhatIsMoved) {
  for_each_type(AllTypes{}, []<class T>() {
    const auto ranks = run_ranks(3, [](Communicator& comm) {
      SCOPED_TRACE(name(kDataType<T>));
      const auto of = [&](Operation operation, auto expect) {
        at_every_offset(
            comm, operation, [](Algorithm) { return true; }, [&](Algorithm, std::size_t) { return expect; });
      };
      of(Operation::broadcast, expect_broadcast_at<T>);
      of(Operation::all_gather, expect_all_gather_at<T>);
      of(Operation::gather, expect_gather_at<T>);
      of(Operation::scatter, [](const PlacedCall& call) { expect_scatter_at<T>(call, false); });
      of(Operation::scatter_cyclic, [](const PlacedCall& call) { expect_scatter_at<T>(call, true); });
      of(Operation::all_to_all, expect_all_to_all_at<T>);
      of(Operation::exchange, expect_exchange_at<T>);
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  });
}

}  // namespace
}  // namespace shoal::test
