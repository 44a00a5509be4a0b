#ifndef SHOAL_MODELS_BACKEND_CREATE_BACKEND_H_
#define SHOAL_MODELS_BACKEND_CREATE_BACKEND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/backend/backend.h"

namespace shoal {

// "reference", "onednn", or "auto": the fastest that works here.
// INVALID_ARGUMENT lists the names; FAILED_PRECONDITION where the backend
// cannot keep to one thread on this machine ("auto" then takes the reference).
absl::StatusOr<std::unique_ptr<Backend>> CreateBackend(absl::string_view name);

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_CREATE_BACKEND_H_
