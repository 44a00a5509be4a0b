#include "worker/train/train_step.h"

#include <algorithm>

#include "base/check.h"
#include "base/saturating.h"
#include "partitioner/split.h"

namespace shoal {
namespace {

ModelInput InputOf(int field_size, StepLoss loss, const TrainStep& step) {
  ModelInput input;
  input.batch_size = static_cast<int>(step.batch.examples.size());
  input.field_size = field_size;
  for (size_t t = 0; t < step.row_index.size(); ++t) {
    input.tables.push_back(
        {step.row_index[t].span(), step.parameters.tables[t].rows.span()});
  }
  input.values = step.values.span();
  input.labels = step.batch.examples.labels;
  input.loss_divisor = loss == StepLoss::kMean ? input.batch_size : 1;
  input.dense = step.parameters.dense.span();
  input.batch = step.batch.id;
  return input;
}

// (B × F): the position of each feature's row among the distinct rows.
void FillRowIndex(const ExampleBatch& examples,
                  absl::Span<const uint32_t> inverse,
                  absl::Span<const uint32_t> position, int field_size,
                  AlignedBuffer<int32_t>* out) {
  out->ResizeDiscard(examples.size() * field_size);
  for (size_t i = 0; i < examples.size(); ++i) {
    int32_t* row_index = out->data() + i * field_size;
    const size_t begin = examples.offsets[i];
    const size_t count = examples.offsets[i + 1] - begin;
    if (!examples.fields.empty()) {
      std::fill_n(row_index, field_size, -1);
      for (size_t j = begin; j < begin + count; ++j) {
        row_index[examples.fields[j]] =
            static_cast<int32_t>(position[inverse[j]]);
      }
      continue;
    }
    for (size_t j = 0; j < count; ++j) {
      row_index[j] = static_cast<int32_t>(position[inverse[begin + j]]);
    }
    std::fill(row_index + count, row_index + field_size, -1);
  }
}

}  // namespace

uint64_t TrainStepMemoryBytes(const StepSize& size) {
  constexpr uint64_t kFeatureBytes =
      sizeof(FeatureId) + sizeof(float);  // in the examples
  constexpr uint64_t kCellBytes = sizeof(int32_t) + sizeof(float);
  // The distinct ids, by occurrence and by shard.
  constexpr uint64_t kIdBytes = 2 * sizeof(FeatureId);
  constexpr uint64_t kFloatBytes = 2 * sizeof(float);  // a value and its
                                                       // gradient
  return SaturatingAdd(
      SaturatingAdd(SaturatingTimes(size.features, kFeatureBytes + kCellBytes),
                    SaturatingTimes(size.distinct_ids,
                                    kIdBytes + kFloatBytes * size.row_floats)),
      kFloatBytes * size.dense_floats);
}

void PrepareStep(absl::Span<const TablePartition> partitions, int field_size,
                 UniqueIds* unique, TrainStep* step) {
  const ExampleBatch& examples = step->batch.examples;
  step->on_final = nullptr;
  unique->Build(examples.ids);
  step->parameters.tables.resize(partitions.size());
  step->row_index.resize(partitions.size());
  for (size_t t = 0; t < partitions.size(); ++t) {
    IdSplit& split = step->parameters.tables[t].split;
    SplitIds(partitions[t], unique->distinct(), &split);
    FillRowIndex(examples, unique->inverse(), split.position, field_size,
                 &step->row_index[t]);
  }
  step->values.ResizeDiscard(examples.size() * field_size);
  for (size_t i = 0; i < examples.size(); ++i) {
    float* values = step->values.data() + i * field_size;
    const size_t begin = examples.offsets[i];
    const size_t count = examples.offsets[i + 1] - begin;
    SHOAL_DCHECK(count <= static_cast<size_t>(field_size));
    if (!examples.fields.empty()) {
      std::fill_n(values, field_size, 0.0f);
      for (size_t j = begin; j < begin + count; ++j) {
        SHOAL_DCHECK(examples.fields[j] < field_size);
        values[examples.fields[j]] = examples.values[j];
      }
      continue;
    }
    std::copy_n(examples.values.data() + begin, count, values);
    std::fill(values + count, values + field_size, 0.0f);
  }
}

void ComputeStep(int field_size, Model* model, TrainStep* step,
                 StepLoss loss) {
  SHOAL_DCHECK(step->values.size() == step->batch.examples.size() * field_size);
  StepParameters& parameters = step->parameters;
  step->logits.ResizeDiscard(step->batch.examples.size() *
                             model->objective().num_scores());
  parameters.d_dense.ResizeDiscard(parameters.dense.size());
  ModelOutput output;
  output.logits = step->logits.span();
  for (TableParameters& table : parameters.tables) {
    table.d_rows.ResizeDiscard(table.rows.size());
    output.d_rows.push_back(table.d_rows.span());
  }
  output.d_dense = parameters.d_dense.span();
  output.on_final = step->on_final;
  model->ForwardBackward(InputOf(field_size, loss, *step), &output);
  step->loss_sum = output.loss_sum;
}

void PredictStep(int field_size, Model* model, TrainStep* step) {
  step->logits.ResizeDiscard(step->batch.examples.size() *
                             model->objective().num_scores());
  // Predict does not read the loss.
  model->Predict(InputOf(field_size, StepLoss::kMean, *step),
                 step->logits.span());
}

}  // namespace shoal
