#include "models/backend/create_backend.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/backend/onednn_backend.h"
#include "models/backend/reference_backend.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<Backend>> CreateBackend(absl::string_view name) {
  if (name == "reference") return std::make_unique<ReferenceBackend>();
  if (name == "onednn") return OneDnnBackend::Create();
  if (name == "auto") {
    auto backend = OneDnnBackend::Create();
    if (backend.ok()) return backend;
    return std::make_unique<ReferenceBackend>();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("backend '", name, "' is none of auto, onednn, reference"));
}

}  // namespace shoal
