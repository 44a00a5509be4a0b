#include "cmd/model_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "checkpoint/checkpoint_directory.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ModelDirectoryTest : public ::testing::Test {
 protected:
  ModelDirectoryTest() {
    directory_ = absl::StrCat(::testing::TempDir(), "/model-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    flags_.model_dir = directory_ + "/m";
  }

  absl::Status Lock() {
    auto lock = LockOutput(*files_, flags_);
    if (lock.ok()) held_ = *std::move(lock);
    return lock.status();
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const auto entries = files_->ListDirectory(directory_).value();
    for (const DirectoryEntry& entry : entries) names.push_back(entry.name);
    return names;
  }

  const std::unique_ptr<FileSystem> files_ = NewPosixFileSystem();
  std::string directory_;
  JobFlags flags_{Command::kTrain};
  std::unique_ptr<OutputLock> held_;
};

TEST_F(ModelDirectoryTest, IsMadeAndLocked) {
  ASSERT_TRUE(Lock().ok());
  EXPECT_NE(held_, nullptr);
  EXPECT_THAT(Names(), ElementsAre("m"));
}

TEST_F(ModelDirectoryTest, AJobThatIsRefusedLeavesNothingThatWasNotThere) {
  flags_.model_dir = directory_ + "/runs/m";
  const std::string start = flags_.model_dir + "/START";
  ASSERT_TRUE(Lock().ok());
  ASSERT_TRUE(files_->WriteFileAtomically(start, "1").ok());
  held_ = nullptr;
  EXPECT_THAT(Names(), IsEmpty());

  ASSERT_TRUE(Lock().ok());
  ASSERT_TRUE(files_->WriteFileAtomically(start, "1").ok());
  held_->Keep();
  held_ = nullptr;
  const auto kept = files_->ListDirectory(flags_.model_dir);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->size(), 2u);  // LOCK, START

  ASSERT_TRUE(Lock().ok());
  held_ = nullptr;
  EXPECT_EQ(files_->ListDirectory(flags_.model_dir)->size(), 2u)
      << "they are an earlier job's";
}

TEST_F(ModelDirectoryTest, ARefusedInferenceLeavesNoLock) {
  flags_.task_type = "infer";
  flags_.predictions_file = directory_ + "/p";
  ASSERT_TRUE(Lock().ok());
  EXPECT_FALSE(Names().empty());
  held_ = nullptr;
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ModelDirectoryTest, PredictionsThroughALinkHaveTheLockOfTheirFile) {
  flags_.task_type = "infer";
  flags_.predictions_file = directory_ + "/p";
  ASSERT_EQ(symlink("p", (directory_ + "/link").c_str()), 0);
  ASSERT_TRUE(Lock().ok());
  const auto first = std::move(held_);
  flags_.predictions_file = directory_ + "/link";
  EXPECT_THAT(std::string(Lock().message()), HasSubstr("another inference"));
}

TEST_F(ModelDirectoryTest, IsNotMadeWhereACheckpointMustBe) {
  flags_.resume = "must";
  const absl::Status status = Lock();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--resume=must"));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ModelDirectoryTest, IsNoCheckpointForAnyTask) {
  const std::string named = directory_ + "/" + CheckpointName(7);
  for (const char* task : {"train", "eval", "infer"}) {
    flags_.task_type = task;
    flags_.predictions_file = directory_ + "/p";
    // Only the name is that of one.
    flags_.model_dir = named + "-x";
    ASSERT_TRUE(Lock().ok()) << task;
    held_ = nullptr;
    flags_.model_dir = named;
    ASSERT_TRUE(files_->CreateDirectories(named).ok());
    ASSERT_TRUE(
        files_->WriteFileAtomically(named + "/manifest.json", "{}").ok());
    EXPECT_THAT(std::string(Lock().message()), HasSubstr("is a checkpoint"));
  }
}

TEST_F(ModelDirectoryTest, NoLockIsLeftBesideWhatCannotHoldPredictions) {
  flags_.task_type = "infer";
  flags_.predictions_file = directory_ + "/device";
  ASSERT_EQ(symlink("/dev/null", flags_.predictions_file.c_str()), 0);
  EXPECT_EQ(Lock().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Lock().message()), HasSubstr("--predictions_file: "));
  EXPECT_THAT(Names(), ElementsAre("device"));
  flags_.predictions_file = directory_ + "/p";
  ASSERT_TRUE(Lock().ok());
  EXPECT_THAT(Names(), ElementsAre(".p.lock", "device"));
}

}  // namespace
}  // namespace shoal
