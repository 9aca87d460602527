// The comparison and its plot, without the libraries that shoal is compared with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/command.h"

namespace shoal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

/// A file of this test's own, which is gone at its end.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(fs::path(testing::TempDir()) / ("compare_test_" + std::to_string(getpid()) + "_" + name)) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { fs::remove_all(path_); }

  std::string path() const { return path_; }
  nlohmann::json json() const { return nlohmann::json::parse(std::ifstream(path_)); }
  void write(const nlohmann::json& json) const { std::ofstream(path_) << json; }

 private:
  fs::path path_;
};

std::string python(const std::string& statements) {
  const auto result = run_command({"python3", "-B", "-c", statements}, {"PYTHONPATH=" COMPARE_DIRECTORY});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

CommandResult compare(const std::vector<std::string>& arguments) {
  const ScratchFile programs("programs");
  std::vector<std::string> argv{"python3",    "-B",           COMPARE_DIRECTORY "/compare.py", "--bin", PROGRAMS,
                                "--programs", programs.path()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_command(argv);
}

TEST(Compare, RunsShoalAloneWhereNoPeerIsWanted) {
  const ScratchFile file("figures.json");
  const auto result = compare({"--without", "openmpi,mpich,gloo,limit", "-n", "1,2", "--ops", "barrier,all_reduce",
                               "--sizes", "64,1K", "--seconds", "0.001", "--json", file.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = file.json();
  EXPECT_EQ(json["schema"], "shoal.compare/1");
  ASSERT_EQ(json["worlds"].size(), 2U);
  EXPECT_EQ(json["worlds"][1]["ranks"], 2);
  ASSERT_EQ(json["worlds"][1]["rows"].size(), 3U);
  const auto& row = json["worlds"][1]["rows"][2];
  EXPECT_EQ(row["op"], "all_reduce");
  EXPECT_EQ(row["bytes"], 1024);
  EXPECT_GT(row["private"], 0.0);
  EXPECT_GT(row["heap"], 0.0);
  EXPECT_TRUE(row["x_heap"].is_null());  // There is no peer to be ahead of.
}

// It looks at its own results before it times them. Sizes go up and down, between what it sends in lines and in slots.
TEST(Compare, FloorGivesARightResultOfEveryOperation) {
  const ScratchFile file("floor.json");
  const auto result =
      compare({"--floor", "--without", "openmpi,mpich,gloo,private,heap,floor_private,limit", "-n", "1,2,3", "--sizes",
               "20,520,64,5000,24,300000", "--seconds", "0.0005", "--json", file.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("floor")));
  const auto json = file.json();
  for (const auto& world : json["worlds"]) {
    EXPECT_EQ(world["rows"].size(), 8 * 6 + 1U);
    for (const auto& row : world["rows"]) EXPECT_GT(row["floor_heap"], 0.0) << row;
  }
}

TEST(Compare, SummaryIsOfTheRatiosOfAllPoints) {
  EXPECT_EQ(python("import compare\n"
                   "rows = [{'op': 'gather', 'bytes': 8, 'x_private': 0.5, 'x_heap': 2.0},\n"
                   "        {'op': 'gather', 'bytes': 64, 'x_private': 8.0, 'x_heap': None}]\n"
                   "for memory, figures in compare.summary(rows).items():\n"
                   "    print(memory, *(f'{v:g}' if isinstance(v, float) else v for v in figures.values()))\n"),
            "private 2 0.5 gather 8 1 2\n"
            "heap 2 2 gather 8 1 1\n");
}

TEST(Compare, RatioIsTheBestPeersTimeOverShoals) {
  EXPECT_EQ(
      python("import argparse, compare\n"
             "printed = {'openmpi': 'gather 8 30.0', 'mpich': 'gather 8 20.0\\nnoise', 'private': 'gather 8 10.0',\n"
             "           'heap': 'gather 8 5.0'}\n"
             "compare.contenders = lambda *_: {name: name for name in printed}\n"
             "compare.output_of = lambda command, limit_s: printed[command]\n"
             "row, = compare.measure(argparse.Namespace(runs=1, seconds=1), {}, 2, 'gather')\n"
             "print(row['bytes'], row['x_private'], row['x_heap'])\n"),
      "8 2.0 4.0\n");
}

TEST(Compare, WhatCannotBeIsRefused) {
  for (const auto& [option, value] :
       {std::pair("-n", "0"), {"--ops", "send"}, {"--sizes", "x"}, {"--seconds", "0"}, {"--runs", "0"}}) {
    const auto result = compare({option, value});
    EXPECT_EQ(result.exit_code, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(std::string("argument ") + option));
  }
}

// ---- Plot -----------------------------------------------------------------------------------------------

nlohmann::json world(int ranks) {
  nlohmann::json rows;
  rows.push_back({{"op", "barrier"}, {"bytes", 0}, {"private", 1.0}});
  for (const int bytes : {64, 1024, 65536})
    rows.push_back({{"op", "all_reduce"},
                    {"bytes", bytes},
                    {"openmpi", bytes / 10.0},
                    {"gloo", nullptr},
                    {"private", bytes / 20.0},
                    {"heap", bytes / 40.0}});
  return {{"ranks", ranks}, {"rows", rows}};
}

nlohmann::json comparison() {
  return {{"schema", "shoal.compare/1"},
          {"machine", {{"processor", "Some <fast> Processor"}, {"cores", 2}}},
          {"worlds", {world(2), world(4)}}};
}

TEST(BenchPlot, HasAPanelForEachWorldWithLabelledLines) {
  const ScratchFile file("figures.json");
  file.write(comparison());
  const auto result = run_command({BENCH_PLOT, file.path(), "--ops", "all_reduce", "--out", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* shown : {"all_reduce, 2 ranks", "all_reduce, 4 ranks", ">shoal<", ">shoal, heap<", ">Open MPI<",
                            ">64<", ">1K<", ">10 µs<", "Some &lt;fast&gt; Processor, 2 cores"})
    EXPECT_THAT(result.out, HasSubstr(shown));
  EXPECT_THAT(result.out, Not(HasSubstr(">gloo<")));  // It has no figures.
  EXPECT_EQ(python("import sys, xml.dom.minidom, json, plot\n"
                   "text = plot.draw([json.load(open('" +
                   file.path() +
                   "'))], ['all_reduce'])\n"
                   "print(len(xml.dom.minidom.parseString(text).getElementsByTagName('polyline')))\n"),
            "6\n");  // Three lines in each of two panels.
}

TEST(BenchPlot, EqualFactorsAreEqualDistances) {
  EXPECT_EQ(python("import plot\n"
                   "axis = plot.LogAxis(1, 10000, 100, 500)\n"
                   "print(*(f'{axis.at(v):.6g}' for v in (1, 10, 100, 10000)))\n"),
            "100 200 300 500\n");
}

TEST(BenchPlot, LabelsDoNotOverlap) {
  EXPECT_EQ(python("import plot\nprint(plot.spread([10, 11, 12], 5, 0, 100), plot.spread([98, 99], 5, 0, 100))\n"),
            "[10, 15, 20] [95, 100]\n");
}

TEST(BenchPlot, WhatItCannotDrawIsRefused) {
  const ScratchFile file("figures.json");
  file.write(comparison());
  const auto absent = run_command({BENCH_PLOT, file.path(), "--ops", "gather", "--out", "-"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_EQ(absent.err, "bench-plot: there are no figures by size of gather\n");
  file.write({{"schema", "shoal.bench/1"}});
  const auto other = run_command({BENCH_PLOT, file.path(), "--out", "-"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("its schema is not shoal.compare/1"));
  EXPECT_THAT(run_command({BENCH_PLOT, "/nonexistent.json", "--out", "-"}).err, HasSubstr("/nonexistent.json"));
}

}  // namespace
}  // namespace shoal::test
