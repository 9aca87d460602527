// A writer of checkpoints that is killed at any moment: the newest whole one is as new as the last that it reported, and
// whole it is.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <random>

#include "checkpoint/checkpoint_folder.h"
#include "checkpoint/file_error.h"

namespace shoal::checkpoint {
namespace {

namespace fs = std::filesystem;

std::string content(std::uint64_t step, int rank) {
  return std::string(1000 + static_cast<std::size_t>(rank), static_cast<char>('a' + step % 26));
}

[[noreturn]] void write_for_ever(const fs::path& directory, std::atomic<std::uint64_t>& committed) {
  CheckpointFolder folder(directory);
  folder.open_for_writing();
  for (std::uint64_t step = committed.load(std::memory_order_relaxed) + 1;; ++step) {
    folder.begin(step);
    Manifest manifest{.step = step, .world = 2, .files = {}, .run = {}};
    for (int rank = 0; rank < 2; ++rank) {
      SyncedFile file(folder.writing_folder(step) / CheckpointFolder::shard_name(rank, 2));
      file.write(content(step, rank));
      manifest.files.push_back(file.finish());
    }
    folder.commit(manifest);
    committed.store(step, std::memory_order_relaxed);
    folder.prune(2);
  }
}

/// How long a checkpoint takes on this disk: the writer makes ten, and is killed.
std::chrono::nanoseconds time_of_one(const fs::path& directory, std::atomic<std::uint64_t>& committed) {
  constexpr std::uint64_t kMade = 10;
  const auto start = std::chrono::steady_clock::now();
  const pid_t writer = ::fork();
  if (writer == 0) write_for_ever(directory, committed);
  while (committed.load(std::memory_order_relaxed) < kMade && ::waitpid(writer, nullptr, WNOHANG) == 0) ::usleep(100);
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  return (std::chrono::steady_clock::now() - start) / kMade;
}

TEST(CheckpointsKilledAtAnyMoment, LeaveTheNewestWholeOne) {
  const fs::path directory = fs::path(testing::TempDir()) / ("shoal-checkpoint-kill-" + std::to_string(::getpid()));
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& committed = *new (page) std::atomic<std::uint64_t>(0);
  const auto of_one = time_of_one(directory, committed);
  const auto longest = std::min<std::chrono::nanoseconds>(4 * of_one, std::chrono::milliseconds(300));
  std::mt19937 random(11);
  int passed_over = 0;
  for (int round = 0; round < 250; ++round) {
    const pid_t writer = ::fork();
    if (writer == 0) write_for_ever(directory, committed);
    const timespec pause{.tv_sec = 0, .tv_nsec = std::uniform_int_distribution<long>(0, longest.count())(random)};
    ::nanosleep(&pause, nullptr);
    ::kill(writer, SIGKILL);
    int status = 0;
    ::waitpid(writer, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";

    const CheckpointFolder folder(directory);
    const auto newest = folder.newest([&](const std::string&) { ++passed_over; });
    const std::uint64_t reported = committed.load(std::memory_order_relaxed);
    if (reported == 0) continue;
    ASSERT_TRUE(newest.has_value()) << "round " << round;
    ASSERT_TRUE(*newest == reported || *newest == reported + 1) << *newest << " after " << reported;
    const Manifest manifest = folder.manifest(*newest);
    for (int rank = 0; rank < 2; ++rank) {
      const FileInfo& file = manifest.files[static_cast<std::size_t>(rank)];
      folder.verify(*newest, file);
      EXPECT_EQ(file.bytes, content(*newest, rank).size());
    }
    committed.store(*newest, std::memory_order_relaxed);
  }
  EXPECT_GT(committed.load(std::memory_order_relaxed), 100U);  // It did write.
  EXPECT_EQ(passed_over, 0);                                   // What has the name of a checkpoint is one.
  fs::remove_all(directory);
  ::munmap(page, 4096);
}

}  // namespace
}  // namespace shoal::checkpoint
