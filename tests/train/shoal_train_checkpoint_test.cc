// shoal-train stopped, killed and resumed: the run that goes on is the one that was never interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "train/shoal_train_runs.h"

namespace shoal::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using shoal::test::CommandResult;
using shoal::test::run_command;
using test::report_of;
using test::train;
using testing::HasSubstr;

class ShoalTrainCheckpoint : public test::ShoalTrain {
 protected:
  fs::path directory() const { return data() / "checkpoints"; }

  /// The small run to step `steps`, with checkpoints.
  std::vector<std::string> run(int stage, int steps, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"--data",       data().string(),
                                       "--dims",       "16,7,4",
                                       "--batch",      "12",
                                       "--lr",         "0.02",
                                       "--steps",      std::to_string(steps),
                                       "--stage",      std::to_string(stage),
                                       "--checkpoint", directory().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  json resumed(int ranks, int stage, int steps, std::vector<std::string> more = {}) const {
    more.emplace_back("--resume");
    const json report = report_of(ranks, run(stage, steps, more));
    EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
    EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
    return report;
  }
  void begin_anew() const { fs::remove_all(directory()); }
};

void expect_same_end(const json& report, const json& expected) {
  for (const char* key : {"param_sha256", "stream_sha256", "loss", "accuracy", "steps"})
    EXPECT_EQ(report.at(key), expected.at(key)) << report.at("world") << " ranks, stage " << report.at("stage");
}

// B10: from every stage and world of a power of two to every other, with moments that matter.
TEST_F(ShoalTrainCheckpoint, GoesOnAtAnyOtherWorldAndStageWithTheSameBits) {
  const json expected = report_of(1, small(0));  // 20 steps, uninterrupted.
  for (int stage = 0; stage <= 3; ++stage) {
    for (const int ranks : {1, 2, 4, 8}) {
      begin_anew();
      report_of(ranks, run(stage, 9));
      fs::copy(directory(), data() / "kept", fs::copy_options::recursive);
      for (const auto& [other_ranks, other_stage] :
           std::vector<std::pair<int, int>>{{8, 3 - stage}, {2, (stage + 1) % 4}, {1, (stage + 2) % 4}, {4, stage}}) {
        begin_anew();
        fs::copy(data() / "kept", directory(), fs::copy_options::recursive);
        const json report = resumed(other_ranks, other_stage, 20);
        expect_same_end(report, expected);
        EXPECT_EQ(report.at("first_step"), 9);
      }
      fs::remove_all(data() / "kept");
    }
  }
}

// B09: chunks that nothing pads: 151 parameters in worlds that do not divide them are read as they were written.
TEST_F(ShoalTrainCheckpoint, IsReadWholeByWorldsThatDivideNothing) {
  for (const int writers : {4, 7, 3}) {
    begin_anew();
    const json written = report_of(writers, run(2, 9));
    for (const int readers : {1, 2, 3, 5, 8}) {
      for (const int stage : {0, 1, 3})
        EXPECT_EQ(resumed(readers, stage, 9).at("param_sha256"), written.at("param_sha256")) << readers << " readers";
    }
  }
}

TEST_F(ShoalTrainCheckpoint, HoldsWhatEveryOptimizerAndPrecisionNeeds) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--optimizer", "sgd", "--precision", "bf16"},
        std::vector<std::string>{"--optimizer", "momentum", "--schedule", "cosine", "--warmup", "12"},
        std::vector<std::string>{"--optimizer", "adamw", "--weight-decay", "0.1", "--accumulate", "3", "--clip",
                                 "0.1"}}) {
    begin_anew();
    const json expected = report_of(2, small(1, options));
    auto first = options;
    first.insert(first.end(), {"--checkpoint-every", "7"});
    report_of(4, run(3, 20, first));
    for (const char* step : {"step-000000000014", "step-000000000020"}) fs::remove_all(directory() / step);
    expect_same_end(resumed(8, 0, 20, options), expected);
  }
}

// B29: 40 samples in batches of 12: epochs are 4 steps. To step 6 in the middle of the second, to 13, and on.
TEST_F(ShoalTrainCheckpoint, NeitherRepeatsNorLosesSamplesInTheMiddleOfAnEpoch) {
  const json expected = report_of(1, small(0));
  report_of(4, run(2, 6));
  resumed(3, 2, 13);
  EXPECT_EQ(resumed(8, 2, 20).at("stream_sha256"), expected.at("stream_sha256"));
}

// B11: killed at some call of some rank, again and again, each time in another world, until it is done.
TEST_F(ShoalTrainCheckpoint, KilledAgainAndAgainEndsAsIfItNeverWas) {
  const json expected = report_of(2, small(1));
  std::mt19937 random(3);
  const std::vector<int> worlds{1, 2, 4, 8};
  int kills = 0;
  for (int attempt = 0; attempt < 200; ++attempt) {
    const int ranks = worlds[random() % worlds.size()];
    const auto arguments = run(static_cast<int>(random() % 4), 20, {"--checkpoint-every", "1", "--resume"});
    std::vector<std::string> argv{SHOALRUN, "-n", std::to_string(ranks), SHOAL_TRAIN};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const std::string fault = "SHOAL_FAULT=rank=" + std::to_string(random() % static_cast<unsigned>(ranks)) +
                              ",op=any,call=" + std::to_string(10 + random() % 40) + ",action=kill";
    const CommandResult result = run_command(argv, {fault});
    if (result.exit_code == 0) break;
    ++kills;
    ASSERT_EQ(result.exit_code, 137) << result.err;
  }
  EXPECT_GT(kills, 3);
  expect_same_end(resumed(4, 3, 20), expected);
}

// B11, at any moment, also while four ranks write their shards: a rank, the launcher or its guard is killed some time after
// the first step of a run that saves after each. Whoever wins, what is resumed is whole, and ends as if nothing had been.
TEST_F(ShoalTrainCheckpoint, KilledAtRandomMomentsOfItsSavesLosesNone) {
  constexpr int kLongSteps = 400;
  const json expected = report_of(1, {"--data", data(), "--dims", "16,7,4", "--batch", "12", "--lr", "0.02", "--steps",
                                      std::to_string(kLongSteps)});
  for (const unsigned seed : {1U, 2U, 3U}) {
    begin_anew();
    std::mt19937 random(seed);
    std::uint64_t last = 0;
    for (int kill = 0; kill < 4; ++kill) {
      std::string job = std::string(SHOALRUN) + " -n 4 " + SHOAL_TRAIN;
      for (const std::string& argument : run(static_cast<int>(random() % 4), kLongSteps,
                                             {"--checkpoint-every", "1", "--checkpoint-keep", "3", "--resume"}))
        job += " " + argument;
      const std::string moment = "0." + std::to_string(100 + random() % 150).substr(1);
      const std::array<std::string, 3> targets{
          "$(echo $ranks | cut -d ' ' -f " + std::to_string(1 + random() % 4) + ")", "$launcher", "$guard"};
      const std::string script =
          job + " > " + (data() / "out").string() + " 2> /dev/null & launcher=$!\n" + "until grep -q '^step' " +
          (data() / "out").string() + " || ! kill -0 $launcher; do sleep 0.005; done 2> /dev/null\n" +
          "guard=$(pgrep -P $launcher); ranks=$(pgrep -P $guard); sleep " + moment + "; kill -9 " +
          targets[random() % 3] + " 2> /dev/null; wait $launcher\n" + "flock -w 20 " + directory().string() + " true";
      fs::remove(data() / "out");
      run_command({"bash", "-c", script});
      std::uint64_t newest = 0;
      for (const auto& entry : fs::directory_iterator(directory())) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("step-")) newest = std::max<std::uint64_t>(newest, std::stoull(name.substr(5)));
      }
      EXPECT_GE(newest, last) << "seed " << seed << ", kill " << kill;
      last = newest;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ", resumed from step " + std::to_string(last));
    const json report = resumed(8, 1, kLongSteps);
    expect_same_end(report, expected);
    EXPECT_EQ(report.at("first_step"), last);
  }
}

// B12 and B49: each way to stop ends all ranks after the same step, with a checkpoint from which the run goes on.
TEST_F(ShoalTrainCheckpoint, StoppedByASignalIsWrittenAndGoesOn) {
  for (const std::string target : {"$launcher", "$(pgrep -P $(pgrep -P $launcher) | tail -n 1)"}) {
    for (const char* signal : {"TERM", "INT"}) {
      begin_anew();
      fs::remove(data() / "out");  // Or what another job had said could be taken for this one's.
      const std::string job = std::string(SHOALRUN) + " -n 4 " + SHOAL_TRAIN + " --data " + data().string() +
                              " --dims 16,7,4 --batch 12 --steps 100000000 --checkpoint " + directory().string() +
                              " --report " + (data() / "report.json").string();
      const std::string script = "set -m; " + job + " > " + (data() / "out").string() +
                                 " & launcher=$!; while ! grep -q step " + (data() / "out").string() +
                                 "; do sleep 0.01; done; kill -" + signal + " " + target + "; wait $launcher; echo $?";
      const CommandResult result = run_command({"bash", "-c", script});
      EXPECT_EQ(result.out, "0\n") << target << signal << result.err;
      const json report = json::parse(std::ifstream(data() / "report.json"));
      EXPECT_TRUE(report.at("stopped"));
      EXPECT_TRUE(report.at("accuracy").at("test").is_null());
      EXPECT_TRUE(report.at("bytes").at("matches_prediction"));
      const int steps = report.at("steps").get<int>();
      std::ostringstream name;
      name << "step-" << std::string(12 - std::to_string(steps).size(), '0') << steps;
      EXPECT_TRUE(fs::exists(directory() / name.str())) << name.str();
      const json more = report_of(2, {"--data", data(), "--dims", "16,7,4", "--batch", "12", "--steps",
                                      std::to_string(steps + 3), "--checkpoint", directory(), "--resume"});
      EXPECT_EQ(more.at("param_sha256"), report_of(1, {"--data", data(), "--dims", "16,7,4", "--batch", "12", "--steps",
                                                       std::to_string(steps + 3)})
                                             .at("param_sha256"));
    }
  }
}

TEST_F(ShoalTrainCheckpoint, WithoutADirectoryASignalEndsTheRunAsUsual) {
  const std::string script = std::string(SHOALRUN) + " -n 2 " + SHOAL_TRAIN + " --data " + data().string() +
                             " --dims 16,7,4 --steps 100000000 > " + (data() / "out").string() +
                             " & launcher=$!; while ! grep -q step " + (data() / "out").string() +
                             "; do sleep 0.01; done; kill -TERM $launcher; wait $launcher; echo $?";
  EXPECT_EQ(run_command({"bash", "-c", script}).out, "143\n");
}

TEST_F(ShoalTrainCheckpoint, ANewerIncompleteFolderIsPassedOverAndSaidSo) {
  report_of(2, run(2, 5));
  fs::create_directory(directory() / "step-000000000018");
  const CommandResult result = train(2, run(2, 20, {"--resume"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("note: passed over an incomplete checkpoint: "));
  EXPECT_THAT(result.out, HasSubstr("going on from " + (directory() / "step-000000000005").string()));
}

TEST_F(ShoalTrainCheckpoint, AnEmptyDirectoryStartsAnewAndSaysSo) {
  const CommandResult result = train(2, run(2, 5, {"--resume"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("no checkpoint in " + directory().string() + ": starting anew"));
}

TEST_F(ShoalTrainCheckpoint, AnEmptyDirectoryIsToldAlsoWhereNoProgressIsWanted) {
  const CommandResult result = train(2, run(2, 5, {"--resume", "--progress", "none"}));
  EXPECT_THAT(result.out, HasSubstr("no checkpoint in " + directory().string() + ": starting anew"));
}

TEST_F(ShoalTrainCheckpoint, KeepsTheNewestAsManyAsAskedFor) {
  report_of(2, run(2, 20, {"--checkpoint-every", "4", "--checkpoint-keep", "2"}));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory())) names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, testing::UnorderedElementsAre("step-000000000016", "step-000000000020"));
}

/// Lines of standard error that shoal-train itself wrote: with several ranks still one.
void expect_one_message(const CommandResult& result, int exit_code, const std::string& part) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  std::vector<std::string> messages;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("shoal-train: ")) messages.push_back(line);
  EXPECT_THAT(messages, testing::ElementsAre(HasSubstr(part))) << result.err;
}

// B41: what one rank alone finds wrong is one error of all, and nobody waits for it.
TEST_F(ShoalTrainCheckpoint, AFileThatOneRankFindsWrongIsOneErrorOfAll) {
  report_of(4, run(2, 5));
  const fs::path folder = directory() / "step-000000000005";
  const fs::path shard = folder / "shard-00002-of-00004.safetensors";  // Rank 2 verifies it.
  std::fstream(shard, std::ios::in | std::ios::out).seekp(900).put('\x55');
  for (const int ranks : {4, 3, 1})
    expect_one_message(train(ranks, run(2, 20, {"--resume"})), 1, shard.string() + ": is not what was written");
}

// The same of a file that one rank cannot open: rank 2 looks for the directory elsewhere.
TEST_F(ShoalTrainCheckpoint, AFileThatOneRankCannotOpenIsOneErrorOfAll) {
  report_of(4, run(2, 5));
  const fs::path wrapper = data() / "elsewhere";
  std::ofstream(wrapper) << "#!/bin/sh\ncd " << data().string() << "\n[ \"$SHOAL_RANK\" = 2 ] && cd /\nexec \"$@\"\n";
  fs::permissions(wrapper, fs::perms::owner_all);
  const auto result = run_command({SHOALRUN, "--wrap", wrapper.string(), "-n", "4", SHOAL_TRAIN, "--data",
                                   data().string(), "--dims", "16,7,4", "--batch", "12", "--lr", "0.02", "--steps", "9",
                                   "--checkpoint", "checkpoints", "--resume"});
  expect_one_message(result, 1, "checkpoints/step-000000000005/manifest.json: cannot be read: No such file");
}

TEST_F(ShoalTrainCheckpoint, ARunOfAnotherKindIsRefusedByWhatDiffers) {
  report_of(2, run(2, 5));
  expect_one_message(train(2, run(2, 20)), 2, "--resume goes on from it");
  expect_one_message(train(2, run(2, 20, {"--resume", "--seed", "3"})), 2, "whose seed is 0, not 3");
  expect_one_message(train(2, run(2, 20, {"--resume", "--optimizer", "sgd"})), 2, "whose optimizer is \"adam\"");
  expect_one_message(train(2, run(2, 20, {"--resume", "--accumulate", "2"})), 2, "whose accumulate is 1, not 2");
  expect_one_message(train(2, run(2, 20, {"--resume", "--weight-decay", "0.5"})), 2,
                     "whose weight_decay is 0.0, not 0.5");
  expect_one_message(train(2, run(2, 20, {"--resume", "--max-examples", "2"})), 2,
                     "whose max_padded_tokens is null, not 12000");
  // Other data of the same size: one pixel, or one label.
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}) {
    const test::Bytes kept = test::read_file(data() / name);
    test::Bytes changed = kept;
    changed.back() ^= 1U;
    test::write_file(data() / name, changed);
    expect_one_message(train(2, run(2, 20, {"--resume"})), 2, "whose data_sha256 is \"");
    test::write_file(data() / name, kept);
  }
  EXPECT_EQ(resumed(2, 2, 20).at("param_sha256"), report_of(2, small(2)).at("param_sha256"));
  begin_anew();
  const std::vector<std::string> limits{"--max-padded-tokens", "3"};
  report_of(2, run(2, 5, limits));
  expect_one_message(train(2, run(2, 20, {"--resume", "--max-padded-tokens", "4"})), 2,
                     "whose max_padded_tokens is 3, not 4");
  for (const char* option : {"--resume", "--checkpoint-every=3", "--checkpoint-keep=1"})
    expect_one_message(train(2, small(2, {option})), 2, "needs --checkpoint DIR");
}

TEST_F(ShoalTrainCheckpoint, FewerStepsThanWereMadeAreRefusedAndAsManyAreDone) {
  report_of(2, run(2, 8));
  for (const int ranks : {1, 4})
    expect_one_message(train(ranks, run(2, 5, {"--resume"})), 2,
                       "--steps 5: " + (directory() / "step-000000000008").string() + " has more steps already");
  const CommandResult result = train(2, run(2, 8, {"--resume"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              HasSubstr("going on from " + (directory() / "step-000000000008").string() + ": no step is left"));
}

// D9: what the hashes of the files do not guard.
TEST_F(ShoalTrainCheckpoint, AManifestThatCannotBeTrueIsNotFollowed) {
  report_of(2, run(2, 5));
  const fs::path file = directory() / "step-000000000005" / "manifest.json";
  const json manifest = json::parse(std::ifstream(file));
  const auto resume_with = [&](const json& changed) {
    std::ofstream(file, std::ios::trunc) << changed;
    return train(2, run(2, 20, {"--resume"}));
  };
  json updates = manifest;
  updates["run"]["updates"] = 1'000'000'000'000'000'000;
  expect_one_message(resume_with(updates), 2, "tells of 1000000000000000000 updates, more than it has steps");
  updates["run"]["updates"] = -1;
  expect_one_message(resume_with(updates), 2, "does not tell how many updates it had");
  // Files of other names, or in another order: passed over, and the directory is as good as empty.
  json swapped = manifest;
  std::swap(swapped["files"][0], swapped["files"][1]);
  EXPECT_THAT(resume_with(swapped).err, HasSubstr("it names 'shard-00001-of-00002.safetensors' where shard-00000"));
}

// A file limit of half a kilobyte is a full disk: no shard of a checkpoint has room.
TEST_F(ShoalTrainCheckpoint, AFullDiskIsOneErrorAndTheOldOneStays) {
  report_of(2, run(2, 5));
  const fs::path wrapper = data() / "limited";
  std::ofstream(wrapper) << "#!/bin/sh\nulimit -f 1\nexec \"$@\"\n";
  fs::permissions(wrapper, fs::perms::owner_all);
  std::vector<std::string> argv{SHOALRUN, "--wrap", wrapper.string(), "-n", "2", SHOAL_TRAIN};
  const auto arguments = run(2, 9, {"--resume"});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  expect_one_message(run_command(argv), 1, "cannot be written: File too large");
  EXPECT_TRUE(fs::exists(directory() / "step-000000000005"));
  EXPECT_FALSE(fs::exists(directory() / ".writing-step-000000000009"));
  EXPECT_EQ(resumed(2, 2, 20).at("param_sha256"), report_of(2, small(2)).at("param_sha256"));
}

TEST_F(ShoalTrainCheckpoint, ExportedParametersAreThoseThatWereHashed) {
  const fs::path file = data() / "model.safetensors";
  const std::string script = R"(
import hashlib, json, struct, sys
data = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + size])
flat = b''
for name in ['layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'layers.1.bias']:
    begin, end = header[name]['data_offsets']
    flat += data[8 + size + begin:8 + size + end]
    print(name, header[name]['dtype'], header[name]['shape'])
print(hashlib.sha256(flat).hexdigest())
)";
  for (const auto& [ranks, stage, precision] :
       {std::tuple{1, 0, "f32"}, std::tuple{4, 3, "f32"}, std::tuple{3, 1, "bf16"}, std::tuple{4, 3, "bf16"}}) {
    const json report = report_of(ranks, small(stage, {"--export", file.string(), "--precision", precision}));
    EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
    const auto read = run_command({"python3", "-c", script, file.string()});
    EXPECT_EQ(read.out,
              "layers.0.weight F32 [16, 7]\nlayers.0.bias F32 [7]\nlayers.1.weight F32 [7, 4]\n"
              "layers.1.bias F32 [4]\n" +
                  report.at("param_sha256").get<std::string>() + "\n")
        << read.err;
  }
}

TEST_F(ShoalTrainCheckpoint, ParametersFromAFileAreTheStart) {
  const fs::path file = data() / "start.npy";
  const std::string script = R"(
import struct, sys
values = [0.25 * (i % 9 - 4) for i in range(151)]
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (151,), }"
header += b' ' * (63 - (10 + len(header)) % 64) + b'\n'
open(sys.argv[1], 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + struct.pack('<151f', *values))
import hashlib; print(hashlib.sha256(struct.pack('<151f', *values)).hexdigest())
)";
  const auto made = run_command({"python3", "-c", script, file.string()});
  for (const auto& [ranks, stage] : {std::pair{1, 0}, std::pair{3, 2}, std::pair{4, 3}}) {
    const json report = report_of(ranks, {"--data", data(), "--dims", "16,7,4", "--steps", "3", "--lr", "0", "--stage",
                                          std::to_string(stage), "--init", file});
    EXPECT_EQ(report.at("param_sha256").get<std::string>() + "\n", made.out) << made.err;
    EXPECT_TRUE(report.at("bytes").at("other").at("matches_prediction"));
  }
  expect_one_message(train(2, small(2, {"--init", (data() / "none.npy").string()})), 1, "none.npy");
}

}  // namespace
}  // namespace shoal::train
