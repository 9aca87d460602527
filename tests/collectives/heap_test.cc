// Buffers in the shared heap give the bits that private memory gives, also where ranks, or the two buffers of one rank,
// differ in where they lie.

#include <memory_resource>

#include "reduction_forms.h"
#include "support/refuse_copying.h"

namespace shoal::test {
namespace {

/// Where this rank's buffers of one call lie.
struct Memory {
  std::pmr::memory_resource* in;
  std::pmr::memory_resource* out;
};

/// All private; all in the heap; one buffer in each; and ranks that differ.
std::vector<Memory> places(Session& session) {
  auto* const heap = session.heap();
  auto* const own = std::pmr::new_delete_resource();
  auto* const by_rank = session.world().rank() % 2 == 0 ? heap : own;
  return {{own, own}, {heap, heap}, {heap, own}, {own, heap}, {by_rank, by_rank}};
}

template <class T>
std::vector<T> plain(std::span<const T> values) {
  return {values.begin(), values.end()};
}

template <class T>
std::pmr::vector<T> in_memory(std::pmr::memory_resource* memory, const std::vector<T>& values) {
  return {values.begin(), values.end(), memory};
}

template <class T>
class Case {
 public:
  Case(Session& session, ReduceOp op, std::size_t count)
      : session_(session), comm_(session.world()), op_(op), in_(values_of<T>(comm_.rank(), count)) {}

  /// Of one operation by each of its algorithms: `call(in, out memory, options)` gives what the rank ends with, and
  /// `expected(whole)` what it should be.
  template <class Expected, class Call>
  void expect_same(Operation operation, Expected&& expected, Call&& call) {
    for (const Algorithm algorithm : ways_to(operation)) {
      if (!can<T>(algorithm, op_) || !takes(algorithm, operation, comm_.size(), in_.size(), sizeof(T))) continue;
      SCOPED_TRACE(std::string(name(operation)) + " by " + std::string(name(algorithm)));
      const std::vector<T> serial = expected(expected_by<T>(algorithm, op_, comm_.size(), in_.size()));
      for (const Memory& memory : places(session_)) {
        auto in = in_memory(memory.in, in_);
        EXPECT_TRUE(same_bits(serial, call(in, memory.out, Options{.algorithm = algorithm})));
      }
    }
  }

  void expect_all_reduce() {
    const auto whole = [](const std::vector<T>& values) { return values; };
    expect_same(Operation::all_reduce, whole, [&](auto& in, auto*, Options options) {
      all_reduce(comm_, in, op_, options);
      return plain<T>(in);
    });
    expect_same(Operation::all_reduce, whole, [&](auto& in, auto* memory, Options options) {
      auto out = in_memory(memory, blank<T>(in.size()));
      all_reduce(comm_, in, out, op_, options);
      return plain<T>(out);
    });
  }

  void expect_reduce_scatter() {
    const auto chunk = [&](const std::vector<T>& values) { return chunk_of(values, comm_.rank(), comm_.size()); };
    expect_same(Operation::reduce_scatter, chunk,
                [&](auto& in, auto*, Options options) { return plain<T>(reduce_scatter(comm_, in, op_, options)); });
    expect_same(Operation::reduce_scatter, chunk, [&](auto& in, auto* memory, Options options) {
      auto out = in_memory(memory, chunk(blank<T>(in.size())));
      reduce_scatter(comm_, in, out, op_, options);
      return plain<T>(out);
    });
  }

  void expect_reduce() {
    const int root = comm_.size() - 1;
    const auto at_root = [&](const std::vector<T>& values) { return comm_.rank() == root ? values : std::vector<T>{}; };
    expect_same(Operation::reduce, at_root, [&](auto& in, auto* memory, Options options) {
      auto out = in_memory(memory, at_root(blank<T>(in.size())));
      reduce(comm_, in, out, op_, root, options);
      return plain<T>(out);
    });
  }

 private:
  Session& session_;
  Communicator& comm_;
  ReduceOp op_;
  std::vector<T> in_;
};

class Heap : public EveryWorld {};

template <class T>
void expect_bits_of_private_memory(Session& session) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::max}) {
    for (const std::size_t count : {1U, 13U, 1027U, 20'011U, 150'003U}) {
      if (count > 100'000 && op != ReduceOp::sum) continue;  // Several blocks: once is enough.
      SCOPED_TRACE(case_text(count, kDataType<T>, op));
      Case<T> one(session, op, count);
      one.expect_all_reduce();
      one.expect_reduce_scatter();
      one.expect_reduce();
    }
  }
}

/// A job for each type, in which `prepare(rank)` comes first.
template <class Prepare>
void expect_bits_of_private_memory_in(int world, Prepare prepare) {
  for_each_type(Types<float, bf16, std::int32_t>{}, [&]<class T>() {
    const auto ranks = run_sessions(world, [&](Session& session) {
      prepare(session.world().rank());
      expect_bits_of_private_memory<T>(session);
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  });
}

TEST_P(Heap, GivesTheBitsOfPrivateMemory) {
  expect_bits_of_private_memory_in(GetParam(), [](int) {});
}

// Where one rank cannot copy out of others' own memory, all stage what is not in the heap.
TEST_P(Heap, GivesTheBitsOfPrivateMemoryWhereOneRankMayNotCopy) {
  expect_bits_of_private_memory_in(GetParam(), [](int rank) {
    if (rank == 1) {
      EXPECT_TRUE(refuse_copying());
    }
  });
}

/// Element i of rank r's vector in turn t.
std::uint32_t element(int rank, std::size_t i, std::uint32_t turn) {
  return turn << 28 | static_cast<std::uint32_t>(rank) << 20 | static_cast<std::uint32_t>(i);
}

std::vector<std::uint32_t> elements(int rank, std::size_t count, std::uint32_t turn) {
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element(rank, i, turn);
  return values;
}

// Buffers are written again as soon as a call is over: whoever still had to read or write them would be found out.
void expect_moves_of_private_memory(Session& session) {
  Communicator& comm = session.world();
  const int me = comm.rank();
  const auto p = static_cast<std::size_t>(comm.size());
  for (const std::size_t chunk : {1U, 3'001U, 40'009U, 70'001U}) {
    const std::size_t whole = chunk * p;
    for (const Memory& memory : places(session)) {
      std::pmr::vector<std::uint32_t> in(whole, memory.in);
      std::pmr::vector<std::uint32_t> out(whole, memory.out);
      for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::slots, Algorithm::direct}) {
        SCOPED_TRACE("chunks of " + std::to_string(chunk) + ", " + std::string(name(algorithm)));
        for (std::uint32_t turn = 0; turn < 3; ++turn) {
          const Options options{.algorithm = algorithm};
          std::vector<std::uint32_t> expected;
          const auto mine = elements(me, whole, turn);

          std::ranges::copy(mine, in.begin());
          all_gather(comm, std::span(in).first(chunk), out, options);
          for (int rank = 0; rank < comm.size(); ++rank)
            for (std::size_t i = 0; i < chunk; ++i) expected.push_back(element(rank, i, turn));
          std::ranges::fill(in, 0);
          EXPECT_TRUE(same_bits(expected, plain<std::uint32_t>(out)));

          std::ranges::copy(mine, in.begin());
          all_to_all(comm, in, out, options);
          expected.clear();
          for (int rank = 0; rank < comm.size(); ++rank)
            for (std::size_t i = 0; i < chunk; ++i)
              expected.push_back(element(rank, static_cast<std::size_t>(me) * chunk + i, turn));
          std::ranges::fill(in, 0);
          EXPECT_TRUE(same_bits(expected, plain<std::uint32_t>(out)));

          // By channels, which read in place what they cannot hold: chunks of the last size.
          if (algorithm == Algorithm::automatic) {
            std::ranges::copy(mine, in.begin());
            const bool at_root = me == 0;
            const auto chunk_of_in = std::span(in).first(chunk);
            gather(comm, chunk_of_in, std::span(out).first(at_root ? whole : 0));
            std::ranges::fill(in, 0);
            expected.clear();
            for (int rank = 0; rank < comm.size(); ++rank)
              for (std::size_t i = 0; i < chunk; ++i) expected.push_back(element(rank, i, turn));
            if (at_root) {
              EXPECT_TRUE(same_bits(expected, plain<std::uint32_t>(out)));
            }

            std::ranges::copy(elements(0, whole, turn), in.begin());
            scatter(comm, std::span(in).first(at_root ? whole : 0), std::span(out).first(chunk));
            std::ranges::fill(in, 0);
            expected = elements(0, whole, turn);
            expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(chunk) * me);
            expected.resize(chunk);
            EXPECT_TRUE(same_bits(expected, plain<std::uint32_t>(std::span(out).first(chunk))));

            const int right = (me + 1) % comm.size();
            std::ranges::copy(mine, in.begin());
            exchange(comm, in, right, out, (me + comm.size() - 1) % comm.size());
            std::ranges::fill(in, 0);
            EXPECT_TRUE(
                same_bits(elements((me + comm.size() - 1) % comm.size(), whole, turn), plain<std::uint32_t>(out)));
          }

          if (algorithm == Algorithm::slots) continue;
          std::ranges::copy(mine, in.begin());
          broadcast(comm, in, comm.size() - 1, options);
          expected = elements(comm.size() - 1, whole, turn);
          EXPECT_TRUE(same_bits(expected, plain<std::uint32_t>(in)));
        }
      }
    }
  }
}

TEST_P(Heap, MovesWhatPrivateMemoryMoves) {
  const auto ranks = run_sessions(GetParam(), expect_moves_of_private_memory);
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST_P(Heap, MovesWhatPrivateMemoryMovesWhereNoRankMayCopy) {
  const auto ranks = run_sessions(GetParam(), [](Session& session) {
    EXPECT_TRUE(refuse_copying());
    expect_moves_of_private_memory(session);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

INSTANTIATE_TEST_SUITE_P(Ranks, Heap, testing::Range(2, 6), world_name);

}  // namespace
}  // namespace shoal::test
