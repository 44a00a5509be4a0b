// A save by the code that makes it in a job: two servers with one directory,
// and the coordinator's manifest. The machine crashes behind each operation on
// the disk.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest_parts.h"
#include "checkpoint/verify.h"
#include "gtest/gtest.h"
#include "job/model_directory.h"
#include "ps/server/shard_keeper.h"
#include "tests/harness/durable_file_system.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

constexpr int kShards = 2;
constexpr uint64_t kSeeds = 20;

class CrashWhileSavingTest : public testing::Test {
 protected:
  CrashWhileSavingTest() {
    EXPECT_TRUE(files_.CreateDirectories("m").ok());
    EXPECT_TRUE(files_.SyncDirectory(".").ok());
    model_.model = "test";
    model_.tables = {{"ids", 4, {{"w", 1, {}, {}}}}};
    map_.num_shards = kShards;
    map_.tables = {{PartitionKind::kMod, 4, kShards}};
    flags_.checkpoints.model_dir = "m";
    flags_.checkpoints.keep_checkpoints = 1;
    ShardKeeperOptions keeping;
    keeping.model_dir = "m";
    keeping.keep_checkpoints = 1;
    for (int k = 0; k < kShards; ++k) {
      ParameterShardOptions options;
      options.job = "j";
      options.model = model_;
      options.map = map_;
      options.shard = k;
      options.life = {1, static_cast<uint32_t>(k + 1)};
      auto shard = ParameterShard::Create(options, &strand_);
      EXPECT_TRUE(shard.ok()) << shard.status();
      keepers_.push_back(std::make_shared<ShardKeeper>(
          keeping, &files_, &strand_, &strand_, &logger_));
      sent_.emplace_back();
      keepers_[k]->Start(*std::move(shard), [this, k](ProcessMessage m) {
        sent_[k].push_back(std::move(m));
      });
    }
  }

  // Saves at this step; `reported_` is the moment in which it was said to be a
  // checkpoint.
  void Save(uint64_t step) {
    Manifest manifest;
    manifest.step = step;
    manifest.attempt = step;
    manifest.model = model_;
    manifest.map = map_;
    manifest.data.batch_size = 1;
    manifest.data.num_epochs = 1;
    for (const auto& keeper : keepers_) keeper->On(Hold{step});
    simulator_.RunUntilIdle();
    for (const auto& keeper : keepers_) {
      keeper->On(SaveShard{step, CheckpointName(step), step});
    }
    simulator_.RunUntilIdle();
    for (int k = 0; k < kShards; ++k) {
      const auto* saved = std::get_if<ShardSaved>(&sent_[k].back());
      ASSERT_NE(saved, nullptr);
      ASSERT_TRUE(saved->status.ok()) << saved->status;
      manifest.shards.push_back(*ShardEntryFromText(saved->entry));
    }
    ManifestText text;
    ManifestWriter(&files_, flags_, &strand_, &logger_)(
        CheckpointName(step), manifest, [&](absl::StatusOr<ManifestText> got) {
          ASSERT_TRUE(got.ok()) << got.status();
          text = *got;
          reported_ = files_.operations();
        });
    simulator_.RunUntilIdle();
    ASSERT_NE(text.text, nullptr);
    for (const auto& keeper : keepers_) {
      keeper->On(CheckpointDone{CheckpointName(step), OfferOf(text)});
      keeper->On(Resume{step});
    }
    simulator_.RunUntilIdle();
  }

  // The step of the newest checkpoint on a disk, which is whole.
  uint64_t NewestStep(const FileSystem& disk) {
    const auto newest = NewestCheckpoint(disk, "m", /*need_all_files=*/true);
    EXPECT_TRUE(newest.ok()) << newest.status();
    if (!newest.ok()) return 0;
    const VerifyReport report =
        VerifyCheckpoint(disk, newest->path, newest->manifest, VerifyOptions());
    EXPECT_TRUE(report.ok()) << ToString(report.damage.at(0));
    return newest->step;
  }

  // After each operation from `first` on the newest is `old` or `fresh`, and
  // from `reported_` on it is `fresh`.
  void CrashEverywhere(size_t first, uint64_t old, uint64_t fresh) {
    for (size_t n = first; n <= files_.operations(); ++n) {
      for (uint64_t seed = 0; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(absl::StrCat(
            "crashed after operation ", n, ", ", files_.OperationBefore(n),
            seed == 0 ? ", with what was synced"
                      : absl::StrCat(", with what else reached the disk by "
                                     "seed ",
                                     seed)));
        const uint64_t step = NewestStep(*files_.Crash(
            n, seed == 0 ? std::nullopt : std::optional<uint64_t>(seed)));
        if (n >= reported_) {
          EXPECT_EQ(step, fresh) << "it was said to be a checkpoint";
        } else {
          EXPECT_TRUE(step == old || step == fresh) << step;
        }
        if (HasFailure()) return;
      }
    }
  }

  Simulator simulator_;
  SimulatedExecutor strand_{&simulator_};
  Logger logger_{{"", LogLevel::kError}};
  DurableFileSystem files_;
  JobFlags flags_{Command::kPs};
  ModelSpec model_;
  ShardMap map_;
  std::vector<std::shared_ptr<ShardKeeper>> keepers_;
  std::vector<std::vector<ProcessMessage>> sent_;  // by shard
  size_t reported_ = 0;
};

TEST_F(CrashWhileSavingTest, TheOldCheckpointOrTheNewOneIsThereAfterEachCrash) {
  Save(10);
  const size_t first = files_.operations();
  CrashEverywhere(reported_, 0, 10);
  Save(20);
  CrashEverywhere(first, 10, 20);
  EXPECT_GT(files_.operations(), first + 20);
  EXPECT_TRUE(files_.OpenForRead("m/ckpt-00000000020/manifest.json").ok());
  EXPECT_FALSE(files_.OpenForRead("m/ckpt-00000000010/manifest.json").ok());
}

TEST_F(CrashWhileSavingTest, SoItIsWhereAnAttemptThatDiedHasMadeTheDirectory) {
  Save(10);
  const size_t first = files_.operations();
  // It did not come to sync the name.
  ASSERT_TRUE(files_.CreateDirectories("m/ckpt-00000000020").ok());
  Save(20);
  CrashEverywhere(first, 10, 20);
}

}  // namespace
}  // namespace shoal
