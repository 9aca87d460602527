// Which arguments compile: every contiguous range of a supported type, and nothing else. What must not compile stands
// beside its compiling twin.

#include <array>
#include <deque>
#include <functional>
#include <list>
#include <memory_resource>
#include <ranges>
#include <string>
#include <valarray>
#include <vector>

#include "collective_checks.h"
#include "stepping_view.h"

namespace shoal::test {
namespace {

using Counts = std::span<const std::size_t>;

// Each operation by itself, so that one which took what the others refuse would show.
template <class In, class Out>
concept AllReducible = requires(Communicator& comm, In in, Out out) {
  all_reduce(comm, std::forward<In>(in), std::forward<Out>(out), ReduceOp::sum);
};
template <class In, class Out>
concept Reducible = requires(Communicator& comm, In in, Out out) {
  reduce(comm, std::forward<In>(in), std::forward<Out>(out), ReduceOp::sum, 0);
};
template <class In, class Out>
concept ReduceScatterable = requires(Communicator& comm, In in, Out out) {
  reduce_scatter(comm, std::forward<In>(in), std::forward<Out>(out), ReduceOp::sum);
};
template <class In, class Out>
concept AllGatherable = requires(Communicator& comm, In in, Out out) {
  all_gather(comm, std::forward<In>(in), std::forward<Out>(out));
};
template <class In, class Out>
concept Gatherable = requires(Communicator& comm, In in, Out out) {
  gather(comm, std::forward<In>(in), std::forward<Out>(out), 0);
};
template <class In, class Out>
concept Scatterable = requires(Communicator& comm, In in, Out out) {
  scatter(comm, std::forward<In>(in), std::forward<Out>(out), 0);
};
template <class In, class Out>
concept Dealable = requires(Communicator& comm, In in, Out out) {
  scatter_cyclic(comm, std::forward<In>(in), std::forward<Out>(out), 0);
};
template <class In, class Out>
concept Transposable = requires(Communicator& comm, In in, Out out) {
  all_to_all(comm, std::forward<In>(in), std::forward<Out>(out));
};
template <class In, class Out>
concept Exchangeable = requires(Communicator& comm, In in, Out out) {
  exchange(comm, std::forward<In>(in), 0, std::forward<Out>(out), 0);
};
template <class In, class Out>
concept AllGatherableV = requires(Communicator& comm, In in, Out out, Counts counts) {
  all_gather_v(comm, std::forward<In>(in), std::forward<Out>(out), counts);
};
template <class In, class Out>
concept GatherableV = requires(Communicator& comm, In in, Out out, Counts counts) {
  gather_v(comm, std::forward<In>(in), std::forward<Out>(out), counts, 0);
};
template <class In, class Out>
concept ScatterableV = requires(Communicator& comm, In in, Out out, Counts counts) {
  scatter_v(comm, std::forward<In>(in), std::forward<Out>(out), counts, 0);
};
template <class In, class Out>
concept TransposableV = requires(Communicator& comm, In in, Out out, Counts counts) {
  all_to_all_v(comm, std::forward<In>(in), counts, std::forward<Out>(out), counts);
};
template <class Data>
concept Broadcastable = requires(Communicator& comm, Data data) {
  broadcast(comm, std::forward<Data>(data), 0);
};
template <class Data>
concept AllReducibleInPlace = requires(Communicator& comm, Data data) {
  all_reduce(comm, std::forward<Data>(data), ReduceOp::sum);
};
template <class Data>
concept ReduceScatterableInPlace = requires(Communicator& comm, Data data) {
  reduce_scatter(comm, std::forward<Data>(data), ReduceOp::sum);
};
template <class Data>
concept Receivable = requires(Communicator& comm, Data data) {
  recv(comm, std::forward<Data>(data), 0);
};
template <class Data>
concept Sendable = requires(Communicator& comm, Data data) {
  send(comm, std::forward<Data>(data), 0);
};

/// Of the operations that read one range and write another, which compile with these.
template <class In, class Out>
constexpr std::array kTakesBoth{AllReducible<In, Out>,   Reducible<In, Out>,    ReduceScatterable<In, Out>,
                                AllGatherable<In, Out>,  Gatherable<In, Out>,   Scatterable<In, Out>,
                                Dealable<In, Out>,       Transposable<In, Out>, Exchangeable<In, Out>,
                                AllGatherableV<In, Out>, GatherableV<In, Out>,  ScatterableV<In, Out>,
                                TransposableV<In, Out>};
/// Of those that write one range and read no other.
template <class Data>
constexpr std::array kTakesOutput{Broadcastable<Data>, AllReducibleInPlace<Data>, ReduceScatterableInPlace<Data>,
                                  Receivable<Data>};

constexpr bool all_of(const auto& takes) { return std::ranges::all_of(takes, std::identity{}); }
constexpr bool none_of(const auto& takes) { return std::ranges::none_of(takes, std::identity{}); }

template <class In, class Out>
constexpr bool kAccepted = all_of(kTakesBoth<In, Out>);
template <class In, class Out>
constexpr bool kRefused = none_of(kTakesBoth<In, Out>);
template <class Data>
constexpr bool kWritable = all_of(kTakesOutput<Data>) && Sendable<Data>;
template <class Data>
constexpr bool kNotWritable = none_of(kTakesOutput<Data>);

using Vector = std::vector<float>;
using Array = std::array<float, 4>;
using PmrVector = std::pmr::vector<float>;
using Span = std::span<float>;
using ConstSpan = std::span<const float>;
using CArray = float[4];

// Every kind of contiguous range, const or not, as what is read; not const as what is written.
static_assert(kAccepted<const Vector&, Vector&>);
static_assert(kAccepted<Vector&, Array&>);
static_assert(kAccepted<const Array&, Span>);
static_assert(kAccepted<Span, CArray&>);
static_assert(kAccepted<ConstSpan, Vector&>);
static_assert(kAccepted<const ConstSpan&, Span&>);
static_assert(kAccepted<const CArray&, const Span&>);
static_assert(kAccepted<const PmrVector&, PmrVector&>);
static_assert(kAccepted<Vector, std::span<float, 4>>, "a temporary may be read");
static_assert(kAccepted<std::valarray<float>&, Vector&> == std::ranges::contiguous_range<std::valarray<float>&>);

static_assert(kWritable<Vector&>);
static_assert(kWritable<Array&>);
static_assert(kWritable<CArray&>);
static_assert(kWritable<Span>);
static_assert(kWritable<const Span&>);
static_assert(kWritable<PmrVector&>);
static_assert(kWritable<std::span<std::int64_t>>);
static_assert(kWritable<std::vector<unsigned char>&>);
static_assert(kWritable<std::vector<long long>&>);
static_assert(kWritable<std::vector<bf16>&> && kWritable<std::span<f16>>);
static_assert(kWritable<std::span<bool>> && kWritable<std::array<bool, 4>&>);

// A const range as output.
static_assert(kRefused<Vector&, const Vector&>);
static_assert(kRefused<Vector&, ConstSpan>);
static_assert(kRefused<Vector&, const CArray&>);
static_assert(kNotWritable<const Vector&> && Sendable<const Vector&>);
static_assert(kNotWritable<ConstSpan> && Sendable<ConstSpan>);
static_assert(kNotWritable<const Array&> && Sendable<const Array&>);

// A temporary as output: what is written would be lost.
static_assert(kNotWritable<Vector> && Sendable<Vector>);
static_assert(kRefused<Vector&, Vector>);

// Mixed element types, also of the same size.
static_assert(kRefused<std::vector<bf16>&, std::vector<f16>&>);
static_assert(kRefused<std::vector<std::uint16_t>&, std::vector<f16>&>);
static_assert(kRefused<std::vector<std::uint8_t>&, std::span<bool>>);
static_assert(kRefused<std::vector<double>&, Vector&>);
static_assert(kRefused<std::vector<std::int32_t>&, Vector&>);
static_assert(kRefused<std::vector<std::int32_t>&, std::vector<std::uint32_t>&>);

// What is not contiguous: strided views, lists, and single values; no operation takes them, to read or to write.
template <class Data>
constexpr bool kNowhere = kNotWritable<Data> && !Sendable<Data> && kRefused<Data, Vector&> && kRefused<Vector&, Data>;

// A view of every second element written by hand, and its twin of every element, which differs in nothing else.
static_assert(std::ranges::view<Every<2>> && std::ranges::random_access_range<Every<2>>);
static_assert(std::ranges::sized_range<Every<2>> && std::ranges::borrowed_range<Every<2>>);
static_assert(!std::ranges::contiguous_range<Every<2>> && std::ranges::contiguous_range<Every<1>>);
static_assert(kNowhere<Every<2>> && kNowhere<Every<2>&> && kNowhere<const Every<2>&>);
static_assert(kWritable<Every<1>> && kAccepted<Every<1>, Vector&> && kAccepted<Vector&, Every<1>>);

// (Clang 14, of which Debian's clang-tidy is made, cannot read std::views.)
#if !defined(__clang__) || __clang_major__ > 15
using Positive = decltype(std::declval<Vector&>() | std::views::filter([](float value) { return value > 0; }));
using Reversed = decltype(std::declval<Vector&>() | std::views::reverse);
using Firsts = decltype(std::declval<Vector&>() | std::views::take(2));
static_assert(kNowhere<Positive> && kNowhere<Reversed>);
static_assert(kWritable<Firsts>, "a view of consecutive elements is contiguous");
static_assert(kAccepted<Firsts, Vector&> && kAccepted<Vector&, Firsts>);
#endif
static_assert(kNowhere<std::list<float>&>);
static_assert(kNowhere<std::deque<float>&>);
static_assert(kNowhere<std::slice_array<float>&>);
static_assert(kNowhere<float&>);
static_assert(kNowhere<float*>);

// Element types that are none: their sum depends on the platform or has no meaning.
static_assert(kNowhere<std::vector<bool>&>, "bits, not bools");
static_assert(kRefused<std::vector<bool>&, std::span<bool>> && kRefused<std::span<bool>, std::vector<bool>&>);
static_assert(kAccepted<std::span<const bool>, std::span<bool>>);
static_assert(kNotWritable<std::string&> && !Sendable<std::string&>);
static_assert(kNotWritable<std::vector<long double>&> && !Sendable<std::vector<long double>&>);
static_assert(kNotWritable<std::vector<float*>&> && !Sendable<std::vector<float*>&>);
static_assert(kNotWritable<std::vector<Array>&> && !Sendable<std::vector<Array>&>);
static_assert(kNotWritable<std::span<volatile float>> && !Sendable<std::span<volatile float>>);

static_assert(kDataType<float> == DataType::f32 && kDataType<double> == DataType::f64);
static_assert(kDataType<bf16> == DataType::bf16 && kDataType<f16> == DataType::f16);
static_assert(kDataType<bool> == DataType::boolean);
static_assert(kDataType<std::int8_t> == DataType::i8 && kDataType<std::uint8_t> == DataType::u8);
static_assert(kDataType<std::int16_t> == DataType::i16 && kDataType<std::uint16_t> == DataType::u16);
static_assert(kDataType<std::int32_t> == DataType::i32 && kDataType<std::uint32_t> == DataType::u32);
static_assert(kDataType<std::int64_t> == DataType::i64 && kDataType<std::uint64_t> == DataType::u64);
static_assert(kDataType<long long> == DataType::i64 && kDataType<unsigned long long> == DataType::u64);

static_assert(std::same_as<
              decltype(reduce_scatter(std::declval<Communicator&>(), std::declval<Vector&>(), ReduceOp::sum)), Span>);

TEST(Ranges, EveryKindOfRangeIsReadAndWrittenWhereItStands) {
  const auto ranks = run_ranks(2, [](Communicator& comm) {
    const float mine = comm.rank() == 0 ? 1.0F : 10.0F;
    std::vector<float> vector{mine, 2 * mine};
    all_reduce(comm, vector, ReduceOp::sum);
    EXPECT_EQ(vector, (std::vector<float>{11, 22}));

    std::array<float, 2> array{mine, 2 * mine};
    all_reduce(comm, array, ReduceOp::sum, {.algorithm = Algorithm::ring});
    EXPECT_EQ(array, (std::array<float, 2>{11, 22}));

    const float in[2]{mine, 2 * mine};
    float out[2]{};
    all_reduce(comm, in, out, ReduceOp::sum);
    EXPECT_EQ(out[0], 11);
    EXPECT_EQ(out[1], 22);

    std::vector<float> whole(4, 0.0F);
    all_reduce(comm, in, std::span(whole).subspan(1, 2), ReduceOp::max);
    EXPECT_EQ(whole, (std::vector<float>{0, 10, 20, 0}));

    std::vector<float> viewed{mine, 2 * mine, 0};
    all_reduce(comm, Every<1>(std::span(viewed).first(2)), ReduceOp::sum);
    EXPECT_EQ(viewed, (std::vector<float>{11, 22, 0}));

    std::vector<float> gathered(2);
    all_gather(comm, std::vector<float>{mine}, gathered);
    EXPECT_EQ(gathered, (std::vector<float>{1, 10}));
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

}  // namespace
}  // namespace shoal::test
