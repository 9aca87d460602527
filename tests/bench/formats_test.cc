// How rows are told, and bandwidths by hand.
#include "bench/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace shoal::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// 4,000 bytes in 2 us, on four ranks.
Row row_of(Operation operation) {
  return {.call = {.operation = operation, .count = 1000},
          .bytes = 4001,
          .algorithm = Algorithm::ring,
          .times = {.seconds = {5e-6, 1e-6, 2e-6, 1.5e-6, 3e-6}, .calls = 7},
          .sent = {10, 40, 30, 20}};
}

TEST(Bandwidth, IsThatOfNcclTests) {
  const auto expect = [](Operation operation, double bus) {
    const auto rate = bandwidth(row_of(operation));
    ASSERT_TRUE(rate);
    EXPECT_DOUBLE_EQ(rate->algorithm, 2.0) << name(operation);
    EXPECT_DOUBLE_EQ(rate->bus, bus) << name(operation);
  };
  expect(Operation::broadcast, 2.0);
  expect(Operation::reduce, 2.0);
  expect(Operation::all_reduce, 3.0);  // 2 * 3/4.
  for (const Operation operation :
       {Operation::reduce_scatter, Operation::all_gather, Operation::all_to_all, Operation::gather, Operation::scatter})
    expect(operation, 1.5);
  EXPECT_FALSE(bandwidth(row_of(Operation::barrier)));
}

TEST(Formats, PlainIsOperationBytesMicroseconds) {
  EXPECT_EQ(plain_line(row_of(Operation::all_gather)), "all_gather 4001 2.000\n");
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Formats, TableLineHasEveryColumn) {
  EXPECT_THAT(
      words(table_line(row_of(Operation::all_reduce))),
      ElementsAre("all_reduce", "4001", "1000", "f32", "sum", "ring", "2.00", "1.00", "5.00", "2.000", "3.000", "40"));
  EXPECT_THAT(
      words(table_line(row_of(Operation::all_gather))),
      ElementsAre("all_gather", "4001", "1000", "f32", "-", "ring", "2.00", "1.00", "5.00", "2.000", "1.500", "40"));
}

TEST(Formats, TableHeadNamesWhatFiguresDependOn) {
  const std::string head = table_head({.operations = {}, .sizes = {}, .memory = Memory::heap, .in_place = true},
                                      {.processor = "Some Processor", .cores = 2, .ranks = 4});
  EXPECT_THAT(head, HasSubstr("# 4 ranks on 2 cores, Some Processor; heap memory, in place\n"));
}

TEST(Formats, JsonHasAllRepeatsAndWhatEachRankSent) {
  const std::array rows{row_of(Operation::all_reduce), row_of(Operation::barrier)};
  const auto json =
      nlohmann::json::parse(json_text({.operations = {}, .sizes = {}, .memory = Memory::heap, .check = true},
                                      {.processor = "P", .cores = 2, .ranks = 4}, rows));
  EXPECT_EQ(json["schema"], "shoal.bench/1");
  EXPECT_EQ(json["machine"], (nlohmann::json{{"processor", "P"}, {"cores", 2}, {"ranks", 4}}));
  EXPECT_EQ(json["memory"], "heap");
  EXPECT_EQ(json["checked"], true);
  ASSERT_EQ(json["rows"].size(), 2U);
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["op"], "all_reduce");
  EXPECT_EQ(row["bytes"], 4001);
  EXPECT_EQ(row["count"], 1000);
  EXPECT_EQ(row["redop"], "sum");
  EXPECT_EQ(row["algorithm"], "ring");
  EXPECT_DOUBLE_EQ(row["microseconds"], 2.0);
  ASSERT_EQ(row["repeats"].size(), 5U);
  EXPECT_DOUBLE_EQ(row["repeats"][0], 5.0);
  EXPECT_DOUBLE_EQ(row["repeats"][4], 3.0);
  EXPECT_EQ(row["sent"], (nlohmann::json{10, 40, 30, 20}));
  EXPECT_TRUE(json["rows"][1]["busbw_GBps"].is_null());
  EXPECT_TRUE(json["rows"][1]["type"].is_null());
}

}  // namespace
}  // namespace shoal::bench
