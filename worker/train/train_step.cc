#include "worker/train/train_step.h"

#include <algorithm>

#include "base/check.h"
#include "partitioner/split.h"

namespace shoal {
namespace {

ModelInput InputOf(int field_size, const TrainStep& step) {
  ModelInput input;
  input.batch_size = static_cast<int>(step.batch.examples.size());
  input.field_size = field_size;
  input.row_index = step.row_index.span();
  input.values = step.values.span();
  input.labels = step.batch.examples.labels;
  input.rows = step.parameters.rows.span();
  input.dense = step.parameters.dense.span();
  input.batch = step.batch.id;
  return input;
}

}  // namespace

void PrepareStep(const TablePartition& partition, int field_size,
                 UniqueIds* unique, TrainStep* step) {
  const ExampleBatch& examples = step->batch.examples;
  unique->Build(examples.ids);
  IdSplit& split = step->parameters.split;
  SplitIds(partition, unique->distinct(), &split);

  const size_t cells = examples.size() * field_size;
  step->row_index.ResizeDiscard(cells);
  step->values.ResizeDiscard(cells);
  for (size_t i = 0; i < examples.size(); ++i) {
    int32_t* row_index = step->row_index.data() + i * field_size;
    float* values = step->values.data() + i * field_size;
    const size_t begin = examples.offsets[i];
    const size_t count = examples.offsets[i + 1] - begin;
    SHOAL_DCHECK(count <= static_cast<size_t>(field_size));
    for (size_t j = 0; j < count; ++j) {
      row_index[j] =
          static_cast<int32_t>(split.position[unique->inverse()[begin + j]]);
      values[j] = examples.values[begin + j];
    }
    std::fill(row_index + count, row_index + field_size, -1);
    std::fill(values + count, values + field_size, 0.0f);
  }
}

void ComputeStep(int field_size, Model* model, TrainStep* step) {
  SHOAL_DCHECK(step->row_index.size() ==
               step->batch.examples.size() * field_size);
  StepParameters& parameters = step->parameters;
  step->logits.ResizeDiscard(step->batch.examples.size());
  parameters.d_rows.ResizeDiscard(parameters.rows.size());
  parameters.d_dense.ResizeDiscard(parameters.dense.size());
  ModelOutput output;
  output.logits = step->logits.span();
  output.d_rows = parameters.d_rows.span();
  output.d_dense = parameters.d_dense.span();
  model->ForwardBackward(InputOf(field_size, *step), &output);
  step->loss_sum = output.loss_sum;
}

void PredictStep(int field_size, Model* model, TrainStep* step) {
  step->logits.ResizeDiscard(step->batch.examples.size());
  model->Predict(InputOf(field_size, *step), step->logits.span());
}

}  // namespace shoal
