// shoal-sim as its users run it: figures by hand, JSON as documented, refusals; and the size that it must manage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "shoal/runtime/version.h"
#include "shoal/simulation.h"
#include "sim/simulated_training.h"
#include "support/command.h"
#include "train/sharded_model.h"

namespace shoal::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

CommandResult shoal_sim(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SHOAL_SIM);
  return run_command(arguments);
}

json json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const CommandResult result = shoal_sim(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

/// One figure of every rank.
std::vector<std::uint64_t> column(const json& result, const std::string& figure) {
  std::vector<std::uint64_t> values;
  for (const json& rank : result["per_rank"]) values.push_back(rank[figure]);
  return values;
}
using Column = std::vector<std::uint64_t>;

TEST(ShoalSim, TellsTheBytesOfUnevenChunksRankByRank) {
  // 10 floats over 4 ranks, chunks of 12, 12, 8 and 8 bytes: the example of docs/algorithms.md.
  const json result = json_of({"all_reduce", "--world", "4", "--bytes", "40", "--algorithm", "pairwise"});
  EXPECT_EQ(result["op"], "all_reduce");
  EXPECT_EQ(result["algorithm"], "pairwise");
  EXPECT_EQ(result["world"], 4);
  EXPECT_EQ(result["bytes"], 40);
  EXPECT_EQ(column(result, "rank"), (Column{0, 1, 2, 3}));
  EXPECT_EQ(column(result, "sent"), (Column{56, 60, 64, 60}));
  EXPECT_EQ(column(result, "received"), (Column{64, 64, 56, 56}));
  EXPECT_EQ(column(result, "messages"), (Column{6, 6, 6, 6}));
  EXPECT_EQ(column(result, "steps"), (Column{6, 6, 6, 6}));
  EXPECT_EQ(result["closed_form_matches"], true);
}

TEST(ShoalSim, TellsWhichAlgorithmRanAndHowLongThatTakes) {
  // Places 0 .. 6 send to 3, 2, 1, 0, 0, 0, 0 others. 1 KiB at 10 GB/s and 120 ns on the way, three in a row at the
  // root: 3 * 102 ns + 120 ns; the last place hears it later, from place 2.
  const json result = json_of({"broadcast", "--world", "7", "--bytes", "1K"});
  EXPECT_EQ(result["algorithm"], "binomial");
  EXPECT_EQ(column(result, "sent"), (Column{3072, 2048, 1024, 0, 0, 0, 0}));
  EXPECT_EQ(column(result, "received"), (Column{0, 1024, 1024, 1024, 1024, 1024, 1024}));
  EXPECT_EQ(column(result, "steps"), (Column{3, 3, 2, 1, 1, 1, 1}));
  EXPECT_NEAR(result["virtual_s"].get<double>(), 548e-9, 2e-9);  // Places 2, then 6: 2 * 102 + 120, then 102 + 120.
}

TEST(ShoalSim, RunsEveryOperationAndItsClosedFormMatches) {
  for (const std::string op : {"broadcast", "reduce", "all_reduce", "reduce_scatter", "all_gather", "gather", "scatter",
                               "scatter_cyclic", "all_to_all"}) {
    for (const char* const bytes : {"0", "4", "1000", "1M"})
      EXPECT_EQ(json_of({op, "--world", "13", "--bytes", bytes})["closed_form_matches"], true) << op << ' ' << bytes;
  }
  EXPECT_EQ(json_of({"barrier", "--world", "13"})["closed_form_matches"], true);
}

TEST(ShoalSim, TableJoinsRanksThatAreAlike) {
  const CommandResult result = shoal_sim({"all_gather", "--world", "100", "--bytes", "400K", "--algorithm", "ring"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("all_gather by ring, 409600 bytes, 100 ranks"));
  EXPECT_THAT(result.out, HasSubstr("0-99            405504            405504          99          99"));
  EXPECT_THAT(result.out, HasSubstr("closed form matches on every rank"));
}

TEST(ShoalSimTrain, TellsBytesByOperationAndMemoryByStage) {
  // 3-2-1: layers of 8 and 3 parameters. Over 3 ranks the chunks are 3, 3, 2 and 1, 1, 1.
  const std::vector<std::string> arguments{"train", "--world", "3", "--dims", "3,2,1", "--stage"};
  const auto at_stage = [&](const std::string& stage) {
    auto with_stage = arguments;
    with_stage.push_back(stage);
    return json_of(with_stage);
  };
  const json result = at_stage("2");
  EXPECT_EQ(result["parameters"], 11);
  EXPECT_EQ(result["closed_form_matches"], true);
  EXPECT_EQ(result["per_rank"][0]["by_op"]["reduce_scatter"], json({{"calls", 2}, {"sent", 28}, {"received", 32}}));
  EXPECT_EQ(result["per_rank"][2]["by_op"]["reduce_scatter"], json({{"calls", 2}, {"sent", 32}, {"received", 24}}));
  EXPECT_EQ(result["per_rank"][1]["by_op"]["all_gather"], json({{"calls", 2}, {"sent", 32}, {"received", 28}}));
  EXPECT_EQ(column(result, "parameter_bytes"), (Column{44, 44, 44}));
  EXPECT_EQ(column(result, "gradient_bytes"), (Column{16, 16, 12}));
  EXPECT_EQ(column(result, "optimizer_bytes"), (Column{32, 32, 24}));

  EXPECT_EQ(column(at_stage("0"), "optimizer_bytes"), (Column{88, 88, 88}));
  EXPECT_EQ(column(at_stage("1"), "gradient_bytes"), (Column{44, 44, 44}));
  EXPECT_EQ(column(at_stage("1"), "optimizer_bytes"), (Column{32, 32, 24}));
  EXPECT_EQ(column(at_stage("3"), "parameter_bytes"), (Column{16, 16, 12}));
  // Stage 3 gathers every layer twice.
  EXPECT_EQ(at_stage("3")["per_rank"][1]["by_op"]["all_gather"], json({{"calls", 4}, {"sent", 64}, {"received", 56}}));
}

TEST(ShoalSimTrain, MemoryIsWhatTheTrainerTakes) {
  for (int stage = 0; stage <= 3; ++stage) {
    const sim::TrainingShape shape{.dims = {13, 7, 3}, .stage = stage, .ranks = 4};
    const auto predicted = sim::simulate_training(shape);
    const auto run = simulate(shape.ranks, [&](Communicator& comm) {
      train::MemoryAccounts memory;
      train::Transport transport(comm, {});
      const train::Layout layout(shape.dims);
      const train::ShardedModel model(layout, {.stage = stage}, transport, memory);
      const auto& figures = predicted.ranks[static_cast<std::size_t>(comm.rank())];
      EXPECT_EQ(memory[train::MemoryUse::parameter].bytes(), figures.parameter_bytes) << "stage " << stage;
      EXPECT_EQ(memory[train::MemoryUse::gradient].bytes(), figures.gradient_bytes) << "stage " << stage;
      EXPECT_EQ(memory[train::MemoryUse::optimizer].bytes(), figures.optimizer_bytes) << "stage " << stage;
    });
    EXPECT_TRUE(run.ok()) << run;
  }
}

TEST(ShoalSim, WrongCommandLineGivesOneMessageThatNamesItAndExit2) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "OP"},
      {{"all_gathr", "--world", "4", "--bytes", "4"}, "all_gathr"},
      {{"all_reduce", "--bytes", "4"}, "--world"},
      {{"all_reduce", "--world", "4"}, "--bytes is required"},
      {{"all_reduce", "--world", "0", "--bytes", "4"}, "--world"},
      {{"all_reduce", "--world", "4", "--bytes", "6"}, "--bytes 6: not a multiple of 4"},
      {{"all_reduce", "--world", "4", "--bytes", "4KB"}, "--bytes 4KB"},
      {{"all_reduce", "--world", "4", "--bytes", "4", "--algorithm", "fast"}, "--algorithm fast"},
      {{"all_reduce", "--world", "4", "--bytes", "4", "--algorithm", "bruck"}, "--algorithm bruck"},
      {{"all_reduce", "--world", "4", "--bytes", "4", "--format", "xml"}, "xml"},
      {{"all_reduce", "--world", "4", "--bytes", "4", "--stage", "2"}, "--stage"},
      {{"barrier", "--world", "4", "--bytes", "4"}, "--bytes 4"},
      {{"train", "--world", "4", "--dims", "4"}, "--dims 4"},
      {{"train", "--world", "4", "--dims", "4,x"}, "--dims 4,x"},
      {{"train", "--world", "4", "--dims", "4,2", "--stage", "4"}, "--stage"},
      {{"train", "--world", "4", "--dims", "4,2", "--bytes", "4"}, "--bytes"}};
  for (const auto& [arguments, named] : cases) {
    const CommandResult result = shoal_sim(arguments);
    EXPECT_EQ(result.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, testing::MatchesRegex("shoal-sim: [^\n]+\n"));
    EXPECT_THAT(result.err, HasSubstr(named));
  }
}

TEST(ShoalSim, HelpAndVersionAreAnswersNotErrors) {
  EXPECT_EQ(shoal_sim({"--version"}).out, "shoal-sim " + std::string(kVersion) + "\n");
  const CommandResult help = shoal_sim({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--world"));
}

TEST(ShoalSim, AddressesThatAreNotToBeHadAreNamed) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "takes terabytes of addresses by itself";
#endif
  const auto limited = [](const std::string& kibibytes, const std::string& arguments) {
    return run_command({"sh", "-c", "ulimit -v " + kibibytes + "; exec '" SHOAL_SIM "' " + arguments});
  };
  // 1.5 GiB are for the heap and the staging of a job of one rank; of 4096 stacks of 256 KiB not all fit into the rest.
  const CommandResult stacks = limited("2100000", "barrier --world 4096");
  EXPECT_EQ(stacks.exit_code, 1);
  EXPECT_EQ(stacks.out, "");
  EXPECT_THAT(stacks.err,
              testing::MatchesRegex("shoal-sim: simulate: no stack for rank [0-9]+ of 4096: 262144 bytes of "
                                    "addresses are not to be had; see ulimit -v, [^\n]+\n"));
  // Within a rank's call: told by the one whose it is, not by those who hear of it.
  const CommandResult scratch = limited("2600000", "all_reduce --world 64 --bytes 64M --algorithm recursive_doubling");
  EXPECT_EQ(scratch.exit_code, 1);
  EXPECT_EQ(scratch.err, "shoal-sim: phantom buffer: no 67108864 bytes of addresses: Cannot allocate memory\n");
  // What 4096 ranks take must fit into 8 GiB.
  EXPECT_EQ(limited("8388608", "all_reduce --world 4096 --bytes 1G --algorithm ring").exit_code, 0);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

TEST(ShoalSim, FourThousandRanksAndAGibibyteTakeLessThan20SecondsAnd4GiB) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a figure of optimised builds";
#endif
  rusage before{};
  getrusage(RUSAGE_CHILDREN, &before);
  const json result = json_of({"all_reduce", "--world", "4096", "--bytes", "1G", "--algorithm", "ring"});
  rusage after{};
  getrusage(RUSAGE_CHILDREN, &after);
  // Each half sends 4095/4096 of it in 4095 messages.
  EXPECT_EQ(column(result, "sent"), Column(4096, 2 * (std::uint64_t{1} << 18) * 4095));
  EXPECT_EQ(column(result, "messages"), Column(4096, 2 * 4095));
  EXPECT_EQ(result["closed_form_matches"], true);
  EXPECT_LT(seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) - seconds(before.ru_stime),
            20);
  EXPECT_LT(after.ru_maxrss, 4 << 20);  // KiB.
}

}  // namespace
}  // namespace shoal::test
