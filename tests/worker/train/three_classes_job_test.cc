// An objective of three classes goes the whole way of a batch, through a
// worker's parts, two shards and an evaluation, none of which knows of it: the
// objective and a model's row are all that there is of it.

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/evaluation.h"
#include "cluster/scored_rows.h"
#include "gtest/gtest.h"
#include "models/backend/reference_backend.h"
#include "partitioner/build_shard_map.h"
#include "ps/shard/parameter_shard.h"
#include "tests/harness/simulated_executor.h"
#include "tests/models/three_classes.h"
#include "worker/train/gradient_check.h"
#include "worker/train/progress_meter.h"
#include "worker/train/score_sender.h"
#include "worker/train/train_step.h"

namespace shoal {
namespace {

constexpr int kFields = 2;
constexpr int kIds = 30;
constexpr int kShards = 2;
constexpr int kBatch = 30;

ModelOptions Options() {
  ModelOptions options;
  options.model = "three_classes";
  options.feature_size = kIds;
  options.field_size = kFields;
  options.table_optimizer.kind = OptimizerKind::kSgd;
  options.table_optimizer.learning_rate = 4;
  options.dense_optimizer = options.table_optimizer;
  return options;
}

// Two ids of one class each, and the class is the sum of theirs.
Batch MakeBatch(uint32_t index) {
  Batch batch;
  batch.id = {0, 0, index};
  batch.examples.offsets = {0};
  for (uint32_t i = 0; i < kBatch; ++i) {
    const uint32_t id = (7 * index + i) % kIds;
    batch.examples.ids.push_back(id);
    batch.examples.ids.push_back((id + 3) % kIds);
    batch.examples.values.insert(batch.examples.values.end(), {1, 0.5f});
    batch.examples.offsets.push_back(2 * (i + 1));
    batch.examples.labels.push_back(static_cast<uint8_t>(id % 3));
  }
  return batch;
}

class ThreeClassesJobTest : public testing::Test {
 protected:
  ThreeClassesJobTest()
      : kind_(ThreeClassModel()),
        model_(kind_.create(Options(), kind_.spec(Options()), kind_.objective,
                            &backend_)),
        progress_(&model_->objective().metrics()) {
    ShardedClientOptions client;
    client.job = "job";
    client.worker = {1, 100};
    PartitionOptions partition;
    partition.table_kind = PartitionKind::kMod;
    client.map = *BuildShardMap(model_->spec(), partition, kShards);
    client.row_dims = {model_->spec().tables[0].row_dim()};
    client.dense_size = model_->spec().dense_size();
    std::vector<std::shared_ptr<ParameterService>> shards;
    for (int s = 0; s < kShards; ++s) {
      client.shard_lives.push_back({1, static_cast<uint32_t>(s + 1)});
      ParameterShardOptions shard;
      shard.job = client.job;
      shard.model = model_->spec();
      shard.map = client.map;
      shard.shard = s;
      shard.life = client.shard_lives.back();
      std::shared_ptr<ParameterShard> made =
          *ParameterShard::Create(std::move(shard), &strand_);
      made->ServeUntil(absl::InfiniteFuture());
      shards.push_back(std::move(made));
    }
    client_.emplace(std::move(client), std::move(shards), &strand_);
  }

  void Pull(bool read_only) {
    absl::Status pulled = absl::UnknownError("not yet");
    PrepareStep(client_->partitions(), kFields, &unique_, &step_);
    client_->Pull(&step_.parameters, read_only,
                  [&](absl::Status status) { pulled = std::move(status); });
    simulator_.RunUntilIdle();
    ASSERT_TRUE(pulled.ok()) << pulled;
  }

  void Train(uint32_t index) {
    step_.batch = MakeBatch(index);
    Pull(/*read_only=*/false);
    ComputeStep(kFields, model_.get(), &step_);
    CheckGradient(step_.loss_sum, 0, &step_.parameters);
    progress_.AddScores(step_.logits.span(), step_.batch.examples.labels);
    absl::StatusOr<Verdict> verdict = absl::UnknownError("not yet");
    client_->Push({{.id = step_.batch.id, .lease = 1}}, step_.parameters,
                  [&](absl::StatusOr<Verdict> v) { verdict = v; });
    simulator_.RunUntilIdle();
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    ASSERT_EQ(*verdict, Verdict::kApplied);
  }

  // Evaluates three batches, by the messages in which a worker sends scores.
  EvalReport Evaluate() {
    const ScoreMetrics& metrics = kind_.objective->metrics();
    Evaluation evaluation(&metrics, 1, 1000);
    ScoredRows rows(0, 1, metrics.num_scores());
    Lease lease;
    lease.purpose = LeasePurpose::kEvaluate;
    lease.batch_size = kBatch;
    const auto take = [&](EvalResult result) {
      EXPECT_LE(result.logits.size(), 50u);
      const auto known = rows.Known(result);
      ASSERT_TRUE(known.ok()) << known.status();
      EXPECT_EQ(*known, 0u);
      rows.Take(result, 0);
      ASSERT_TRUE(
          Evaluation::Check(metrics, 0, result.logits, result.labels).ok());
      ASSERT_TRUE(
          evaluation.Add(0, std::move(result.logits), std::move(result.labels))
              .ok());
    };
    ScoreSenderOptions options;
    options.max_scores = 50;  // 16 rows
    ScoreSender sender(options, lease, strand_.Now());
    for (uint32_t i = 0; i < 3; ++i) {
      step_.batch = MakeBatch(i);
      Pull(/*read_only=*/true);
      PredictStep(kFields, model_.get(), &step_);
      sender.Add(i, step_.logits.span(), step_.batch.examples.labels,
                 strand_.Now(), take);
    }
    sender.End(3 * kBatch, strand_.Now(), take);
    EXPECT_TRUE(rows.complete());
    return evaluation.Report();
  }

  const ModelKind& kind_;
  ReferenceBackend backend_;
  Simulator simulator_;
  SimulatedExecutor strand_{&simulator_};
  std::unique_ptr<Model> model_;
  ProgressMeter progress_;
  std::optional<ShardedClient> client_;
  UniqueIds unique_;
  TrainStep step_;
};

TEST_F(ThreeClassesJobTest, LearnsAndIsJudgedByItsOwnFigures) {
  const EvalReport before = Evaluate();
  EXPECT_EQ(before.examples, 3u * kBatch);
  EXPECT_NEAR(before.logloss, std::log(3), 1e-6) << "nothing is learnt";
  EXPECT_EQ(before.auc, 0.5);
  for (uint32_t i = 0; i < 40; ++i) Train(i);
  const EvalReport after = Evaluate();
  EXPECT_LT(after.logloss, 0.1);
  EXPECT_EQ(after.auc, 1);
  EXPECT_TRUE(after.exact_auc);
  EXPECT_EQ(after.calibration, 0) << "three classes have no calibration";
  const TrainProgress progress = progress_.Snapshot();
  EXPECT_EQ(progress.recent_examples, 40u * kBatch);
  EXPECT_GT(progress.recent_auc, 0.9);
  EXPECT_LT(progress.recent_logloss, before.logloss / 2);
  EXPECT_GT(progress.recent_logloss, after.logloss);
}

}  // namespace
}  // namespace shoal
