#ifndef SHOAL_MODELS_BACKEND_CREATE_BACKEND_H_
#define SHOAL_MODELS_BACKEND_CREATE_BACKEND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/backend/backend.h"

namespace shoal {

// Makes the backend `name` of backend_table.h, or for "auto" the first one of
// that table that is available. Errors: INVALID_ARGUMENT, listing the names, if
// the name is not known; FAILED_PRECONDITION if the backend is not available.
absl::StatusOr<std::unique_ptr<Backend>> CreateBackend(absl::string_view name);

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_CREATE_BACKEND_H_
