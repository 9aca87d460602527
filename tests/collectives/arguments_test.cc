// What a caller can get wrong is refused: one Error invalid_argument, naming the call and the argument, on the rank
// that made the mistake; the others, who may be waiting for it, get `broken` with the same text.

#include "refusals.h"

namespace shoal::test {
namespace {

TEST(Roots, OutsideTheCommunicatorAreRefusedEvenForNoData) {
  std::vector<float> none;
  expect_bad_root("broadcast", [&](Communicator& comm, int root) { broadcast(comm, none, root); });
  expect_bad_root("reduce", [&](Communicator& comm, int root) { reduce(comm, none, none, ReduceOp::sum, root); });
  expect_bad_root("gather", [&](Communicator& comm, int root) { gather(comm, none, none, root); });
  expect_bad_root("scatter", [&](Communicator& comm, int root) { scatter(comm, none, none, root); });
  expect_bad_root("scatter_cyclic", [&](Communicator& comm, int root) { scatter_cyclic(comm, none, none, root); });
}

std::vector<float> some(std::size_t count) { return std::vector<float>(count, 1.0F); }

TEST(Counts, OfOneRankThatDoNotFitAreRefusedNamingTheArgument) {
  const auto extra = [](Communicator& comm, std::size_t count) { return count + (comm.rank() == 1 ? 1 : 0); };
  expect_refused(3, 1, "all_reduce: out has 11 elements, not 10: it receives as many as in has",
                 [&](Communicator& comm) {
                   auto out = some(extra(comm, 10));
                   all_reduce(comm, some(10), out, ReduceOp::sum);
                 });
  expect_refused(3, 1, "reduce_scatter: out has 4 elements, not 3: the size of this rank's chunk of in",
                 [&](Communicator& comm) {
                   auto out = some(comm.rank() == 0 ? 4 : extra(comm, 3));
                   reduce_scatter(comm, some(10), out, ReduceOp::sum);
                 });
  expect_refused(3, 1, "reduce: out has 11 elements, not 10: at the root it receives as many as in has",
                 [&](Communicator& comm) {
                   auto out = some(comm.rank() == 1 ? 11 : 0);
                   reduce(comm, some(10), out, ReduceOp::sum, 1);
                 });
  expect_refused(3, 1, "reduce: out has 1 element, not 0: it is used at the root only, which is rank 0",
                 [&](Communicator& comm) {
                   auto out = some(comm.rank() == 0 ? 10 : extra(comm, 0));
                   reduce(comm, some(10), out, ReduceOp::sum, 0);
                 });
  expect_refused(3, 1, "all_gather: in has 4 elements, not 3: the size of this rank's chunk of out",
                 [&](Communicator& comm) {
                   auto out = some(10);
                   all_gather(comm, some(comm.rank() == 0 ? 4 : extra(comm, 3)), out);
                 });
  expect_refused(3, 1, "gather: in has 4 elements, not 3: the size of this rank's chunk of out",
                 [&](Communicator& comm) {
                   auto out = some(comm.rank() == 1 ? 10 : 0);
                   gather(comm, some(comm.rank() == 0 ? 4 : extra(comm, 3)), out, 1);
                 });
  expect_refused(3, 1, "gather: out has 1 element, not 0: it is used at the root only, which is rank 2",
                 [&](Communicator& comm) {
                   auto out = some(comm.rank() == 2 ? 9 : extra(comm, 0));
                   gather(comm, some(3), out, 2);
                 });
  expect_refused(3, 1, "scatter: out has 4 elements, not 3: the size of this rank's chunk of in",
                 [&](Communicator& comm) {
                   auto out = some(comm.rank() == 0 ? 4 : extra(comm, 3));
                   scatter(comm, some(comm.rank() == 1 ? 10 : 0), out, 1);
                 });
  expect_refused(3, 1, "scatter_cyclic: in has 1 element, not 0: it is used at the root only, which is rank 2",
                 [&](Communicator& comm) {
                   auto out = some(3);
                   scatter_cyclic(comm, some(comm.rank() == 2 ? 9 : extra(comm, 0)), out, 2);
                 });
  expect_refused(3, 1, "all_to_all: out has 10 elements, not 9: the size of this rank's chunk of in, from every rank",
                 [&](Communicator& comm) {
                   auto out = some(comm.rank() == 0 ? 12 : extra(comm, 9));
                   all_to_all(comm, some(10), out);
                 });
  expect_refused(3, 1, "exchange: in has 4 elements, not 3: it receives what this rank sends to itself",
                 [&](Communicator& comm) {
                   auto in = some(extra(comm, 3));
                   exchange(comm, some(3), comm.rank(), in, comm.rank());
                 });
}

TEST(Overlap, OfInputAndOutputIsRefusedExceptTheOwnChunkOfAllGather) {
  // 8 elements over 2: rank 0 owns [0, 4), rank 1 [4, 8).
  std::vector<float> data = some(16);
  const auto at = [&](std::size_t begin, std::size_t count) { return std::span(data).subspan(begin, count); };
  const std::string text = "in and out overlap";
  const auto refused_on_both = [&](const std::string& operation, const Body& body) {
    const auto ranks = run_ranks(2, [&](Communicator& comm) {
      try {
        body(comm);
        ADD_FAILURE() << operation << " not refused";
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), "rank " + std::to_string(comm.rank()) + ": " + operation + ": " + text);
      }
    });
    EXPECT_TRUE(ranks.checks_passed()) << ranks;
  };
  refused_on_both("all_reduce", [&](Communicator& comm) { all_reduce(comm, at(0, 8), at(0, 8), ReduceOp::sum); });
  refused_on_both("all_reduce", [&](Communicator& comm) { all_reduce(comm, at(0, 8), at(7, 8), ReduceOp::sum); });
  refused_on_both("all_reduce", [&](Communicator& comm) { all_reduce(comm, at(7, 8), at(0, 8), ReduceOp::sum); });
  refused_on_both("reduce_scatter", [&](Communicator& comm) {
    reduce_scatter(comm, at(0, 8), at(comm.rank() == 0 ? 0 : 4, 4), ReduceOp::sum);
  });
  refused_on_both("all_gather",
                  [&](Communicator& comm) { all_gather(comm, at(comm.rank() == 0 ? 4 : 0, 4), at(0, 8)); });
  refused_on_both("all_gather",
                  [&](Communicator& comm) { all_gather(comm, at(comm.rank() == 0 ? 1 : 5, 4), at(0, 8)); });
  refused_on_both("all_to_all", [&](Communicator& comm) { all_to_all(comm, at(0, 8), at(0, 8)); });
  refused_on_both("exchange",
                  [&](Communicator& comm) { exchange(comm, at(0, 8), 1 - comm.rank(), at(4, 8), 1 - comm.rank()); });
  expect_refused(2, 1, "reduce: " + text, [&](Communicator& comm) {
    reduce(comm, at(0, 8), comm.rank() == 1 ? at(3, 8) : at(0, 0), ReduceOp::sum, 1);
  });
  expect_refused(2, 1, "gather: " + text,
                 [&](Communicator& comm) { gather(comm, at(4, 4), comm.rank() == 1 ? at(0, 8) : at(0, 0), 1); });
  expect_refused(2, 1, "scatter: " + text,
                 [&](Communicator& comm) { scatter(comm, comm.rank() == 1 ? at(0, 8) : at(0, 0), at(0, 4), 1); });
}

TEST(Overlap, OfNeighboursThatOnlyTouchIsNone) {
  const auto ranks = run_ranks(2, [](Communicator& comm) {
    std::vector<float> data(16, 1.0F);
    all_reduce(comm, std::span(data).first(8), std::span(data).last(8), ReduceOp::sum);
    EXPECT_EQ(data[7], 1.0F);
    EXPECT_EQ(data[8], 2.0F);
    all_reduce(comm, std::span(data).last(8), std::span(data).first(8), ReduceOp::sum);
    EXPECT_EQ(data[7], 4.0F);
  });
  EXPECT_TRUE(ranks.all_passed()) << ranks;
}

TEST(Algorithms, ThatCannotDoWhatIsAskedAreRefusedByName) {
  const auto ring_on_one = [](Communicator& comm) {
    return Options{.algorithm = comm.rank() == 1 ? Algorithm::ring : Algorithm::automatic};
  };
  expect_refused(3, 1, "broadcast: algorithm ring is not one of: binomial, pipelined, direct", [&](Communicator& comm) {
    auto data = some(3);
    broadcast(comm, data, 1, ring_on_one(comm));
  });
  expect_refused(2, 1,
                 "all_reduce: algorithm ring cannot form the mean of i16, which needs a wider sum than travels; "
                 "pairwise can",
                 [&](Communicator& comm) {
                   std::vector<std::int16_t> data(3);
                   all_reduce(comm, data, ReduceOp::mean, ring_on_one(comm));
                 });
}

TEST(Algorithms, ThatPassPartialResultsOnAreRefusedForWhatTheTypeCannotHold) {
  const auto refusal = [](Algorithm algorithm, std::string_view what, std::string_view kind) {
    return "algorithm " + std::string(name(algorithm)) + " cannot form the " + std::string(what) +
           ", which needs a wider " + std::string(kind) + " than travels; pairwise can";
  };
  for (const Algorithm algorithm : {Algorithm::recursive_doubling, Algorithm::recursive_halving, Algorithm::binomial}) {
    expect_refused(2, 1, "all_reduce: " + refusal(algorithm, "mean of u8", "sum"), [&](Communicator& comm) {
      std::vector<std::uint8_t> data(3);
      all_reduce(comm, data, comm.rank() == 1 ? ReduceOp::mean : ReduceOp::sum, {.algorithm = algorithm});
    });
    expect_refused(2, 1, "all_reduce: " + refusal(algorithm, "sum of bf16", "sum"), [&](Communicator& comm) {
      std::vector<bf16> data(3);
      all_reduce(comm, data, comm.rank() == 1 ? ReduceOp::sum : ReduceOp::max, {.algorithm = algorithm});
    });
    expect_refused(2, 1, "all_reduce: " + refusal(algorithm, "prod of f16", "product"), [&](Communicator& comm) {
      std::vector<f16> data(3);
      all_reduce(comm, data, comm.rank() == 1 ? ReduceOp::prod : ReduceOp::min, {.algorithm = algorithm});
    });
  }
}

TEST(ReductionsOfBits, AreRefusedForFloatingPointByName) {
  for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}) {
    expect_refused(2, 1, "reduce_scatter: reduction " + std::string(name(op)) + " is not defined for f64",
                   [&](Communicator& comm) {
                     std::vector<double> data(3);
                     reduce_scatter(comm, data, comm.rank() == 1 ? op : ReduceOp::sum);
                   });
  }
}

TEST(Peers, ThatAreThisRankOrNoneAreRefused) {
  for (const int peer : {-1, 2, 1000}) {
    const std::string none = std::to_string(peer) + " is not a rank of this communicator (size 2)";
    expect_refused(2, 1, "send: to " + none, [&](Communicator& comm) { send(comm, some(1), comm.rank() ? peer : 1); });
    expect_refused(2, 1, "recv: from " + none, [&](Communicator& comm) {
      auto in = some(1);
      recv(comm, in, comm.rank() ? peer : 1);
    });
    expect_refused(2, 1, "exchange: to " + none, [&](Communicator& comm) {
      auto in = some(1);
      exchange(comm, some(1), comm.rank() ? peer : 1, in, 1 - comm.rank());
    });
    expect_refused(2, 1, "exchange: from " + none, [&](Communicator& comm) {
      auto in = some(1);
      exchange(comm, some(1), 1 - comm.rank(), in, comm.rank() ? peer : 1);
    });
  }
  const std::string itself = " is this rank itself: a message to oneself would wait for ever";
  expect_refused(2, 1, "send: to 1" + itself, [&](Communicator& comm) { send(comm, some(1), 1); });
  expect_refused(2, 1, "recv: from 1" + itself, [&](Communicator& comm) {
    auto in = some(1);
    recv(comm, in, 1);
  });
  expect_refused(1, 0, "send: to 0" + itself, [&](Communicator& comm) { send(comm, some(1), 0); });
  expect_refused(2, 1, "exchange: to is rank 1 and from is rank 0: only both or neither can be this rank itself",
                 [&](Communicator& comm) {
                   auto in = some(1);
                   exchange(comm, some(1), 1, in, comm.rank() == 0 ? 1 : 0);
                 });
}

TEST(NoData, IsTakenFromNowhereByEveryOperation) {
  for (int world = 1; world <= 5; ++world) {
    const auto ranks = run_ranks(world, [](Communicator& comm) {
      const Traffic before = comm.traffic();
      for (int round = 0; round < 3; ++round) {
        std::span<float> none;
        const int root = round % comm.size();
        for (const Algorithm algorithm : ways_to(Operation::barrier)) barrier(comm, {.algorithm = algorithm});
        for (const Algorithm algorithm : ways_to(Operation::broadcast))
          broadcast(comm, none, root, {.algorithm = algorithm});
        for (const Algorithm algorithm : ways_to(Operation::all_reduce)) {
          all_reduce(comm, none, ReduceOp::sum, {.algorithm = algorithm});
          all_reduce(comm, none, none, ReduceOp::mean, {.algorithm = algorithm});
        }
        for (const Algorithm algorithm : ways_to(Operation::reduce_scatter)) {
          EXPECT_TRUE(reduce_scatter(comm, none, ReduceOp::max, {.algorithm = algorithm}).empty());
          reduce_scatter(comm, none, none, ReduceOp::min, {.algorithm = algorithm});
        }
        for (const Algorithm algorithm : ways_to(Operation::reduce))
          reduce(comm, none, none, ReduceOp::prod, root, {.algorithm = algorithm});
        for (const Algorithm algorithm : ways_to(Operation::all_gather))
          all_gather(comm, none, none, {.algorithm = algorithm});
        for (const Algorithm algorithm : ways_to(Operation::gather))
          gather(comm, none, none, root, {.algorithm = algorithm});
        for (const Algorithm algorithm : ways_to(Operation::scatter))
          scatter(comm, none, none, root, {.algorithm = algorithm});
        scatter_cyclic(comm, none, none, root);
        for (const Algorithm algorithm : ways_to(Operation::all_to_all))
          all_to_all(comm, none, none, {.algorithm = algorithm});
        exchange(comm, none, (comm.rank() + 1) % comm.size(), none, (comm.rank() + comm.size() - 1) % comm.size());
        if (comm.size() > 1 && comm.rank() == 0) send(comm, none, 1);
        if (comm.size() > 1 && comm.rank() == 1) recv(comm, none, 0);
      }
      EXPECT_EQ((comm.traffic() - before).sent, 0U);
      EXPECT_EQ((comm.traffic() - before).received, 0U);
    });
    EXPECT_TRUE(ranks.all_passed()) << ranks;
  }
}

TEST(OneRank, WithoutALauncherGetsItsOwnDataAndMovesNothing) {
  const auto ranks = run_sessions(1, [](Session&) {});  // Something else ran before.
  EXPECT_TRUE(ranks.all_passed()) << ranks;
  Session session;
  Communicator& comm = session.world();
  ASSERT_EQ(comm.size(), 1);
  const std::vector<double> in{1.5, -2.0, 1e300};
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::pairwise, Algorithm::ring}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::min, ReduceOp::max, ReduceOp::prod}) {
      std::vector<double> reduced_data(3);
      all_reduce(comm, in, reduced_data, op, {.algorithm = algorithm});
      EXPECT_EQ(reduced_data, in);
      std::vector<double> chunk(3);
      reduce_scatter(comm, in, chunk, op, {.algorithm = algorithm});
      EXPECT_EQ(chunk, in);
      std::vector<double> at_root(3);
      reduce(comm, in, at_root, op, 0, {.algorithm = algorithm});
      EXPECT_EQ(at_root, in);
    }
  }
  const auto expect_copied = [&](auto operation) {
    std::vector<double> out(3);
    operation(out);
    EXPECT_EQ(out, in);
  };
  expect_copied([&](auto& out) { all_gather(comm, in, out); });
  expect_copied([&](auto& out) { gather(comm, in, out); });
  expect_copied([&](auto& out) { scatter(comm, in, out); });
  expect_copied([&](auto& out) { scatter_cyclic(comm, in, out); });
  expect_copied([&](auto& out) { all_to_all(comm, in, out); });
  expect_copied([&](auto& out) { exchange(comm, in, 0, out, 0); });
  const std::vector<std::size_t> counts{3};
  expect_copied([&](auto& out) { all_gather_v(comm, in, out, counts); });
  expect_copied([&](auto& out) { gather_v(comm, in, out, counts); });
  expect_copied([&](auto& out) { scatter_v(comm, in, out, counts); });
  expect_copied([&](auto& out) { all_to_all_v(comm, in, counts, out, counts); });
  for (const Algorithm algorithm : ways_to(Operation::broadcast)) {
    auto data = in;
    broadcast(comm, data, 0, {.algorithm = algorithm});
    EXPECT_EQ(data, in);
  }
  barrier(comm);
  EXPECT_EQ(comm.traffic().sent, 0U);
  EXPECT_EQ(comm.traffic().received, 0U);
}

}  // namespace
}  // namespace shoal::test
