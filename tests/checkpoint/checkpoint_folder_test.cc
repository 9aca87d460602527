#include "checkpoint/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "checkpoint/file_error.h"
#include "support/temporary_folder.h"

namespace shoal::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Folder : public testing::Test {
 protected:
  fs::path directory() const { return folder_.path() / "checkpoints"; }

  static void save(const CheckpointFolder& folder, std::uint64_t step) {
    folder.begin(step);
    Manifest manifest{.step = step, .world = 2, .files = {}, .run = {{"seed", 3}}};
    for (int rank = 0; rank < 2; ++rank) {
      SyncedFile file(folder.writing_folder(step) / CheckpointFolder::shard_name(rank, 2));
      file.write("step " + std::to_string(step) + " of rank " + std::to_string(rank));
      manifest.files.push_back(file.finish());
    }
    folder.commit(manifest);
  }

  std::optional<std::uint64_t> newest(const CheckpointFolder& folder) {
    return folder.newest([&](const std::string& text) { notes_.push_back(text); });
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory())) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::vector<std::string> notes_;

 private:
  shoal::test::TemporaryFolder folder_;
};

TEST_F(Folder, FindsTheNewestAndReadsWhatWasWritten) {
  CheckpointFolder folder(directory());
  EXPECT_EQ(newest(folder), std::nullopt);  // There is not even a directory.
  folder.open_for_writing();
  EXPECT_EQ(newest(folder), std::nullopt);
  for (const std::uint64_t step : {9U, 120U, 30U}) save(folder, step);
  EXPECT_EQ(newest(folder), 120U);
  EXPECT_THAT(names(), ElementsAre("step-000000000009", "step-000000000030", "step-000000000120"));
  const Manifest manifest = folder.manifest(120);
  EXPECT_EQ(manifest.world, 2U);
  EXPECT_EQ(manifest.run.at("seed"), 3);
  ASSERT_EQ(manifest.files.size(), 2U);
  EXPECT_EQ(manifest.files[1].name, "shard-00001-of-00002.safetensors");
  EXPECT_EQ(manifest.files[1].bytes, 18U);
  for (const FileInfo& file : manifest.files) folder.verify(120, file);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(Folder, PassesOverWhatIsIncompleteAndSaysSo) {
  CheckpointFolder folder(directory());
  folder.open_for_writing();
  for (const std::uint64_t step : {1U, 2U, 3U, 4U, 5U, 6U}) save(folder, step);
  fs::create_directory(directory() / "step-000000000099");  // Empty.
  fs::create_directory(directory() / "step-77");            // Not one of ours.
  fs::remove(folder.folder(6) / "manifest.json");
  fs::remove(folder.folder(5) / "shard-00001-of-00002.safetensors");
  fs::resize_file(folder.folder(4) / "shard-00000-of-00002.safetensors", 3);
  fs::resize_file(folder.folder(3) / "manifest.json", 100);
  EXPECT_EQ(newest(folder), 2U);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("step-000000000099/manifest.json"), HasSubstr("step-000000000006"),
                                  HasSubstr("shard-00001"), HasSubstr("has 3 bytes"), HasSubstr("is no manifest")));
  // What is incomplete stands in the way of nobody, and the newest whole ones are what is kept.
  save(folder, 5);
  EXPECT_EQ(newest(folder), 5U);
  folder.prune(2);
  EXPECT_EQ(newest(folder), 5U);
  EXPECT_FALSE(fs::exists(folder.folder(1)));
  EXPECT_TRUE(fs::exists(folder.folder(2)));
}

TEST_F(Folder, FindsAByteThatChanged) {
  CheckpointFolder folder(directory());
  folder.open_for_writing();
  save(folder, 7);
  std::fstream(folder.folder(7) / "shard-00001-of-00002.safetensors", std::ios::in | std::ios::out).seekp(4).put('X');
  EXPECT_EQ(newest(folder), 7U);  // Its size is right.
  const Manifest manifest = folder.manifest(7);
  folder.verify(7, manifest.files[0]);
  EXPECT_THROW(folder.verify(7, manifest.files[1]), FileError);
}

TEST_F(Folder, IsWrittenByOneJobAtATimeAndCleanedOfWhatADeadOneLeft) {
  CheckpointFolder folder(directory());
  folder.open_for_writing();
  save(folder, 3);
  folder.begin(4);
  fs::create_directory(directory() / ".removing-step-000000000001");
  CheckpointFolder second(directory());
  try {
    second.open_for_writing();
    ADD_FAILURE() << "two writers";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("another job writes its checkpoints there"));
  }
  EXPECT_EQ(newest(second), 3U);  // Reading is nobody's privilege.
  EXPECT_THAT(names(), ElementsAre(".removing-step-000000000001", ".writing-step-000000000004", "step-000000000003"));
}

TEST_F(Folder, IsFreeAgainWhenItsWriterIsGone) {
  {
    CheckpointFolder folder(directory());
    folder.open_for_writing();
    save(folder, 3);
    folder.begin(4);
  }
  CheckpointFolder folder(directory());
  folder.open_for_writing();
  EXPECT_THAT(names(), ElementsAre("step-000000000003"));
}

TEST_F(Folder, TakesNoFileFromElsewhere) {
  CheckpointFolder folder(directory());
  folder.open_for_writing();
  for (const std::string name : {"../secret", "/etc/passwd", "", "a/b"}) {
    save(folder, 1);
    std::ofstream(folder.folder(1) / "manifest.json")
        << R"({"schema":"shoal.checkpoint/1","step":1,"world":1,"run":{},"files":[{"name":")" << name
        << R"(","bytes":1,"sha256":""}]})";
    EXPECT_EQ(newest(folder), std::nullopt) << name;
  }
}

// A file limit is what a full disk is, and can be had in a test.
TEST_F(Folder, KeepsTheOldOneWhenTheDiskIsFull) {
  CheckpointFolder folder(directory());
  folder.open_for_writing();
  save(folder, 3);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      folder.begin(4);
      SyncedFile file(folder.writing_folder(4) / CheckpointFolder::shard_name(0, 2));
      file.write(std::string(600, 'x'));
      file.write(std::string(600, 'x'));
    } catch (const FileError& error) {
      folder.abandon(4);
      ::_exit(std::string(error.what()).find("cannot be written: File too large") != std::string::npos ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(newest(folder), 3U);
  EXPECT_THAT(names(), ElementsAre("step-000000000003"));
}

}  // namespace
}  // namespace shoal::checkpoint
