#ifndef SHOAL_MODELS_MODEL_TABLE_H_
#define SHOAL_MODELS_MODEL_TABLE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/model_spec.h"
#include "models/backend/backend.h"
#include "models/model.h"
#include "models/model_options.h"
#include "models/objective.h"

namespace shoal {

// All that the house knows of one model by its name. A model is added by a row
// of the table in model_table.cc, and by its name among the choices of --model.
// All but `validate` REQUIRE valid options.
struct ModelKind {
  absl::string_view name;  // of --model
  // Rows have a vector of --embedding_size floats.
  bool has_embeddings = true;
  // What its scores say, and how they are judged.
  const Objective* objective = nullptr;
  // What is wrong with the options that this model alone has:
  // INVALID_ARGUMENT, naming the flag.
  absl::Status (*validate)(const ModelOptions& options);
  ModelSpec (*spec)(const ModelOptions& options);
  // `spec` is that of the options, `objective` the row's; it and `backend`
  // outlive the model.
  std::unique_ptr<Model> (*create)(const ModelOptions& options, ModelSpec spec,
                                   const Objective* objective,
                                   Backend* backend);
  // What the model holds at most, in bytes, for batches of so many examples and
  // so many distinct rows.
  uint64_t (*memory_bytes)(const ModelOptions& options, int batch_size,
                           uint64_t distinct_rows);
};

absl::Span<const ModelKind> Models();

// nullptr: there is no model of this name.
const ModelKind* FindModel(absl::string_view name);

}  // namespace shoal

#endif  // SHOAL_MODELS_MODEL_TABLE_H_
