#ifndef SHOAL_TESTS_MODELS_SAMPLE_BATCH_H_
#define SHOAL_TESTS_MODELS_SAMPLE_BATCH_H_

#include <cmath>
#include <functional>
#include <vector>

#include "models/model.h"
#include "tests/models/numeric.h"

namespace shoal {

// A small batch and a model's variables, random by seed. About one field in
// eight is padding, rows repeat between and within examples, and one row is
// never used.
struct SampleBatch {
  SampleBatch(const ModelSpec& spec, int batch_size, int field_size, int rows,
              uint64_t seed)
      : batch_size(batch_size),
        field_size(field_size),
        rows(RandomVector(seed + 1, rows * spec.tables[0].row_dim(), 0.8f)),
        dense(RandomVector(seed + 2, spec.dense_size(), 0.5f)),
        values(RandomVector(seed + 3, batch_size * field_size)),
        logits(batch_size),
        d_rows(this->rows.size(), -7),  // garbage that must be overwritten
        d_dense(this->dense.size(), -7) {
    const Philox philox(seed);
    for (size_t i = 0; i < values.size(); ++i) {
      const Philox::Block word = philox(2, i);
      const bool padded = word[0] % 8 == 0;
      if (padded) values[i] = 0;
      row_index.push_back(padded ? -1 : static_cast<int>(word[1] % (rows - 1)));
    }
    for (int b = 0; b < batch_size; ++b) {
      labels.push_back(philox(3, b)[0] % 2);
    }
  }

  ModelInput input() const {
    return {.batch_size = batch_size,
            .field_size = field_size,
            .tables = {{row_index, rows}},
            .values = values,
            .labels = labels,
            .loss_divisor = loss_divisor > 0 ? loss_divisor : batch_size,
            .dense = dense,
            .batch = batch};
  }

  // Runs the model; results are in logits, d_rows, d_dense.
  double ForwardBackward(Model* model) {
    ModelOutput output{.logits = absl::MakeSpan(logits),
                       .d_rows = {absl::MakeSpan(d_rows)},
                       .d_dense = absl::MakeSpan(d_dense),
                       .on_final = on_final};
    model->ForwardBackward(input(), &output);
    return output.loss_sum;
  }

  int batch_size;
  int field_size;
  std::vector<float> rows;
  std::vector<float> dense;
  std::vector<float> values;
  std::vector<int32_t> row_index;
  std::vector<uint8_t> labels;
  BatchId batch{.epoch = 1, .piece = 2, .index = 3};
  double loss_divisor = 0;  // 0: the batch size
  std::function<void(DenseRange)> on_final;
  std::vector<float> logits;
  std::vector<float> d_rows;
  std::vector<float> d_dense;
};

// −y log σ(z) − (1 − y) log(1 − σ(z)), as it is defined.
inline double CrossEntropy(double z, int y) {
  const double p = 1 / (1 + std::exp(-z));
  return y == 1 ? -std::log(p) : -std::log(1 - p);
}

}  // namespace shoal

#endif  // SHOAL_TESTS_MODELS_SAMPLE_BATCH_H_
