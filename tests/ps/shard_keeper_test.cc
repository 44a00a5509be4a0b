#include "ps/server/shard_keeper.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest.h"
#include "checkpoint/manifest_parts.h"
#include "checkpoint/shard_entry.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

class ShardKeeperTest : public testing::Test {
 protected:
  ShardKeeperTest() {
    EXPECT_TRUE(files_.CreateDirectories("m").ok());
    ParameterShardOptions options;
    options.job = "j";
    options.model.model = "test";
    options.model.tables = {{"ids", 4, {{"w", 1, {}, {}}}}};
    options.map.num_shards = 1;
    options.map.tables = {{PartitionKind::kMod, 4, 1}};
    options.life = {1, 1};
    model_ = options.model;
    map_ = options.map;
    auto shard = ParameterShard::Create(options, &strand_);
    EXPECT_TRUE(shard.ok()) << shard.status();
    shard_ = *std::move(shard);
    ShardKeeperOptions keeping;
    keeping.model_dir = "m";
    keeping.keep_checkpoints = 2;
    keeping.seal_timeout = absl::Milliseconds(1);
    keeper_ = std::make_shared<ShardKeeper>(keeping, &files_, &strand_,
                                            &strand_, &logger_);
    keeper_->Join([this](ProcessMessage m) { asked_.push_back(std::move(m)); });
    keeper_->Start(shard_,
                   [this](ProcessMessage m) { sent_.push_back(std::move(m)); });
  }

  // Holds the shard and has it written.
  ShardSaved Save(uint64_t number, uint64_t step) {
    keeper_->On(Hold{number});
    simulator_.RunUntilIdle();
    keeper_->On(SaveShard{number, CheckpointName(step), number});
    simulator_.RunUntilIdle();
    return std::get<ShardSaved>(sent_.back());
  }
  // Saves, and has the checkpoint committed; `shared`: the coordinator writes
  // its manifest onto this very disk.
  void Commit(uint64_t step, bool shared = false) {
    const ShardSaved saved = Save(step, step);
    ASSERT_TRUE(saved.status.ok()) << saved.status;
    Manifest manifest;
    manifest.step = step;
    manifest.attempt = step;
    manifest.model = model_;
    manifest.map = map_;
    manifest.data.batch_size = 1;
    manifest.data.num_epochs = 1;
    manifest.shards = {*ShardEntryFromText(saved.entry)};
    const auto json = ManifestToJson(manifest);
    ASSERT_TRUE(json.ok()) << json.status();
    if (shared) {
      ASSERT_TRUE(WriteManifest(files_, Path(step), manifest).ok());
    }
    const ManifestText text = TextOf(*json);
    keeper_->On(CheckpointDone{
        CheckpointName(step),
        in_parts_ ? ManifestOffer{text.name, ""} : OfferOf(text)});
    if (in_parts_) {
      simulator_.RunUntilIdle();
      AnswerManifestRequest(*json);
    }
    keeper_->On(Resume{step});
    simulator_.RunUntilIdle();
  }
  // The coordinator answers as `text` would have it; a second copy is ignored.
  void AnswerManifestRequest(const std::string& text) {
    ASSERT_EQ(asked_.size(), 1u);
    const auto request = std::get<ManifestRequest>(asked_[0]);
    asked_.clear();
    keeper_->On(PartOf(request.directory, text, request.offset));
    keeper_->On(PartOf(request.directory, text, request.offset));
  }
  // The shard marks these batches, as rejected.
  void MarkAll(const std::vector<BatchId>& batches) {
    shard_->ServeUntil(absl::InfiniteFuture());
    for (const BatchId& batch : batches) {
      PushRequest push;
      push.identity = {"j", {1, 2}, {1, 1}, map_.version};
      push.batches = {{.id = batch, .lease = 1, .rejected = true}};
      shard_->Push(push, absl::Seconds(1), [](absl::StatusOr<PushReply> reply) {
        EXPECT_TRUE(reply.ok()) << reply.status();
      });
    }
    simulator_.RunUntilIdle();
  }
  bool Written(uint64_t step) {
    return files_.OpenForRead(Path(step) + "/" + ShardFileName(0, 1)).ok();
  }
  static std::string Path(uint64_t step) { return "m/" + CheckpointName(step); }

  // Loads the checkpoint of a step on another host, whose disk is mine_ and
  // whose process fetches files under the name `fetch_as`.
  absl::StatusOr<std::shared_ptr<ParameterShard>> LoadElsewhere(
      uint64_t step, const std::string& fetch_as) {
    asked_.clear();
    ShardKeeperOptions keeping;
    keeping.model_dir = "m";
    keeping.fetch_as = fetch_as;
    auto keeper = std::make_shared<ShardKeeper>(keeping, &mine_, &strand_,
                                                &strand_, &logger_);
    keeper->Join([this](ProcessMessage m) { asked_.push_back(std::move(m)); });
    ParameterShardOptions options;
    options.job = "j";
    options.model = model_;
    options.map = map_;
    options.life = {2, 1};
    absl::StatusOr<std::shared_ptr<ParameterShard>> loaded =
        absl::UnknownError("not done");
    keeper->Load({CheckpointName(step),
                  OfferOf(TextOf(*ReadManifestBytes(files_, Path(step))))},
                 options, &strand_,
                 [&](absl::StatusOr<std::shared_ptr<ParameterShard>> shard) {
                   loaded = std::move(shard);
                 });
    simulator_.RunUntilIdle();
    for (size_t i = 0; i < asked_.size(); ++i) {
      const auto request = std::get<FileRequest>(asked_[i]);
      keeper->On(FilePart{
          request.directory, request.file, request.offset,
          files_.Contents("m/" + request.directory + "/" + request.file)
              ->substr(request.offset, request.bytes)});
      simulator_.RunUntilIdle();
    }
    return loaded;
  }

  Simulator simulator_;
  SimulatedExecutor strand_{&simulator_};
  Logger logger_{{"", LogLevel::kError}};
  FakeFileSystem files_;
  FakeFileSystem mine_;
  ModelSpec model_;
  ShardMap map_;
  std::shared_ptr<ParameterShard> shard_;
  std::shared_ptr<ShardKeeper> keeper_;
  bool in_parts_ = false;
  std::vector<ProcessMessage> asked_;
  std::vector<ProcessMessage> sent_;
};

TEST_F(ShardKeeperTest, HoldsAndWrites) {
  const ShardSaved saved = Save(7, 30);
  EXPECT_TRUE(saved.status.ok()) << saved.status;
  EXPECT_EQ(saved.number, 7u);
  EXPECT_TRUE(Written(30));
  ASSERT_EQ(sent_.size(), 3u);
  EXPECT_EQ(std::get<Held>(sent_[0]).number, 7u);
  EXPECT_EQ(std::get<ShardWritten>(sent_[1]).number, 7u);
}

TEST_F(ShardKeeperTest, AShardThatIsLetGoWhileItIsSyncedIsSavedAllTheSame) {
  keeper_->On(Hold{7});
  simulator_.RunUntilIdle();
  keeper_->On(SaveShard{7, CheckpointName(30), 7});
  simulator_.RunUntil(
      [this] { return std::holds_alternative<ShardWritten>(sent_.back()); },
      absl::InfiniteFuture());
  keeper_->On(Resume{7});
  simulator_.RunUntilIdle();
  EXPECT_TRUE(std::get<ShardSaved>(sent_.back()).status.ok());
  EXPECT_TRUE(Written(30));
  // It is open again, and takes part in the next.
  EXPECT_TRUE(Save(8, 40).status.ok());
}

TEST_F(ShardKeeperTest, RemovesWhatItWroteForAVoidCheckpoint) {
  Save(7, 30);
  keeper_->On(CheckpointVoid{6});  // another one's
  keeper_->On(Resume{7});
  simulator_.RunUntilIdle();
  EXPECT_TRUE(Written(30));
  keeper_->On(CheckpointVoid{7});
  simulator_.RunUntilIdle();
  EXPECT_FALSE(Written(30));
  EXPECT_TRUE(files_.ListDirectory("m")->empty());
}

TEST_F(ShardKeeperTest, WhatIsVoidBeforeItIsWrittenIsRemovedToo) {
  keeper_->On(Hold{7});
  simulator_.RunUntilIdle();
  keeper_->On(SaveShard{7, CheckpointName(30), 7});
  keeper_->On(CheckpointVoid{7});
  keeper_->On(Resume{7});
  simulator_.RunUntilIdle();
  EXPECT_FALSE(Written(30));
  EXPECT_EQ(std::get<ShardSaved>(sent_.back()).status.code(),
            absl::StatusCode::kCancelled)
      << "the coordinator waits for an answer";
}

TEST_F(ShardKeeperTest, WhatAManifestNamesStays) {
  Save(7, 30);
  // Another host's disk, or a coordinator that died behind it.
  files_.AddFile(Path(30) + "/" + kManifestFile, "{}");
  keeper_->On(CheckpointVoid{7});
  simulator_.RunUntilIdle();
  EXPECT_TRUE(Written(30));
}

TEST_F(ShardKeeperTest, WhatBecameACheckpointStays) {
  Save(7, 30);
  keeper_->On(
      CheckpointDone{CheckpointName(30), OfferOf(TextOf("no manifest"))});
  keeper_->On(CheckpointVoid{7});
  simulator_.RunUntilIdle();
  EXPECT_TRUE(Written(30));
}

TEST_F(ShardKeeperTest, OnADiskOfItsOwnItKeepsAsManyAsItIsTold) {
  for (const uint64_t step : {10, 20, 30}) Commit(step);
  EXPECT_FALSE(Written(10));
  EXPECT_TRUE(Written(20));
  EXPECT_TRUE(Written(30));
  EXPECT_TRUE(ReadManifest(files_, Path(30)).ok()) << "a copy beside the shard";
  EXPECT_TRUE(absl::IsNotFound(files_.ListDirectory(Path(10)).status()));
  // A manifest that did not come here: the shard may be of a checkpoint.
  files_.AddFile(Path(35) + "/" + ShardFileName(0, 1), "another shard");
  Commit(40);
  EXPECT_TRUE(Written(35));
  EXPECT_FALSE(Written(20));
}

TEST_F(ShardKeeperTest, AManifestThatNoMessageHoldsIsAskedFor) {
  in_parts_ = true;
  Commit(30);
  EXPECT_TRUE(ReadManifest(files_, Path(30)).ok());
  Commit(40, /*shared=*/false);
  EXPECT_TRUE(ReadManifest(files_, Path(40)).ok());
}

TEST_F(ShardKeeperTest, OneThatIsThereIsNotAskedFor) {
  Commit(30, /*shared=*/true);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ShardKeeperTest, AManifestOfOtherBytesIsNotKept) {
  Save(7, 30);
  keeper_->On(CheckpointDone{CheckpointName(30), {{2, 5}, ""}});
  bool after = false;
  keeper_->AfterManifests([&after] { after = true; });
  simulator_.RunUntilIdle();
  EXPECT_FALSE(after);
  AnswerManifestRequest("{}");  // of another CRC
  simulator_.RunUntilIdle();
  EXPECT_TRUE(after) << "it cannot be there";
  EXPECT_TRUE(absl::IsNotFound(ReadManifest(files_, Path(30)).status()));
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ShardKeeperTest, ItTellsOfItsMarksInParts) {
  std::vector<BatchId> batches;
  // More runs than a message holds: every second batch.
  for (uint32_t i = 0; i < kRunsPerMessage + 5; ++i) {
    batches.push_back({0, i / 100, i % 100 * 2});
  }
  MarkAll(batches);
  std::vector<MarkRun> runs;
  for (bool more = true; more;) {
    keeper_->On(MarkRunsRequest{runs.size()});
    simulator_.RunUntilIdle();
    const auto part = std::get<MarkRuns>(sent_.back());
    EXPECT_EQ(part.offset, runs.size());
    EXPECT_LE(part.runs.size(), kRunsPerMessage);
    runs.insert(runs.end(), part.runs.begin(), part.runs.end());
    more = part.more;
  }
  EXPECT_EQ(runs, shard_->MarkRuns());
  EXPECT_EQ(runs.size(), batches.size());
}

TEST_F(ShardKeeperTest, AnotherTrainingsCheckpointOfTheStepVoidsNoSave) {
  Commit(30);
  const std::string file = Path(30) + "/" + ShardFileName(0, 1);
  const std::string stale = *files_.Contents(file);
  const ShardSaved saved = Save(77, 30);
  EXPECT_TRUE(saved.status.ok()) << saved.status;
  EXPECT_TRUE(Written(30));
  EXPECT_EQ(*files_.Contents(file + ".stale-77"), stale);
  EXPECT_TRUE(files_.Contents(Path(30) + "/manifest.json.stale-77").ok());
}

TEST_F(ShardKeeperTest, OnTheCoordinatorsDiskItRemovesNothing) {
  for (const uint64_t step : {10, 20, 30}) Commit(step, /*shared=*/true);
  EXPECT_TRUE(Written(10)) << "the coordinator sees to that";
}

TEST_F(ShardKeeperTest, SaysSoWhenItCannotWrite) {
  files_.LimitWrites(Path(30) + "/." + ShardFileName(0, 1) + ".attempt-7", 10);
  const ShardSaved saved = Save(7, 30);
  EXPECT_EQ(saved.status.code(), absl::StatusCode::kResourceExhausted)
      << saved.status;
  EXPECT_FALSE(Written(30));
}

TEST_F(ShardKeeperTest, AShardThatIsNotHeldIsNotWritten) {
  keeper_->On(SaveShard{7, CheckpointName(30), 7});
  simulator_.RunUntilIdle();
  EXPECT_EQ(std::get<ShardSaved>(sent_.back()).status.code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(ShardKeeperTest, AfterItsLifeItIsSilent) {
  keeper_->On(Hold{7});
  simulator_.RunUntilIdle();
  keeper_->On(SaveShard{7, CheckpointName(30), 7});
  keeper_->Stop();
  const size_t before = sent_.size();
  simulator_.RunUntilIdle();
  EXPECT_EQ(sent_.size(), before);
}

TEST_F(ShardKeeperTest, AFileThatIsNotHereIsFetchedIfTheProcessMay) {
  MarkAll({{0, 0, 0}, {0, 0, 1}});
  Commit(30);
  ASSERT_TRUE(mine_.CreateDirectories("m").ok());
  const auto refused = LoadElsewhere(30, "");
  EXPECT_TRUE(absl::IsNotFound(refused.status())) << refused.status();
  EXPECT_NE(refused.status().message().find(
                "this server needs the file, and it is not on this host"),
            std::string::npos)
      << refused.status();
  EXPECT_TRUE(asked_.empty());

  const auto loaded = LoadElsewhere(30, "rank-1");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->MarkRuns(), shard_->MarkRuns());
  EXPECT_FALSE(asked_.empty());
  EXPECT_TRUE(ReadManifest(mine_, Path(30)).ok());

  ASSERT_TRUE(LoadElsewhere(30, "rank-1").ok());
  EXPECT_TRUE(asked_.empty()) << "it is here";
}

TEST_F(ShardKeeperTest, ADamagedBlockIsFetchedIfTheProcessMay) {
  MarkAll({{0, 0, 0}, {0, 0, 1}});
  Commit(30);
  const std::string file = Path(30) + "/" + ShardFileName(0, 1);
  std::string damaged = *files_.Contents(file);
  damaged.back() ^= 1;
  mine_.AddFile(file, damaged);
  const auto refused = LoadElsewhere(30, "");
  EXPECT_TRUE(absl::IsDataLoss(refused.status())) << refused.status();
  ASSERT_TRUE(LoadElsewhere(30, "rank-1").ok());
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_EQ(*mine_.Contents(file), *files_.Contents(file));
}

}  // namespace
}  // namespace shoal
