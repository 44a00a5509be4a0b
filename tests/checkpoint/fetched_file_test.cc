#include "checkpoint/fetched_file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/checkpoint_directory.h"
#include "core/save_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string Numbers(uint64_t bytes, uint32_t seed) {
  std::string text(bytes, '\0');
  for (char& c : text) {
    seed = seed * 1664525 + 1013904223;
    c = static_cast<char>(seed >> 24);
  }
  return text;
}

// The file of a shard, of a header and the blocks 1 MiB, 1 MiB, .5 MiB and 100
// bytes; and a directory m/ckpt that does not have it.
class FetchedFileTest : public testing::Test {
 protected:
  FetchedFileTest() {
    auto writer = SafetensorsWriter::Create(
        &there_, kName, 1, {{"format", "shoal-shard"}},
        {{"a", DType::kU8, {5 * kMiB / 2}},
         {"none", DType::kU8, {0}},
         {"b", DType::kU8, {100}}});
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE((*writer)->Append(0, Numbers(5 * kMiB / 2, 1)).ok());
    EXPECT_TRUE((*writer)->Append(2, Numbers(100, 2)).ok());
    entry_ = *(*writer)->Commit();
    bytes_ = *there_.Contents(kName);
    EXPECT_TRUE(here_.CreateDirectories(kDirectory).ok());
  }

  void Restart() {
    file_ = nullptr;
    file_ = *FetchedFile::Create(
        {&here_, kDirectory, "rank-1", [this] { return cancelled_; }}, &entry_);
  }
  // Fetches until an error, until `parts` parts were added, or to the end.
  absl::Status Fetch(size_t parts = 1000) {
    Restart();
    absl::Status status = file_->Begin();
    while (status.ok()) {
      const auto range = file_->Next();
      if (!range.ok()) return range.status();
      if (!range->has_value()) {
        status = file_->Sync();
        return status.ok() ? file_->Commit() : status;
      }
      if (asked_.size() == parts) return absl::OkStatus();
      EXPECT_LE((*range)->bytes, kFilePartBytes);
      asked_.push_back(**range);
      status = file_->Add(
          absl::string_view(bytes_).substr((*range)->offset, (*range)->bytes));
    }
    return status;
  }
  uint64_t Asked() const {
    uint64_t bytes = 0;
    for (const FileRange& range : asked_) bytes += range.bytes;
    return bytes;
  }
  std::string Here() { return here_.Contents(Path()).value_or("none"); }
  static std::string Path() { return absl::StrCat(kDirectory, "/", kName); }
  size_t Files() { return here_.ListDirectory(kDirectory)->size(); }

  static constexpr char kDirectory[] = "m/ckpt-00000000005";
  static constexpr char kName[] = "shard-00000-of-00001.safetensors";
  static constexpr char kTemporary[] =
      "m/ckpt-00000000005/.shard-00000-of-00001.safetensors.fetch-rank-1";

  FakeFileSystem there_;
  FakeFileSystem here_;
  WrittenFile entry_;
  std::string bytes_;
  bool cancelled_ = false;
  std::unique_ptr<FetchedFile> file_;
  std::vector<FileRange> asked_;
};

TEST_F(FetchedFileTest, BlocksTileTheFile) {
  const auto blocks = BlocksOf(entry_);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(5));
  uint64_t end = 0;
  for (const FileBlock& block : *blocks) {
    EXPECT_EQ(block.offset, end);
    end += block.bytes;
  }
  EXPECT_EQ(end, bytes_.size());
  EXPECT_EQ((*blocks)[2].bytes, kMiB);
  EXPECT_EQ((*blocks)[3].tensor, "a");
}

TEST_F(FetchedFileTest, AnEntryWhoseBlocksDoNotTileTheFileIsRefused) {
  const WrittenFile good = entry_;
  const auto refused = [this, &good] {
    const absl::Status status = BlocksOf(entry_).status();
    entry_ = good;
    return absl::IsInvalidArgument(status);
  };
  entry_.tensors[0].checksums.blocks.pop_back();
  EXPECT_TRUE(refused());
  ++entry_.tensors[2].info.begin;
  EXPECT_TRUE(refused());
  ++entry_.size;
  EXPECT_TRUE(refused());
  entry_.data_begin = uint64_t{1} << 40;
  EXPECT_TRUE(refused());
  EXPECT_FALSE(refused());
}

TEST_F(FetchedFileTest, AFileThatIsNotHereComesWhole) {
  Restart();
  EXPECT_FALSE(*file_->IsSound());
  const absl::Status fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched;
  EXPECT_EQ(Asked(), bytes_.size());
  EXPECT_EQ(file_->fetched(), bytes_.size());
  EXPECT_EQ(file_->here(), bytes_.size());
  EXPECT_TRUE(Here() == bytes_);
  EXPECT_EQ(Files(), 1u) << "no temporary file is left";
  EXPECT_TRUE(*file_->IsSound());
}

TEST_F(FetchedFileTest, OnlyDamagedBlocksCome) {
  std::string damaged = bytes_;
  damaged[entry_.data_begin + kMiB + 5] ^= 1;
  here_.AddFile(Path(), damaged);
  Restart();
  EXPECT_FALSE(*file_->IsSound());
  ASSERT_TRUE(Fetch().ok());
  ASSERT_THAT(asked_, SizeIs(2));
  EXPECT_EQ(asked_[0].offset, entry_.data_begin + kMiB);
  EXPECT_EQ(Asked(), kMiB);
  EXPECT_TRUE(Here() == bytes_);
}

TEST_F(FetchedFileTest, ABlockThatCannotBeReadHereComes) {
  here_.AddFile(Path(), bytes_);
  here_.FailReads(Path(), absl::InternalError("EIO"),
                  entry_.data_begin + 2 * kMiB);
  Restart();
  EXPECT_FALSE(*file_->IsSound());
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Asked(), kMiB / 2 + 100);
}

TEST_F(FetchedFileTest, AFetchThatIsCutOffGoesOn) {
  ASSERT_TRUE(Fetch(4).ok());
  const uint64_t first = file_->here();
  EXPECT_EQ(first, entry_.data_begin + kMiB);
  EXPECT_TRUE(Here() == "none");
  // The next one is cut off while it still copies; nothing is lost by that.
  asked_.clear();
  file_ = nullptr;
  Restart();
  ASSERT_TRUE(file_->Begin().ok());
  cancelled_ = true;
  EXPECT_TRUE(absl::IsCancelled(file_->Next().status()));
  cancelled_ = false;
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Asked(), bytes_.size() - first);
  EXPECT_TRUE(Here() == bytes_);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FetchedFileTest, ACheckCanBeEnded) {
  here_.AddFile(Path(), bytes_);
  Restart();
  EXPECT_TRUE(*file_->IsSound());
  cancelled_ = true;
  EXPECT_TRUE(absl::IsCancelled(file_->IsSound().status()));
}

TEST_F(FetchedFileTest, ABlockWithoutItsCrcIsRefusedAndNamed) {
  const std::string good = bytes_;
  bytes_[entry_.data_begin + kMiB + 5] ^= 1;
  const absl::Status status = Fetch();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat(
                  kName, ": bytes ", entry_.data_begin + kMiB, " to ",
                  entry_.data_begin + 2 * kMiB, " (tensor 'a')")));
  EXPECT_TRUE(Here() == "none");
  // Blocks that came before it are kept.
  bytes_ = good;
  asked_.clear();
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Asked(), bytes_.size() - entry_.data_begin - kMiB);
}

TEST_F(FetchedFileTest, APartOfAnotherLengthIsRefused) {
  Restart();
  ASSERT_TRUE(file_->Begin().ok());
  const auto range = file_->Next();
  ASSERT_TRUE(range.ok() && range->has_value());
  EXPECT_TRUE(absl::IsDataLoss(
      file_->Add(absl::string_view(bytes_).substr(0, (*range)->bytes - 1))));
}

TEST_F(FetchedFileTest, AFullDiskKeepsNothing) {
  here_.LimitWrites(kTemporary, 3 * kMiB / 2);
  const absl::Status status = Fetch();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(kTemporary));
  file_ = nullptr;
  EXPECT_EQ(Files(), 0u);
}

TEST_F(FetchedFileTest, ACleanUpRemovesWhatIsLeft) {
  ASSERT_TRUE(Fetch(4).ok());
  Restart();
  ASSERT_TRUE(file_->Begin().ok());  // an earlier one, and this one's
  file_ = nullptr;
  EXPECT_EQ(Files(), 2u);
  const auto removed = RemoveVoidAttempts(here_, "m");
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_TRUE(here_.ListDirectory("m")->empty());
}

}  // namespace
}  // namespace shoal
