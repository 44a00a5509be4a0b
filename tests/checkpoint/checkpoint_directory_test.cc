#include "checkpoint/checkpoint_directory.h"

#include <string>
#include <vector>

#include "base/path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Code = absl::StatusCode;

class CheckpointDirectory : public testing::Test {
 protected:
  std::string At(uint64_t step) { return JoinPath("/m", CheckpointName(step)); }
  void Write(uint64_t step) { WriteSmallCheckpoint(files_, At(step), step); }
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    const auto entries = files_.ListDirectory(path);
    for (const DirectoryEntry& entry : *entries) {
      names.push_back(entry.name);
    }
    return names;
  }

  FakeFileSystem files_;
};

TEST(CheckpointNames, AreOneAStep) {
  EXPECT_EQ(CheckpointName(12345), "ckpt-00000012345");
  EXPECT_EQ(ShardFileName(2, 4), "shard-00002-of-00004.safetensors");
  for (const uint64_t step : {uint64_t{0}, uint64_t{99'999'999'999},
                              uint64_t{100'000'000'000}, ~uint64_t{0}}) {
    EXPECT_EQ(StepOfName(CheckpointName(step)), step);
  }
  for (const char* name :
       {"ckpt-", "ckpt-1", "ckpt-0000001234", "ckpt-000000123456", "ckpt",
        "ckpt-0000001234x", "ckpt--0000001234", "ckpt-+0000012345",
        "checkpoint-00000012345", "ckpt-99999999999999999999999"}) {
    EXPECT_EQ(StepOfName(name), std::nullopt) << name;
  }
}

TEST_F(CheckpointDirectory, ListsTheNewestFirstAndSaysWhyNot) {
  Write(5);
  Write(20);
  Write(100);
  Write(300);
  // 20: a file of another size. 100: no manifest. 300: a file is not here.
  files_.Truncate(JoinPath(At(20), ShardFileName(1, 2)), 10);
  ASSERT_TRUE(files_.Remove(JoinPath(At(100), kManifestFile)).ok());
  ASSERT_TRUE(files_.Remove(JoinPath(At(300), ShardFileName(0, 2))).ok());
  files_.AddFile("/m/ckpt-notes/manifest.json", "not ours");
  files_.AddFile("/m/ckpt-00000000400", "a file");

  const auto listed = ListCheckpoints(files_, "/m");
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), 4u);
  EXPECT_EQ((*listed)[0].name, "ckpt-00000000300");
  EXPECT_TRUE((*listed)[0].status.ok());
  EXPECT_THAT((*listed)[0].missing, ElementsAre(0));
  EXPECT_EQ((*listed)[1].status.code(), Code::kNotFound);
  EXPECT_EQ((*listed)[2].status.code(), Code::kDataLoss);
  EXPECT_THAT(std::string((*listed)[2].status.message()),
              HasSubstr("shard-00001-of-00002.safetensors: has 10 bytes"));
  EXPECT_TRUE((*listed)[3].whole());
  EXPECT_EQ((*listed)[3].manifest.step, 5u);

  EXPECT_EQ(NewestCheckpoint(files_, "/m", /*need_all_files=*/true)->step, 5u);
  EXPECT_EQ(NewestCheckpoint(files_, "/m", /*need_all_files=*/false)->step,
            300u);
  const absl::Status none = NewestCheckpoint(files_, "/none", true).status();
  EXPECT_EQ(none.code(), Code::kNotFound);
  EXPECT_THAT(*ListCheckpoints(files_, "/none"), IsEmpty());
}

TEST_F(CheckpointDirectory, ANewestSaveWithoutAManifestIsUnfinished) {
  EXPECT_EQ(UnfinishedSave(files_, "/none"), "");
  Write(5);
  EXPECT_EQ(UnfinishedSave(files_, "/m"), "");
  files_.AddFile(JoinPath(At(6), ShardFileName(0, 2)), "whole");
  EXPECT_EQ(UnfinishedSave(files_, "/m"), "ckpt-00000000006");
  Write(7);
  EXPECT_EQ(UnfinishedSave(files_, "/m"), "");
}

TEST_F(CheckpointDirectory, WhenNoneIsValidTheErrorSaysWhatThereIs) {
  Write(5);
  files_.AddFile(JoinPath(At(5), kManifestFile), "damaged");
  std::vector<std::string> passed_over;
  const absl::Status status =
      NewestCheckpoint(files_, "/m", true, &passed_over).status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_THAT(passed_over, ElementsAre(HasSubstr(At(5))));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("/m: holds no valid checkpoint"),
                    HasSubstr(JoinPath(At(5), kManifestFile))));
}

TEST_F(CheckpointDirectory, WhatWasCutOffGoesAndNoWholeShard) {
  Write(5);
  files_.AddFile(JoinPath(At(5), ".shard-00000-of-00002.safetensors.attempt-9"),
                 "left over");
  // Void, or a checkpoint whose manifest is on other hosts.
  files_.AddFile(JoinPath(At(6), ShardFileName(0, 2)), "whole");
  files_.AddFile(JoinPath(At(6), ".manifest.json.tmp-1-0"), "cut off");
  files_.AddFile(JoinPath(At(7), ".shard-00000-of-00002.safetensors.attempt-8"),
                 "cut off");
  files_.AddFile(JoinPath(At(8), ".shard-00000-of-00002.safetensors.attempt-7"),
                 "cut off");
  files_.AddFile(JoinPath(At(8), "notes.txt"), "of another program");
  Write(9);
  files_.AddFile(JoinPath(At(9), kManifestFile), "damaged: kept to look at");

  const auto removed = RemoveVoidAttempts(files_, "/m");
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_THAT(
      removed->names,
      ElementsAre(
          "ckpt-00000000008/.shard-00000-of-00002.safetensors.attempt-7",
          "ckpt-00000000007/.shard-00000-of-00002.safetensors.attempt-8",
          "ckpt-00000000007", "ckpt-00000000006/.manifest.json.tmp-1-0",
          "ckpt-00000000005/"
          ".shard-00000-of-00002.safetensors.attempt-9"));
  EXPECT_THAT(Names("/m"), ElementsAre("ckpt-00000000005", "ckpt-00000000006",
                                       "ckpt-00000000008", "ckpt-00000000009"));
  EXPECT_THAT(Names(At(6)), ElementsAre(ShardFileName(0, 2)));
  EXPECT_THAT(Names(At(8)), ElementsAre("notes.txt"));
  EXPECT_TRUE(InspectCheckpoint(files_, At(5)).whole());
}

TEST_F(CheckpointDirectory, ShardsWithoutAManifestGoWhenNewerOnesAreKept) {
  for (const uint64_t step : {3, 5}) Write(step);
  for (const uint64_t step : {1, 4, 6}) {
    files_.AddFile(JoinPath(At(step), ShardFileName(0, 2)), "whole");
  }
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(6), 0)->names, IsEmpty());
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(6), 3)->names, IsEmpty());
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(6), 2)->names,
              ElementsAre("ckpt-00000000001"));
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(6), 1)->names,
              ElementsAre("ckpt-00000000004", "ckpt-00000000003"));
}

TEST_F(CheckpointDirectory, TheNewestAreKept) {
  for (const uint64_t step : {1, 2, 3, 4, 5}) Write(step);
  files_.AddFile(JoinPath(At(4), kManifestFile), "damaged");
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(5), 0)->names, IsEmpty());
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(5), 9)->names, IsEmpty());
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(5), 2)->names,
              ElementsAre("ckpt-00000000002", "ckpt-00000000001"));
  EXPECT_THAT(Names("/m"), ElementsAre("ckpt-00000000003", "ckpt-00000000004",
                                       "ckpt-00000000005"));
}

// A step that another host's loss has left incomplete counts as valid here, and
// a job resumes from before it: what that job saves must stay.
TEST_F(CheckpointDirectory, TheOneJustCommittedIsKeptBelowOlderOnes) {
  for (const uint64_t step : {100, 150, 200}) Write(step);
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(150), 1)->names,
              ElementsAre(CheckpointName(100)));
  EXPECT_THAT(Names("/m"),
              ElementsAre(CheckpointName(150), CheckpointName(200)));
}

TEST_F(CheckpointDirectory, WhatWasSetAsideGoesWithItsDirectory) {
  for (const uint64_t step : {1, 2, 3}) Write(step);
  files_.AddFile(JoinPath(At(1), "manifest.json.stale-7"), "x");
  files_.AddFile(JoinPath(At(1), ShardFileName(0, 2) + ".stale-7"), "x");
  files_.AddFile(JoinPath(At(2), "notes.txt"), "of another program");
  EXPECT_THAT(KeepNewest(files_, "/m", CheckpointName(3), 1)->names,
              ElementsAre(CheckpointName(1)));
  EXPECT_THAT(Names("/m"), ElementsAre(CheckpointName(2), CheckpointName(3)));
  EXPECT_THAT(Names(At(2)), ElementsAre("notes.txt"));
}

TEST_F(CheckpointDirectory, AnAttemptSetsAsideWhatIsInItsWay) {
  const std::string file = ShardFileName(0, 2);
  const auto prepare = [&](uint64_t attempt) {
    std::vector<std::string> aside;
    const auto path = PrepareCheckpoint(files_, "/m", CheckpointName(5), file,
                                        attempt, &aside);
    EXPECT_TRUE(path.ok()) << path.status();
    EXPECT_EQ(*path, At(5));
    return aside;
  };
  EXPECT_THAT(prepare(4), IsEmpty());
  EXPECT_THAT(prepare(5), IsEmpty());
  Write(5);  // another training's, of attempt 3
  const std::string shard = *files_.Contents(JoinPath(At(5), file));
  const std::string manifest = *files_.Contents(JoinPath(At(5), kManifestFile));
  EXPECT_THAT(prepare(6), ElementsAre(At(5) + "/manifest.json.stale-6",
                                      At(5) + "/" + file + ".stale-6"));
  EXPECT_TRUE(absl::IsNotFound(InspectCheckpoint(files_, At(5)).status));
  EXPECT_EQ(*files_.Contents(At(5) + "/manifest.json.stale-6"), manifest);
  EXPECT_EQ(*files_.Contents(At(5) + "/" + file + ".stale-6"), shard);
  // The other shard's server comes later, and the disk is one.
  const std::string other = ShardFileName(1, 2);
  std::vector<std::string> aside;
  ASSERT_TRUE(
      PrepareCheckpoint(files_, "/m", CheckpointName(5), other, 6, &aside)
          .ok());
  EXPECT_THAT(aside, ElementsAre(At(5) + "/" + other + ".stale-6"));
  files_.AddFile(JoinPath(At(5), kManifestFile), "damaged");
  EXPECT_THAT(prepare(7), ElementsAre(At(5) + "/manifest.json.stale-7"));
  // Files that were set aside disturb no later attempt, and no attempt removes
  // them.
  ASSERT_TRUE(RemoveVoidAttempts(files_, "/m").ok());
  EXPECT_TRUE(files_.Contents(At(5) + "/manifest.json.stale-6").ok());
}

TEST_F(CheckpointDirectory, ACheckpointOfALaterAttemptIsNotWrittenOver) {
  Write(5);
  const auto prepare = [&](const char* name, uint64_t attempt) {
    return PrepareCheckpoint(files_, "/m", name, ShardFileName(0, 2), attempt)
        .status()
        .code();
  };
  EXPECT_EQ(prepare("ckpt-00000000005", 3), Code::kAlreadyExists);
  EXPECT_EQ(prepare("ckpt-00000000005", 2), Code::kAlreadyExists);
  EXPECT_TRUE(InspectCheckpoint(files_, At(5)).whole());
  EXPECT_EQ(prepare("../elsewhere", 9), Code::kInvalidArgument);
}

TEST_F(CheckpointDirectory, ACopyOfAManifestIsCheckedBeforeItIsWritten) {
  Write(5);
  const std::string json = *ReadManifestBytes(files_, At(5));
  ASSERT_TRUE(WriteManifestBytes(files_, "/other/c", json).ok());
  EXPECT_EQ(*files_.Contents("/other/c/manifest.json"), json);
  EXPECT_EQ(WriteManifestBytes(files_, "/other/d", "{}").code(),
            Code::kDataLoss);
  EXPECT_FALSE(files_.Contents("/other/d/manifest.json").ok());
}

}  // namespace
}  // namespace shoal
