// Where the segment's memory comes from, and what happens if there is not enough.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "fault/fault_matrix.h"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

JobEnd run_with(const std::string& segment, const std::vector<std::string>& options, const std::string& script) {
  std::vector<std::string> arguments = options;
  for (const char* word : {"sh", "-c"}) arguments.emplace_back(word);
  arguments.push_back(script);
  return RunningJob(arguments, {"SHOAL_SEGMENT=" + segment}).wait();
}

TEST(Segment, OfEitherKindRunsAJobAndHasNoName) {
  const auto before = shared_memory_objects();
  for (const std::string kind : {"memfd", "posix", "auto", ""}) {
    const JobEnd end =
        run_with(kind, {"-n", "3", "--heap", "1M"}, "ls /dev/shm; exec " + rank_program() + " nowhere 0 -");
    EXPECT_EQ(end.exit_code, 0) << kind << end.err;
    EXPECT_THAT(end.out, Not(HasSubstr("shoal."))) << kind;
  }
  EXPECT_EQ(shared_memory_objects(), before);
}

TEST(Segment, OfAnUnknownKindIsRefused) {
  const JobEnd end = run_with("disk", {"-n", "1"}, "true");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.err, HasSubstr("SHOAL_SEGMENT=disk: it is auto, memfd or posix"));
}

TEST(Segment, InSharedMemoryThatIsTooSmallIsRefusedWithWhatToDoAndNoSignal) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting takes root";
  const std::string mount = "mount -t tmpfs -o size=64m none /dev/shm || exit 77; export SHOAL_SEGMENT=posix; ";
  const std::string job = std::string(SHOALRUN) + " -n 8 --channel 4K --heap ";
  const std::string end_of_job = " >/dev/null; echo status $?; ";
  const auto program = [&](const std::string& does) { return " " + rank_program() + " " + does + " -" + end_of_job; };
  // 4 MiB are reserved for each communicator of eight: five more of them fit, thirty do not.
  RunningJob inside({"-n", "1", "unshare", "-m", "sh", "-c",
                     mount + job + "64M" + program("nowhere 0") + job + "2K" + program("nowhere 0") + job + "2K" +
                         program("split 5") + job + "2K" + program("split 30") + "ls -A /dev/shm"});
  const JobEnd end = inside.wait();
  if (end.exit_code == 77 || end.out.empty()) GTEST_SKIP() << "no mounting here: " << end.err;
  EXPECT_THAT(lines_of(end.out), ElementsAre("status 1", "status 0", "status 0", "status 1"));
  EXPECT_THAT(end.err, HasSubstr("cannot be had in /dev/shm: needs "));
  EXPECT_THAT(end.err, HasSubstr(", has 64.0 MiB; a smaller --heap needs less, a container gets more by --shm-size"));
  EXPECT_THAT(end.err, HasSubstr("split: no shared memory is left for the 512 KiB that each rank of a communicator"));
  EXPECT_THAT(end.err, Not(HasSubstr("SIGBUS")));
  EXPECT_THAT(inside.left_behind(), IsEmpty());
}

TEST(Segment, IsOfTheOtherKindByItselfWhereMemfdIsRefused) {
  const std::string script = "readlink /proc/self/fd/${SHOAL_JOB#memfd:}; exec " + rank_program() + " nowhere 0 -";
  const auto run_without = [&](const std::string& kind) {
    return RunningJob({"-n", "1", WITHOUT_MEMFD, SHOALRUN, "-n", "2", "--heap", "1M", "sh", "-c", script},
                      {"SHOAL_SEGMENT=" + kind})
        .wait();
  };
  // The job outside has its memfd: who asked for one by name inside is refused.
  const JobEnd refused = run_without("memfd");
  if (refused.exit_code == 77) GTEST_SKIP() << "no filters here";
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("shared memory cannot be had (memfd_create): Operation not permitted"));
  for (const std::string kind : {"auto", ""}) {
    const JobEnd end = run_without(kind);
    EXPECT_EQ(end.exit_code, 0) << end.err;
    EXPECT_THAT(end.out, testing::ContainsRegex("/dev/shm/shoal.[0-9a-f]+ \\(deleted\\)"));
  }
}

TEST(Segment, TakesNoNameThatSomebodyForesawAndMadeBefore) {
  const std::filesystem::path foreseen = "/dev/shm/shoal." + std::string(32, '1');
  const std::filesystem::path bystander = testing::TempDir() + "bystander." + std::to_string(::getpid());
  std::ofstream(bystander) << "as it was";
  for (const bool link : {true, false}) {
    if (link) {
      std::filesystem::create_symlink(bystander, foreseen);
    } else {
      std::filesystem::copy_file(bystander, foreseen);
    }
    const JobEnd end = RunningJob({"-n", "2", "--heap", "1M", rank_program(), "nowhere", "0", "-"},
                                  {"SHOAL_SEGMENT=posix", std::string("LD_PRELOAD=") + FORESEEN_RANDOM})
                           .wait();
    EXPECT_EQ(end.exit_code, 0) << end.err;
    EXPECT_TRUE(std::filesystem::remove(foreseen)) << "it is not ours to remove";
    std::ifstream file(bystander);
    std::string text;
    std::getline(file, text);
    EXPECT_EQ(text, "as it was");
  }
  std::filesystem::remove(bystander);
}

// In a place where /tmp, /dev/shm and the processes are the job's alone, so that what is there can be told exactly.
TEST(Segment, AndAllElseOfAJobIsGoneHoweverItEnds) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting takes root";
  const std::string build = std::filesystem::path(SHOALRUN).parent_path().parent_path();
  std::string script = "mount --rbind " + build + " /mnt && mount -t tmpfs none /tmp && mkdir -p " + build +
                       " && mount --rbind /mnt " + build +
                       " && mount -t tmpfs none /dev/shm || exit 77; "
                       "look() { ls -AR /tmp --ignore=" +
                       std::filesystem::path(build).filename().string() +
                       "; ls -A /dev/shm; cat /proc/[0-9]*/comm; }; look >/run/before.$$; ";
  script += "for kind in memfd posix; do for moment in before between last end; do for ending in";
  for (const Ending& ending : kEndings) script += " " + ending.action;
  script += "; do SHOAL_SEGMENT=$kind " SHOALRUN " -n 3 --heap 1M ";
  script += rank_program();
  script += " $moment 1 $ending >/dev/null 2>&1; test $? != 127 || echo none ran; done; done; done; ";
  script += "look >/run/after.$$; diff /run/before.$$ /run/after.$$ && echo the same; rm /run/before.$$ /run/after.$$";
  RunningJob inside({"-n", "1", "unshare", "-m", "-p", "--fork", "--mount-proc", "sh", "-c", script});
  const JobEnd end = inside.wait();
  if (end.exit_code == 77) GTEST_SKIP() << "no mounting here: " << end.err;
  EXPECT_EQ(end.out, "the same\n") << end.err;
}

// Also by what reads it on a user's demand, and for the report.
TEST(Segment, ThatARankCutsShortEndsTheJobWithOneErrorAndNotTheLauncher) {
  for (const int ranks : {1, 2, 4}) {
    RunningJob job(
        {"-n", std::to_string(ranks), "--heap", "1M", "--report", "/dev/null", rank_program(), "between", "0", "cut"},
        {"SHOAL_SEGMENT=posix"});
    const auto pids = pids_by_rank(job.await_output("pid", ranks), ranks);
    // Somebody must look at the memory: of one rank nobody else does.
    for (int look = 0; look < 3000 && !job.says("shared memory was cut", std::chrono::milliseconds(20)); ++look)
      job.signal(SIGQUIT);
    const JobEnd end = job.wait();
    EXPECT_EQ(end.exit_code, 1) << end.err;
    EXPECT_THAT(end.err, HasSubstr("shoalrun: the job's shared memory was cut: a rank made it shorter"));
    EXPECT_THAT(end.err, Not(HasSubstr("guard")));
    EXPECT_THAT(job.left_behind(), IsEmpty());
  }
}

TEST(Segment, OutOfWhichARankTakesMemoryThatIsNotToBeHadAgainEndsTheJobAndNotTheLauncher) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting takes root";
  const std::string mount = "mount -t tmpfs -o size=64m none /dev/shm || exit 77; export SHOAL_SEGMENT=posix; ";
  RunningJob inside({"-n", "1", "unshare", "-m", "sh", "-c",
                     mount + SHOALRUN + " -n 3 --channel 4K --heap 1M --report /dev/null " + rank_program() +
                         " between 1 hole >/dev/null; echo status $?"});
  const JobEnd end = inside.wait();
  if (end.exit_code == 77 || end.out.empty()) GTEST_SKIP() << "no mounting here: " << end.err;
  EXPECT_THAT(lines_of(end.out), ElementsAre("status 1"));
  EXPECT_THAT(end.err, HasSubstr("shoalrun: the job's shared memory was cut: "));
  EXPECT_THAT(inside.left_behind(), IsEmpty());
}

TEST(Segment, OfManyJobsAtOnceIsEachItsOwn) {
  std::vector<std::unique_ptr<RunningJob>> jobs;
  for (int i = 0; i < 50; ++i) {
    const std::string kind = i % 2 == 0 ? "posix" : "memfd";
    jobs.push_back(std::make_unique<RunningJob>(
        std::vector<std::string>{"-n", "2", "--heap", "1M", "--channel", "4K", rank_program(), "nowhere", "0", "-"},
        std::vector<std::string>{"SHOAL_SEGMENT=" + kind}));
  }
  for (const auto& job : jobs) {
    const JobEnd end = job->wait();
    EXPECT_EQ(end.exit_code, 0) << end.err;
  }
}

// The first processes of two namespaces have the same numbers, and see the same /dev/shm.
TEST(Segment, OfJobsInTwoProcessNamespacesIsEachItsOwn) {
  const std::string job = std::string("SHOAL_SEGMENT=posix ") + SHOALRUN + " -n 2 --heap 1M --channel 4K " +
                          rank_program() + " nowhere 0 -";
  const std::string in_namespace =
      "unshare --pid --fork --kill-child sh -c '" + job + "; echo status $?' || echo none; ";
  for (int repeat = 0; repeat < 10; ++repeat) {
    RunningJob both({"-n", "2", "sh", "-c", in_namespace});
    const JobEnd end = both.wait();
    if (end.out.find("none") != std::string::npos) GTEST_SKIP() << "no namespaces here: " << end.err;
    const auto lines = lines_of(end.out);
    EXPECT_EQ(std::ranges::count(lines, "status 0"), 2) << end.out << end.err;
    EXPECT_THAT(both.left_behind(), IsEmpty());
  }
}

}  // namespace
}  // namespace shoal::test
