// shoal-train and the signals that stop a job, as keyboards, systemd and batch systems send them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "train/shoal_train_runs.h"

namespace shoal::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using shoal::test::CommandResult;
using shoal::test::run_command;
using test::report_of;

class ShoalTrainSignal : public test::ShoalTrain {
 protected:
  fs::path checkpoints() const { return data() / "checkpoints"; }

  /// Starts a job of four ranks and, once the shell's `ready` is true
  /// does `action`, in which $launcher is shoalrun and $ranks are the ranks. Prints the job's exit status.
  CommandResult stop(const std::string& ready, const std::string& action, const std::string& options,
                     const std::string& model = "--data . --dims 16,7,4") const {
    const std::string script = "cd " + data().string() + "\nrm -f out\n" + SHOALRUN + " -n 4 " + SHOAL_TRAIN + " " +
                               model + " --batch 12 --report report.json " + options +
                               " > out 2> err & launcher=$!\n"
                               "until " +
                               ready +
                               "; do sleep 0.01; done\n"
                               "ranks=$(pgrep -P $(pgrep -P $launcher))\n" +
                               action + "\nwait $launcher; echo $?\n";
    return run_command({"bash", "-c", script});
  }

  json report() const { return json::parse(std::ifstream(data() / "report.json")); }
};

const std::string kTraining = "grep -q step out 2> /dev/null";

// As systemd and scancel do.
TEST_F(ShoalTrainSignal, SentToEveryProcessAtOnceIsOneWishToStop) {
  const std::string with_checkpoints = "--steps 100000000 --checkpoint checkpoints";
  for (const std::string action :
       {"kill -TERM $launcher $(pgrep -P $launcher) $ranks", "kill -TERM $launcher $ranks",
        "kill -TERM $ranks; kill -TERM $launcher", "kill -TERM $launcher; kill -TERM $ranks; kill -TERM $ranks"}) {
    fs::remove_all(checkpoints());
    EXPECT_EQ(stop(kTraining, action, with_checkpoints).out, "0\n") << action;
    EXPECT_TRUE(report().at("stopped")) << action;
    const auto steps = std::to_string(report().at("steps").get<int>());
    EXPECT_TRUE(fs::exists(checkpoints() / ("step-" + std::string(12 - steps.size(), '0') + steps))) << action;
    EXPECT_TRUE(report().at("bytes").at("matches_prediction"));
    EXPECT_TRUE(report().at("bytes").at("other").at("matches_prediction"));
  }
}

TEST_F(ShoalTrainSignal, StoppedRunSaysForWhichStepsItIsPredicted) {
  EXPECT_EQ(
      stop(kTraining, "kill -TERM $launcher", "--steps 100000000 --checkpoint checkpoints --checkpoint-every 50").out,
      "0\n");
  EXPECT_TRUE(report().at("bytes").at("other").at("matches_prediction"));  // However many checkpoints there were.
  const auto told = run_command(
      {"grep", "-c", "^stopped after step .* of 100000000: the prediction is that of the", (data() / "out").string()});
  EXPECT_EQ(told.out, "1\n");
}

// What comes when the last step is done is too late to stop anything: the run is whole, and its report says so. The
// evaluation of 60,000 samples is long enough for the signal to come in time; where it does not, the end is the same.
TEST_F(ShoalTrainSignal, ThatComesAfterTheLastStepChangesNothing) {
  const CommandResult result = stop("grep -q 'step 2 of 2' out 2> /dev/null", "kill -TERM $ranks", "--steps 2",
                                    "--data /usr/share/datasets/fashion-mnist --dims 784,256,10");
  EXPECT_EQ(result.out, "0\n") << result.err;
  EXPECT_FALSE(report().at("stopped"));
  EXPECT_EQ(report().at("steps"), 2);
  EXPECT_FALSE(report().at("accuracy").at("test").is_null());
}

TEST_F(ShoalTrainSignal, SecondInterruptEndsAtOnce) {
  // A rank that is stopped cannot take part, so that the others never reach the end of their step.
  const CommandResult result = stop(kTraining, "set -- $ranks; kill -STOP $1; kill -INT $2; sleep 0.2; kill -INT $2",
                                    "--steps 100000000 --checkpoint checkpoints");
  EXPECT_EQ(result.out, "130\n");
}

TEST_F(ShoalTrainSignal, TerminateLongAfterTheFirstEndsAtOnce) {
  const CommandResult result = stop(kTraining, "set -- $ranks; kill -STOP $1; kill -TERM $2; sleep 1.2; kill -TERM $2",
                                    "--steps 100000000 --checkpoint checkpoints");
  EXPECT_EQ(result.out, "143\n");
}

}  // namespace
}  // namespace shoal::train
