#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/unique_ids.h"
#include "gtest/gtest.h"
#include "models/backend/reference_backend.h"
#include "tests/ps/shard_set.h"
#include "tests/worker/train/ring_rank.h"
#include "worker/train/gradient_check.h"

namespace shoal {
namespace {

void Add(absl::Span<const float> from, std::vector<float>* to) {
  if (to->empty()) {
    to->assign(from.begin(), from.end());
    return;
  }
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

// The sum of the ranks' gradients in one step.
class SerialStep {
 public:
  SerialStep(const RingJob& job, Model* model, ShardSet* shards)
      : job_(job), model_(model), shards_(shards) {}

  void AddBatch(const BatchId& id) {
    PushedBatch batch = {.id = id, .lease = 1, .rejected = job_.Rejects(id)};
    if (!batch.rejected) AddGradient(id);
    if (!batch.rejected && job_.servers > 0) TakeRows(id);
    batches_.push_back(batch);
  }

  void Push() {
    // ShardSet names the first batch itself, and as not rejected.
    std::stable_partition(batches_.begin(), batches_.end(),
                          [](const PushedBatch& b) { return !b.rejected; });
    gradient_.batch = batches_[0].id;
    gradient_.more.assign(batches_.begin() + 1, batches_.end());
    if (model_->spec().divides_gradient) {
      for (auto& [id, row] : gradient_.rows) Divide(&row);
      Divide(&gradient_.dense);
    }
    for (const BatchGradient& rows : rows_) {
      for (int s = 0; s < job_.servers; ++s) {
        const auto reply = shards_->Push(s, rows);
        ASSERT_TRUE(reply.ok()) << reply.status();
      }
    }
    const auto reply = shards_->Push(job_.servers, gradient_);
    ASSERT_TRUE(reply.ok()) << reply.status();
  }

  bool AllRejected() const { return examples_ == 0; }

 private:
  void AddGradient(const BatchId& id) {
    TrainStep step;
    step.batch = MakeRingBatch(job_, id);
    UniqueIds unique;
    PrepareStep({shards_->map().tables[0]}, job_.model.field_size, &unique,
                &step);
    TableParameters& table = step.parameters.tables[0];
    const std::vector<float> rows = shards_->Rows(table.split.ids);
    table.rows.ResizeDiscard(rows.size());
    std::copy(rows.begin(), rows.end(), table.rows.begin());
    const std::vector<float> dense = shards_->Dense();
    step.parameters.dense.ResizeDiscard(dense.size());
    std::copy(dense.begin(), dense.end(), step.parameters.dense.begin());
    ComputeStep(job_.model.field_size, model_, &step, StepLoss::kSum);
    CheckGradient(step.loss_sum, job_.clip_norm, &step.parameters);
    ASSERT_FALSE(step.parameters.rejected);
    const size_t dim = model_->spec().tables[0].row_dim();
    for (size_t i = 0; i < table.split.ids.size(); ++i) {
      Add(table.d_rows.span().subspan(i * dim, dim),
          &gradient_.rows[table.split.ids[i]]);
    }
    Add(step.parameters.d_dense.span(), &gradient_.dense);
    examples_ += step.batch.examples.size();
  }

  // The rows of this batch alone, for the servers.
  void TakeRows(const BatchId& id) {
    BatchGradient& rows = rows_.emplace_back();
    rows.batch = id;
    rows.rows = std::exchange(gradient_.rows, {});
    const int examples = job_.lanes[id.epoch][id.piece][id.index];
    for (auto& [row, values] : rows.rows) {
      if (!model_->spec().divides_gradient) continue;
      for (float& value : values) value /= static_cast<float>(examples);
    }
  }

  void Divide(std::vector<float>* values) const {
    for (float& value : *values) value /= static_cast<float>(examples_);
  }

  const RingJob& job_;
  Model* const model_;
  ShardSet* const shards_;
  BatchGradient gradient_;
  std::vector<BatchGradient> rows_;  // by batch
  PushedBatches batches_;
  uint64_t examples_ = 0;
};

}  // namespace

void TrainSerially(const RingJob& job, ShardSet* shard) {
  ReferenceBackend backend;
  const std::unique_ptr<Model> model = MakeRingModel(&job, &backend);
  for (uint32_t epoch = 0; epoch < job.lanes.size(); ++epoch) {
    const auto& lanes = job.lanes[epoch];
    for (uint32_t s = 0;; ++s) {
      SerialStep step(job, model.get(), shard);
      bool any = false;
      for (uint32_t rank = 0; rank < lanes.size(); ++rank) {
        if (s >= lanes[rank].size()) continue;
        step.AddBatch({epoch, rank, s});
        any = true;
      }
      if (!any) break;
      if (!step.AllRejected()) step.Push();
    }
  }
}

uint64_t SerialDigest(const RingJob& job) {
  ShardSet shard(job.Spec(), PartitionKind::kFixedSize, job.servers + 1,
                 /*max_bytes=*/0,
                 job.servers > 0 ? Replicate::kDense : Replicate::kNothing);
  TrainSerially(job, &shard);
  return shard.Digest();
}

}  // namespace shoal
