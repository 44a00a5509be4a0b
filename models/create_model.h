#ifndef SHOAL_MODELS_CREATE_MODEL_H_
#define SHOAL_MODELS_CREATE_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/model_spec.h"
#include "models/backend/backend.h"
#include "models/model.h"
#include "models/model_options.h"

namespace shoal {

// The variables of the model. The function needs no backend, so a PS can call
// it. Errors: those of options.Validate().
absl::StatusOr<ModelSpec> MakeModelSpec(const ModelOptions& options);

// Makes the model. `backend` must outlive the model. Errors: those of
// options.Validate().
absl::StatusOr<std::unique_ptr<Model>> CreateModel(const ModelOptions& options,
                                                   Backend* backend);

}  // namespace shoal

#endif  // SHOAL_MODELS_CREATE_MODEL_H_
