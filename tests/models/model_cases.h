#ifndef SHOAL_TESTS_MODELS_MODEL_CASES_H_
#define SHOAL_TESTS_MODELS_MODEL_CASES_H_

#include <memory>
#include <string>
#include <vector>

#include "core/first_layer.h"
#include "models/backend/backend_table.h"
#include "models/model.h"
#include "models/model_options.h"
#include "models/model_table.h"
#include "tests/models/sample_batch.h"

namespace shoal {

// A model on a backend, for tests of what all models promise.
struct ModelCase {
  const ModelKind* kind;
  const BackendKind* backend;
  FirstLayer first_layer;  // of deepfm

  static constexpr int kFields = 5;

  ModelOptions Options() const;
  std::unique_ptr<Model> Create(Backend* of) const;
  std::string Name() const;
};

// Every model, and the one that only tests have, on every backend that this
// machine can run; deepfm with every form of its first layer.
std::vector<ModelCase> ModelCases();

// A batch for the model. Few rows, so that they repeat.
SampleBatch SampleFor(const Model& model, int batch_size, uint64_t seed);

}  // namespace shoal

#endif  // SHOAL_TESTS_MODELS_MODEL_CASES_H_
