// shoal-bench as its users run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "shoal/runtime/version.h"
#include "support/command.h"

namespace shoal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Arguments = std::vector<std::string>;

CommandResult bench(int ranks, const Arguments& arguments, const Arguments& launcher = {}) {
  Arguments argv{SHOALRUN, "-n", std::to_string(ranks), "--timeout", "100s"};
  argv.insert(argv.end(), launcher.begin(), launcher.end());
  argv.insert(argv.end(), {"--", SHOAL_BENCH, "--seconds", "0.001"});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_command(argv);
}

nlohmann::json rows_of(int ranks, Arguments arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const auto result = bench(ranks, arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return nlohmann::json::parse(result.out)["rows"];
}

void expect_checked(int ranks, const Arguments& arguments) {
  Arguments all = arguments;
  all.emplace_back("--check");
  const auto result = bench(ranks, all);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("results checked"));
}

// ---- Results --------------------------------------------------------------------------------------------

TEST(ShoalBench, EveryOperationIsRightAtSizesThatDivideAndThatDoNot) {
  for (const int ranks : {1, 2, 3}) {
    SCOPED_TRACE(ranks);
    for (const std::string memory : {"private", "heap"})
      expect_checked(ranks, {"--sizes", "12,24,100,101,336,340,4K,4100,10007,64K,1M", "--memory", memory});
  }
}

TEST(ShoalBench, EveryTypeIsRight) {
  for (const std::string type : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "bf16", "f16"}) {
    SCOPED_TRACE(type);
    for (const std::string op : {"sum", "mean", "prod", "min"})
      expect_checked(
          3, {"--op", "reduce,all_reduce,reduce_scatter", "--sizes", "24,1000,10K", "--dtype", type, "--redop", op});
    expect_checked(3, {"--op", "broadcast,all_gather,all_to_all,gather,scatter", "--sizes", "24,10K", "--dtype", type});
  }
  expect_checked(2, {"--sizes", "24,10K", "--dtype", "bool", "--redop", "bxor"});
}

TEST(ShoalBench, InPlaceFormsAreRight) {
  for (const int ranks : {1, 2, 3})
    for (const std::string memory : {"private", "heap"})
      expect_checked(ranks, {"--op", "all_reduce,reduce_scatter,all_gather", "--in-place", "--sizes", "12,100,10007,1M",
                             "--memory", memory});
}

TEST(ShoalBench, RingIsRightByItsOwnOrder) {
  expect_checked(3,
                 {"--op", "reduce,all_reduce,reduce_scatter,all_gather", "--algorithm", "ring", "--sizes", "12,10007"});
}

// ---- What bytes are -------------------------------------------------------------------------------------

std::uint64_t total(const nlohmann::json& sent) {
  std::uint64_t sum = 0;
  for (const auto& bytes : sent) sum += bytes.get<std::uint64_t>();
  return sum;
}

TEST(ShoalBench, BytesAreThoseOfTheWholeVector) {
  constexpr std::uint64_t kBytes = 12288;  // 4,096 for each of 3 ranks.
  nlohmann::json sent;
  for (const auto& row : rows_of(3, {"--sizes", "12K"})) {
    const std::string op = row["op"];
    EXPECT_EQ(row["bytes"], op == "barrier" ? 0 : kBytes);
    EXPECT_EQ(row["count"], op == "barrier" ? 0 : kBytes / 4);
    sent[op] = row["sent"];
  }
  EXPECT_EQ(total(sent["barrier"]), 0U);
  EXPECT_EQ(total(sent["broadcast"]), 2 * kBytes);  // To each of the two others.
  EXPECT_EQ(total(sent["gather"]), kBytes / 3 * 2);
  EXPECT_EQ(total(sent["scatter"]), kBytes / 3 * 2);
  // What each rank starts from, or ends with, less its own third.
  EXPECT_EQ(sent["all_gather"], (nlohmann::json{8192, 8192, 8192}));
  EXPECT_EQ(sent["all_to_all"], (nlohmann::json{8192, 8192, 8192}));
  EXPECT_EQ(rows_of(3, {"--op", "reduce_scatter", "--sizes", "12K", "--algorithm", "pairwise"})[0]["sent"],
            (nlohmann::json{8192, 8192, 8192}));
  EXPECT_EQ(rows_of(3, {"--op", "all_reduce", "--sizes", "12K", "--algorithm", "ring"})[0]["sent"],
            (nlohmann::json{16384, 16384, 16384}));
}

TEST(ShoalBench, AlgorithmIsTheOneThatRan) {
  EXPECT_EQ(rows_of(2, {"--op", "all_reduce", "--sizes", "8", "--algorithm", "ring"})[0]["algorithm"], "ring");
  EXPECT_EQ(rows_of(2, {"--op", "all_reduce", "--sizes", "8", "--algorithm", "recursive_doubling"})[0]["algorithm"],
            "recursive_doubling");
  EXPECT_NE(rows_of(2, {"--op", "all_reduce", "--sizes", "8"})[0]["algorithm"], "auto");
}

// ---- Formats --------------------------------------------------------------------------------------------

TEST(ShoalBench, PlainIsThreeFieldsALineAndNothingElse) {
  for (const int ranks : {1, 2, 3}) {
    const auto result = bench(ranks, {"--op", "all", "--sizes", "64,1K", "--format", "plain"});
    EXPECT_EQ(result.exit_code, 0);
    std::istringstream lines(result.out);
    std::vector<std::string> heads;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_THAT(line, MatchesRegex("[a-z_]+ [0-9]+ [0-9]+\\.[0-9][0-9][0-9]"));
      heads.push_back(line.substr(0, line.rfind(' ')));
    }
    Arguments expected{"barrier 0"};
    for (const std::string op :
         {"broadcast", "reduce", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "gather", "scatter"})
      for (const std::string size : {"64", "1024"}) expected.push_back(op + ' ' + size);
    EXPECT_EQ(heads, expected);
  }
}

TEST(ShoalBench, RunAloneIsAWorldOfOne) {
  const auto result = run_command({SHOAL_BENCH, "--op", "all_reduce,gather", "--sizes", "4,1K", "--seconds", "0.001",
                                   "--memory", "heap", "--check", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["machine"]["ranks"], 1);
  for (const auto& row : json["rows"]) EXPECT_EQ(row["sent"], nlohmann::json{0});
}

TEST(ShoalBench, SizesLeftOutAreToldOnce) {
  const auto result = bench(3, {"--op", "reduce", "--sizes", "8,12", "--format", "plain"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, MatchesRegex("reduce 12 [0-9.]+\n"));
  EXPECT_THAT(result.err,
              HasSubstr("shoal-bench: note: size 8 is left out: less than one element of f32 for each of 3 ranks\n"));
}

// ---- Refusals -------------------------------------------------------------------------------------------

std::ptrdiff_t times_in(const std::string& text, const std::string& part) {
  std::ptrdiff_t times = 0;
  for (std::size_t place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++times;
  return times;
}

void expect_refused_once(const CommandResult& result, const std::string& message) {
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(times_in(result.err, "shoal-bench: "), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("shoal-bench: " + message));
}

TEST(ShoalBench, WhatCannotBeIsOneErrorNotOneARank) {
  expect_refused_once(bench(3, {"--redop", "band"}), "--redop band is not defined for --dtype f32\n");
  expect_refused_once(bench(3, {"--op", "scatter", "--in-place"}), "--in-place: scatter has no such form");
  expect_refused_once(bench(3, {"--op", "broadcast", "--algorithm", "ring"}), "--algorithm ring: ");
  expect_refused_once(bench(3, {"--frobnicate"}), "");
  expect_refused_once(bench(3, {"--op", "all_reduce", "--redop", "mean", "--dtype", "f16", "--algorithm", "ring"}),
                      "--algorithm ring: ");
}

TEST(ShoalBench, HeapThatIsTooSmallIsOneErrorWithTheSizes) {
  const auto result = bench(3, {"--op", "reduce", "--sizes", "64M", "--memory", "heap"}, {"--heap", "2M"});
  expect_refused_once(result, "--memory heap: the buffers take 67108864 + 67108864 bytes a rank (128.0 MiB): ");
  EXPECT_THAT(result.err, HasSubstr("of 2097152 free; shoalrun --heap SIZE makes it larger"));
  EXPECT_EQ(bench(3, {"--op", "reduce", "--sizes", "512K", "--memory", "heap"}, {"--heap", "2M"}).exit_code, 0);
}

TEST(ShoalBench, TellsItsVersion) {
  EXPECT_EQ(run_command({SHOAL_BENCH, "--version"}).out, "shoal-bench " + std::string(kVersion) + "\n");
}

}  // namespace
}  // namespace shoal::test
