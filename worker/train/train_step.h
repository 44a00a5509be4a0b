#ifndef SHOAL_WORKER_TRAIN_TRAIN_STEP_H_
#define SHOAL_WORKER_TRAIN_TRAIN_STEP_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/shard_map.h"
#include "core/unique_ids.h"
#include "models/model.h"
#include "worker/client/sharded_client.h"
#include "worker/data/batch.h"

namespace shoal {

// The loss whose gradient a step computes: the mean over the examples of the
// batch, or, for a mode of training that adds up the gradients of several
// batches and divides once, the sum.
enum class StepLoss { kMean, kSum };

// One batch in training, with all its memory, which is used again for later
// batches. The calls, in order:
//
//   PrepareStep   ids → distinct ids by shard; dense B × F arrays for the model
//   ShardedClient::Pull     → parameters.rows, parameters.dense
//   ComputeStep   forward, loss, backward → parameters.d_rows, .d_dense
//   CheckGradient (gradient_check.h) rejects or clips the whole gradient
//   GradientExchange        takes the gradients (gradient_exchange.h)
struct TrainStep {
  Batch batch;
  uint64_t lease = 0;  // the lease under which the batch is trained
  StepParameters parameters;
  // For each table, the position of each feature's row among the table's rows:
  // B × F, -1 where an example has no feature of the field.
  std::vector<AlignedBuffer<int32_t>> row_index;
  AlignedBuffer<float> values;  // B × F
  AlignedBuffer<float> logits;  // B × C, C of the model's objective
  double loss_sum = 0;
  // ModelOutput::on_final of the step's computation. The GradientExchange may
  // set it in Begin; PrepareStep clears it.
  std::function<void(DenseRange)> on_final;
};

// The largest size of a step.
struct StepSize {
  uint64_t features = 0;      // B × F
  uint64_t distinct_ids = 0;  // distinct ids of the batch
  uint64_t row_floats = 0;    // floats of one id's rows in all tables
  uint64_t dense_floats = 0;  // floats of all dense variables
};

// The memory, in bytes, of a TrainStep of the given size: examples, the B × F
// arrays of indexes and values, and rows and dense variables with their
// gradients.
uint64_t TrainStepMemoryBytes(const StepSize& size);

// Fills everything that the pull and the model need from step->batch: the
// distinct ids, split by each table's partition, and the dense arrays. `unique`
// is scratch memory. REQUIRES: no example has more than field_size features,
// and fields are below field_size.
void PrepareStep(absl::Span<const TablePartition> partitions, int field_size,
                 UniqueIds* unique, TrainStep* step);

// Forward pass, loss and backward pass; gradients are those of `loss`.
// step->loss_sum is the sum in either case. REQUIRES: the step is prepared and
// pulled.
void ComputeStep(int field_size, Model* model, TrainStep* step,
                 StepLoss loss = StepLoss::kMean);

// Forward pass only, without dropout: fills step->logits. REQUIRES: as for
// ComputeStep.
void PredictStep(int field_size, Model* model, TrainStep* step);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_TRAIN_STEP_H_
