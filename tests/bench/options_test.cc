// The command line of shoal-bench.
#include "bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/program.h"

namespace shoal::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BenchOptions parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "shoal-bench");
  BenchOptions options;
  EXPECT_EQ(parse_command_line(static_cast<int>(arguments.size()), arguments.data(), options), std::nullopt);
  return options;
}

std::string refusal(const std::vector<const char*>& arguments) {
  try {
    parsed(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(Options, DefaultsAreThoseOfTheComparison) {
  const BenchOptions options = parsed({});
  EXPECT_THAT(options.operations, ElementsAre(Operation::barrier, Operation::broadcast, Operation::reduce,
                                              Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather,
                                              Operation::all_to_all, Operation::gather, Operation::scatter));
  EXPECT_THAT(options.sizes, ElementsAre(8, 64, 512, 4096, 32768, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20));
  EXPECT_EQ(options.seconds, 0.15);
  EXPECT_EQ(options.memory, Memory::private_);
  EXPECT_EQ(options.type, DataType::f32);
  EXPECT_EQ(options.reduce_op, ReduceOp::sum);
  EXPECT_EQ(options.algorithm, Algorithm::automatic);
  EXPECT_EQ(options.format, Format::table);
  EXPECT_FALSE(options.in_place);
  EXPECT_FALSE(options.check);
}

TEST(Options, EachIsTaken) {
  const BenchOptions options = parsed({"--op", "all_reduce,reduce_scatter", "--sizes", "9,1K,2M", "--seconds", "0.5",
                                       "--memory", "heap", "--in-place", "--dtype", "u8", "--redop", "bxor",
                                       "--algorithm", "pairwise", "--format", "json", "--check"});
  EXPECT_THAT(options.operations, ElementsAre(Operation::all_reduce, Operation::reduce_scatter));
  EXPECT_THAT(options.sizes, ElementsAre(9, 1024, 2 << 20));
  EXPECT_EQ(options.seconds, 0.5);
  EXPECT_EQ(options.memory, Memory::heap);
  EXPECT_EQ(options.type, DataType::u8);
  EXPECT_EQ(options.reduce_op, ReduceOp::bxor);
  EXPECT_EQ(options.algorithm, Algorithm::pairwise);
  EXPECT_EQ(options.format, Format::json);
  EXPECT_TRUE(options.in_place);
  EXPECT_TRUE(options.check);
}

TEST(Options, WhatIsNoneIsRefusedByName) {
  EXPECT_THAT(refusal({"--op", "all_reduce,bcast"}), HasSubstr("--op all_reduce,bcast: 'bcast' is not one of barrier"));
  EXPECT_THAT(refusal({"--op", "send"}), HasSubstr("'send' is not one of"));
  EXPECT_THAT(refusal({"--op", ""}), HasSubstr("'' is not one of"));
  EXPECT_THAT(refusal({"--sizes", "8,x"}), HasSubstr("--sizes 8,x: 'x' is not a size"));
  EXPECT_THAT(refusal({"--sizes", "8,"}), HasSubstr("'' is not a size"));
  EXPECT_THAT(refusal({"--sizes", "5000G"}), HasSubstr("'5000G' is not a size from 0 to 4096G"));
  for (const char* seconds : {"0", "-1", "nan", "1s", "", "3601"})
    EXPECT_THAT(refusal({"--seconds", seconds}), HasSubstr("not a number of seconds")) << seconds;
  EXPECT_THAT(refusal({"--memory", "shared"}), HasSubstr("--memory"));
  EXPECT_THAT(refusal({"--dtype", "byte"}), HasSubstr("--dtype byte: not one of i8, i16"));
  EXPECT_THAT(refusal({"--redop", "avg"}), HasSubstr("--redop avg: not one of sum, mean"));
  EXPECT_THAT(refusal({"--algorithm", "magic"}), HasSubstr("--algorithm magic: no such algorithm"));
  EXPECT_THAT(refusal({"--format", "xml"}), HasSubstr("--format"));
}

TEST(Options, InPlaceIsForOperationsThatHaveSuchAForm) {
  EXPECT_EQ(refusal({"--in-place"}),
            "--in-place: barrier has no such form; all_reduce, reduce_scatter, all_gather have");
  EXPECT_THAT(refusal({"--in-place", "--op", "all_reduce,gather"}), HasSubstr("--in-place: gather has no such form"));
  EXPECT_TRUE(parsed({"--in-place", "--op", "all_reduce,reduce_scatter,all_gather"}).in_place);
}

TEST(Options, ReductionThatIsNotDefinedForTheTypeIsRefused) {
  EXPECT_EQ(refusal({"--redop", "band"}), "--redop band is not defined for --dtype f32");
  EXPECT_EQ(refusal({"--redop", "bxor", "--dtype", "bf16", "--op", "reduce"}),
            "--redop bxor is not defined for --dtype bf16");
  EXPECT_EQ(refusal({"--dtype", "bool"}), "--redop sum is not defined for --dtype bool");
  EXPECT_EQ(parsed({"--dtype", "bool", "--redop", "bor"}).type, DataType::boolean);
  EXPECT_EQ(parsed({"--dtype", "bool", "--op", "broadcast,gather"}).type, DataType::boolean);  // They reduce nothing.
}

TEST(Options, HelpIsTextToPrint) {
  const std::array arguments{"shoal-bench", "--help"};
  BenchOptions options;
  const auto text = parse_command_line(2, arguments.data(), options);
  ASSERT_TRUE(text);
  for (const char* option : {"--op", "--sizes", "--seconds", "--memory", "--in-place", "--dtype", "--redop",
                             "--algorithm", "--format", "--check", "--version"})
    EXPECT_THAT(*text, HasSubstr(option));
}

}  // namespace
}  // namespace shoal::bench
