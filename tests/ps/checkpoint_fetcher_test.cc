#include "ps/server/checkpoint_fetcher.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/verify.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The coordinator's disk has a checkpoint of two files; this host's disk has
// what a test puts there.
class CheckpointFetcherTest : public testing::Test {
 protected:
  CheckpointFetcherTest() {
    manifest_ = WriteSmallCheckpoint(there_, Path(), 20);
    text_ = *ReadManifestBytes(there_, Path());
    Restart();
  }

  // A new process, or a new life.
  void Restart() {
    fetcher_ = std::make_shared<CheckpointFetcher>(
        CheckpointFetcher::Options{"m", "rank-1"}, &here_, &control_, &disk_,
        &logger_);
    asked_.clear();
    done_.reset();
    fetcher_->Start([this](ProcessMessage message) {
      asked_.push_back(std::get<FileRequest>(std::move(message)));
    });
  }
  // Fetches while the coordinator answers `answers` requests.
  absl::Status Fetch(size_t answers = 1000) {
    fetcher_->Fetch(CheckpointName(20), text_, /*start=*/0x77, shards_,
                    [this](absl::Status status) { done_ = status; });
    simulator_.RunUntilIdle();
    for (size_t i = 0; i < answers && i < asked_.size(); ++i) {
      fetcher_->On(Answer(asked_[i]));
      simulator_.RunUntilIdle();
    }
    return done_.value_or(absl::UnknownError("not done"));
  }
  FilePart Answer(const FileRequest& request) {
    FilePart part = {request.directory, request.file, request.offset, "",
                     refusal_};
    if (!refusal_.ok()) return part;
    const std::string path = absl::StrCat(Path(), "/", request.file);
    part.bytes =
        there_.Contents(path)->substr(request.offset, request.bytes);
    return part;
  }
  // What is not as the manifest says on this disk, with the manifest.
  bool Whole() {
    const auto manifest = ReadManifest(here_, Path());
    return manifest.ok() && VerifyCheckpoint(here_, Path(), *manifest, {}).ok();
  }
  std::vector<std::string> Files() {
    const auto entries = here_.ListDirectory(Path());
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<std::string> names;
    for (size_t i = 0; entries.ok() && i < entries->size(); ++i) {
      names.push_back((*entries)[i].name);
    }
    return names;
  }
  std::string File(int shard) {
    return absl::StrCat(Path(), "/", ShardFileName(shard, 2));
  }
  std::string Damaged(int shard) {
    std::string bytes = *there_.Contents(File(shard));
    bytes[bytes.size() - 3] ^= 1;
    return bytes;
  }
  static std::string Path() { return absl::StrCat("m/", CheckpointName(20)); }

  Simulator simulator_;
  SimulatedExecutor control_{&simulator_};
  SimulatedExecutor disk_{&simulator_};
  Logger logger_{{"", LogLevel::kError}};
  FakeFileSystem there_;
  FakeFileSystem here_;
  Manifest manifest_;
  std::string text_;
  std::vector<int> shards_ = {0, 1};
  absl::Status refusal_;
  std::shared_ptr<CheckpointFetcher> fetcher_;
  std::vector<FileRequest> asked_;
  std::optional<absl::Status> done_;
};

TEST_F(CheckpointFetcherTest, ADiskThatHasNothingGetsEverything) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  const absl::Status fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched;
  EXPECT_TRUE(Whole());
  EXPECT_THAT(Files(), SizeIs(3));
  // A header and three tensors of each file, one part at a time.
  EXPECT_THAT(asked_, SizeIs(8));
}

TEST_F(CheckpointFetcherTest, OnePartIsAskedForAtATime) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  EXPECT_FALSE(Fetch(0).ok());
  FilePart stray = Answer(asked_[0]);
  stray.offset += 1;
  fetcher_->On(stray);
  stray = Answer(asked_[0]);
  stray.file = "manifest.json";
  fetcher_->On(stray);
  simulator_.RunUntilIdle();
  EXPECT_FALSE(done_.has_value()) << "it takes what it asked for alone";
  EXPECT_THAT(asked_, SizeIs(1));
}

TEST_F(CheckpointFetcherTest, AWholeCheckpointAsksForNothing) {
  WriteSmallCheckpoint(here_, Path(), 20);
  EXPECT_TRUE(Fetch().ok());
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(CheckpointFetcherTest, ADamagedBlockIsReplaced) {
  WriteSmallCheckpoint(here_, Path(), 20);
  here_.AddFile(File(1), Damaged(1));
  ASSERT_FALSE(Whole());
  ASSERT_TRUE(Fetch().ok());
  EXPECT_THAT(asked_, SizeIs(1));
  EXPECT_TRUE(Whole());
  EXPECT_THAT(Files(), SizeIs(3)) << "a damaged file is no use";
}

TEST_F(CheckpointFetcherTest, TheManifestIsWrittenLast) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  EXPECT_FALSE(Fetch(7).ok());
  EXPECT_FALSE(done_.has_value());
  EXPECT_TRUE(here_.OpenForRead(File(0)).ok());
  EXPECT_TRUE(absl::IsNotFound(ReadManifest(here_, Path()).status()));
  // The process dies, and the next one fetches what is left.
  Restart();
  ASSERT_TRUE(Fetch().ok());
  EXPECT_THAT(asked_, SizeIs(1));
  EXPECT_TRUE(Whole());
}

TEST_F(CheckpointFetcherTest, FilesOfAnotherTrainingAreSetAside) {
  WriteSmallCheckpoint(here_, Path(), 20);
  here_.AddFile(File(0), "another shard");
  here_.AddFile(absl::StrCat(Path(), "/", kManifestFile), "another manifest");
  ASSERT_TRUE(Fetch().ok());
  EXPECT_TRUE(Whole());
  EXPECT_THAT(Files(), SizeIs(5)) << "file 1 is one of this checkpoint";
  EXPECT_EQ(*here_.Contents(absl::StrCat(File(0), ".stale-", 0x77)),
            "another shard");
  EXPECT_EQ(*here_.Contents(absl::StrCat(Path(), "/", kManifestFile, ".stale-",
                                         0x77)),
            "another manifest");
}

TEST_F(CheckpointFetcherTest, ABlockThatIsDamagedThereIsNamed) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  there_.AddFile(File(1), Damaged(1));
  const absl::Status status = Fetch();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr(absl::StrCat(CheckpointName(20), "/", ShardFileName(1, 2),
                                   ": bytes ")),
            HasSubstr("came without their CRC from the coordinator"),
            HasSubstr("`shoal ckpt verify` on its host")));
  EXPECT_TRUE(absl::IsNotFound(here_.OpenForRead(File(1)).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadManifest(here_, Path()).status()));
}

TEST_F(CheckpointFetcherTest, AFileThatTheCoordinatorCannotReadIsNamed) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  refusal_ = absl::PermissionDeniedError("/far/file: Permission denied");
  const absl::Status status = Fetch();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(ShardFileName(0, 2)),
                    HasSubstr("the coordinator cannot send it: /far/file")));
}

TEST_F(CheckpointFetcherTest, AFullDiskSaysWhatToDo) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  here_.LimitWrites(absl::StrCat(Path(), "/.", ShardFileName(0, 2),
                                 ".fetch-rank-1"),
                    10);
  const absl::Status status = Fetch();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("No space left"), HasSubstr("free as much there"),
                    HasSubstr("--model_dir on another disk")));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(CheckpointFetcherTest, AStopEndsTheFetchOnceAndKeepsWhatIsHere) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  EXPECT_FALSE(Fetch(2).ok());
  EXPECT_FALSE(done_.has_value());
  fetcher_->Stop();
  fetcher_->On(Answer(asked_.back()));
  simulator_.RunUntilIdle();
  ASSERT_TRUE(done_.has_value());
  EXPECT_TRUE(absl::IsCancelled(*done_)) << *done_;
  EXPECT_THAT(Files(), ElementsAre(absl::StrCat(".", ShardFileName(0, 2),
                                                ".fetch-rank-1")));
  Restart();
  ASSERT_TRUE(Fetch().ok());
  EXPECT_THAT(asked_, SizeIs(6)) << "two blocks were here";
}

// A rank of hybrid loads the dense variables, and servers the rows.
TEST_F(CheckpointFetcherTest, FilesThatTheProcessDoesNotLoadAreNotFetched) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  shards_ = {1};
  EXPECT_TRUE(Fetch().ok());
  EXPECT_FALSE(asked_.empty());
  for (const FileRequest& request : asked_) {
    EXPECT_EQ(request.file, ShardFileName(1, 2));
  }
  EXPECT_EQ(Files().size(), 2u) << "the file and the manifest";
  EXPECT_EQ(here_.Contents(File(1)), there_.Contents(File(1)));
}

TEST_F(CheckpointFetcherTest, AStopWhileTheDiskWorksEndsTheFetchToo) {
  ASSERT_TRUE(here_.CreateDirectories("m").ok());
  fetcher_->Fetch(CheckpointName(20), text_, 0x77, shards_,
                  [this](absl::Status status) { done_ = status; });
  fetcher_->Stop();
  simulator_.RunUntilIdle();
  ASSERT_TRUE(done_.has_value());
  EXPECT_TRUE(absl::IsCancelled(*done_)) << *done_;
  EXPECT_THAT(asked_, IsEmpty());
}

}  // namespace
}  // namespace shoal
