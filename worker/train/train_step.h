#ifndef SHOAL_WORKER_TRAIN_TRAIN_STEP_H_
#define SHOAL_WORKER_TRAIN_TRAIN_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/shard_map.h"
#include "models/model.h"
#include "worker/client/sharded_client.h"
#include "worker/client/unique_ids.h"
#include "worker/data/batch.h"

namespace shoal {

// One batch's way through a worker, and all the memory that it needs, which is
// used again for the next:
//
//   PrepareStep   ids → distinct ids by shard; dense B × F arrays for the model
//   ShardedClient::Pull     → parameters.rows, parameters.dense
//   ComputeStep   forward, loss, backward → parameters.d_rows, .d_dense
//   CheckGradient (gradient_check.h) rejected, or clipped, as a whole
//   GradientExchange        what becomes of the gradients (gradient_exchange.h)
struct TrainStep {
  Batch batch;
  uint64_t lease = 0;  // under which the batch is trained
  StepParameters parameters;
  // Of each table: B × F, -1 where an example is short.
  std::vector<AlignedBuffer<int32_t>> row_index;
  AlignedBuffer<float> values;  // B × F
  AlignedBuffer<float> logits;  // B × C, C of the model's objective
  double loss_sum = 0;
};

// The size of a step, at most.
struct StepSize {
  uint64_t features = 0;      // B × F
  uint64_t distinct_ids = 0;  // of the batch
  uint64_t row_floats = 0;    // of an id's rows, all tables
  uint64_t dense_floats = 0;  // of all dense variables
};

// What a TrainStep of that size holds: examples, indexes and values of the B ×
// F arrays, rows and dense variables with their gradients.
uint64_t TrainStepMemoryBytes(const StepSize& size);

// Fills everything that the pull and the model need from step->batch: of each
// table, by its partition, the rows of the batch's ids. `unique` is scratch
// memory. REQUIRES: no example has more than field_size features.
void PrepareStep(absl::Span<const TablePartition> partitions, int field_size,
                 UniqueIds* unique, TrainStep* step);

// Forward and backward. REQUIRES: prepared, pulled.
void ComputeStep(int field_size, Model* model, TrainStep* step);

// Forward alone, without dropout: fills step->logits.
void PredictStep(int field_size, Model* model, TrainStep* step);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_TRAIN_STEP_H_
