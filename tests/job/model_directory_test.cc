#include "job/model_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "checkpoint/checkpoint_directory.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ModelDirectoryTest : public ::testing::Test {
 protected:
  ModelDirectoryTest() {
    directory_ = absl::StrCat(::testing::TempDir(), "/model-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    flags_.checkpoints.model_dir = directory_ + "/m";
  }

  absl::Status Lock() {
    auto lock = LockOutput(*files_, flags_, &logger_);
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
  Logger logger_{{"", LogLevel::kError}};
  std::unique_ptr<OutputLock> held_;
};

TEST_F(ModelDirectoryTest, IsMadeAndLocked) {
  ASSERT_TRUE(Lock().ok());
  EXPECT_NE(held_, nullptr);
  EXPECT_THAT(Names(), ElementsAre("m"));
}

TEST_F(ModelDirectoryTest, ServersOfOneStartHaveItAndThoseOfAnotherDoNot) {
  flags_.deadlines.silent_after = absl::ZeroDuration();
  ASSERT_TRUE(Lock().ok());
  EXPECT_FALSE(LockWithServers(*files_, flags_, 0xb2).ok());
  ASSERT_TRUE(held_->Share(0xb2).ok());
  held_->Keep();
  const auto server = LockWithServers(*files_, flags_, 0xb2);
  EXPECT_TRUE(server.ok()) << server.status();
  held_ = nullptr;
  const absl::Status other = LockWithServers(*files_, flags_, 0xb3).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.message()),
              AllOf(HasSubstr("--model_dir=" + flags_.checkpoints.model_dir),
                    HasSubstr("LOCK.ps is locked by start b2, pid "),
                    HasSubstr("this is start b3"),
                    HasSubstr("give each job a separate directory")));
  // Nor has a job that begins, whose coordinator would clean it up.
  EXPECT_THAT(std::string(Lock().message()), HasSubstr("start b2"));
}

TEST_F(ModelDirectoryTest, AServerThatEndsIsWaitedForByAJobThatBegins) {
  flags_.deadlines.silent_after = absl::Seconds(60);
  auto server = LockWithServers(*files_, flags_, 0xb2);
  ASSERT_TRUE(server.ok()) << server.status();
  // It ends when the other one has said that it waits.
  int log[2];
  ASSERT_EQ(pipe(log), 0);
  const int stderr_before = dup(STDERR_FILENO);
  dup2(log[1], STDERR_FILENO);
  std::thread ends([&] {
    char line[512];
    EXPECT_GT(read(log[0], line, sizeof(line)), 0);
    server->reset();
  });
  Logger logger({"", LogLevel::kWarn});
  const auto leader = LockOutput(*files_, flags_, &logger);
  dup2(stderr_before, STDERR_FILENO);
  EXPECT_EQ(write(log[1], "\n", 1), 1);  // in case nothing was said
  ends.join();
  for (const int fd : {log[0], log[1], stderr_before}) close(fd);
  EXPECT_TRUE(leader.ok()) << leader.status();
}

TEST_F(ModelDirectoryTest, AJobThatSavesNothingTakesNoLock) {
  flags_.training.task_type = JobTask::kEvaluate;
  ASSERT_TRUE(Lock().ok());
  EXPECT_EQ(held_, nullptr);
  EXPECT_EQ(*LockWithServers(*files_, flags_, 1), nullptr);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ModelDirectoryTest, AJobThatIsRefusedLeavesNothingThatWasNotThere) {
  flags_.checkpoints.model_dir = directory_ + "/runs/m";
  const std::string start = flags_.checkpoints.model_dir + "/START";
  ASSERT_TRUE(Lock().ok());
  ASSERT_TRUE(files_->WriteFileAtomically(start, "1").ok());
  ASSERT_TRUE(held_->Share(0xb1).ok());
  held_ = nullptr;
  EXPECT_THAT(Names(), IsEmpty());

  ASSERT_TRUE(Lock().ok());
  ASSERT_TRUE(files_->WriteFileAtomically(start, "1").ok());
  ASSERT_TRUE(held_->Share(0xb2).ok());
  held_->Keep();
  held_ = nullptr;
  const auto kept = files_->ListDirectory(flags_.checkpoints.model_dir);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->size(), 3u);  // LOCK, LOCK.ps, START

  ASSERT_TRUE(Lock().ok());
  held_ = nullptr;
  EXPECT_EQ(files_->ListDirectory(flags_.checkpoints.model_dir)->size(), 3u)
      << "they are an earlier job's";
}

TEST_F(ModelDirectoryTest, ARefusedInferenceLeavesNoLock) {
  flags_.training.task_type = JobTask::kInfer;
  flags_.evaluation.predictions_file = directory_ + "/p";
  ASSERT_TRUE(Lock().ok());
  EXPECT_FALSE(Names().empty());
  held_ = nullptr;
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ModelDirectoryTest, PredictionsThroughALinkHaveTheLockOfTheirFile) {
  flags_.training.task_type = JobTask::kInfer;
  flags_.evaluation.predictions_file = directory_ + "/p";
  ASSERT_EQ(symlink("p", (directory_ + "/link").c_str()), 0);
  ASSERT_TRUE(Lock().ok());
  const auto first = std::move(held_);
  flags_.evaluation.predictions_file = directory_ + "/link";
  EXPECT_THAT(std::string(Lock().message()), HasSubstr("another inference"));
}

TEST_F(ModelDirectoryTest, PredictionsWithoutADirectoryNameIt) {
  flags_.training.task_type = JobTask::kInfer;
  flags_.evaluation.predictions_file = directory_ + "/none/p";
  EXPECT_EQ(Lock().message(),
            absl::StrCat("--predictions_file=", directory_, "/none/p: the "
                         "directory ", directory_, "/none does not exist"));
}

TEST_F(ModelDirectoryTest, WhereNoneCanBeMadeTheErrorSaysSo) {
  flags_.checkpoints.model_dir = "/proc/no_such_place";
  EXPECT_THAT(std::string(Lock().message()),
              HasSubstr("--model_dir: the directory cannot be made: "));
}

TEST_F(ModelDirectoryTest, IsNotMadeWhereACheckpointMustBe) {
  flags_.checkpoints.resume = CheckpointFlags::Resume::kMust;
  const absl::Status status = Lock();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--resume=must"));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ModelDirectoryTest, IsNoCheckpointForAnyTask) {
  const std::string named = directory_ + "/" + CheckpointName(7);
  for (const JobTask task :
       {JobTask::kTrain, JobTask::kEvaluate, JobTask::kInfer}) {
    flags_.training.task_type = task;
    flags_.evaluation.predictions_file = directory_ + "/p";
    // Only the name is that of one.
    flags_.checkpoints.model_dir = named + "-x";
    ASSERT_TRUE(Lock().ok()) << flags_.training.TaskName();
    held_ = nullptr;
    flags_.checkpoints.model_dir = named;
    ASSERT_TRUE(files_->CreateDirectories(named).ok());
    ASSERT_TRUE(
        files_->WriteFileAtomically(named + "/manifest.json", "{}").ok());
    EXPECT_THAT(std::string(Lock().message()), HasSubstr("is a checkpoint"));
  }
}

TEST_F(ModelDirectoryTest, NoLockIsLeftBesideWhatCannotHoldPredictions) {
  flags_.training.task_type = JobTask::kInfer;
  flags_.evaluation.predictions_file = directory_ + "/device";
  ASSERT_EQ(symlink("/dev/null", flags_.evaluation.predictions_file.c_str()),
            0);
  EXPECT_EQ(Lock().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Lock().message()), HasSubstr("--predictions_file: "));
  EXPECT_THAT(Names(), ElementsAre("device"));
  flags_.evaluation.predictions_file = directory_ + "/p";
  ASSERT_TRUE(Lock().ok());
  EXPECT_THAT(Names(), ElementsAre(".p.lock", "device"));
}

}  // namespace
}  // namespace shoal
