#ifndef SHOAL_MODELS_MODEL_TABLE_H_
#define SHOAL_MODELS_MODEL_TABLE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/model_spec.h"
#include "core/sample_work.h"
#include "models/backend/backend.h"
#include "models/model.h"
#include "models/model_options.h"
#include "models/objective.h"

namespace shoal {

// Everything that Shoal knows about one model by its name. To add a model, add
// a row to the table in model_table.cc and its name to core/model_names.h.
// Every function except `validate` REQUIRES valid options.
struct ModelKind {
  absl::string_view name;  // value of --model
  // True if the model's rows hold a vector of --embedding_size floats.
  bool has_embeddings = true;
  // The meaning of the model's scores, and the figures that judge them.
  const Objective* objective = nullptr;
  // Checks the options that only this model has. INVALID_ARGUMENT names the
  // flag.
  absl::Status (*validate)(const ModelOptions& options);
  ModelSpec (*spec)(const ModelOptions& options);
  // Makes the model. `spec` is spec(options), and `objective` is this row's
  // objective. `objective` and `backend` must outlive the model.
  std::unique_ptr<Model> (*create)(const ModelOptions& options, ModelSpec spec,
                                   const Objective* objective,
                                   Backend* backend);
  // The most memory, in bytes, that the model holds for batches of `batch_size`
  // examples and `distinct_rows` distinct rows.
  uint64_t (*memory_bytes)(const ModelOptions& options, int batch_size,
                           uint64_t distinct_rows);
  // The work of a sample; all 0 for a model without matrix products.
  SampleWork (*work)(const ModelOptions& options);
};

absl::Span<const ModelKind> Models();

// Returns the row of the model `name`, or nullptr if there is no such model.
const ModelKind* FindModel(absl::string_view name);

}  // namespace shoal

#endif  // SHOAL_MODELS_MODEL_TABLE_H_
