#include "models/backend/create_backend.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/backend/backend_table.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<Backend>> CreateBackend(absl::string_view name) {
  std::string names = "auto";
  for (const BackendKind& kind : Backends()) {
    absl::StrAppend(&names, ", ", kind.name);
    if (name != "auto" && name != kind.name) continue;
    const absl::Status available = kind.available();
    if (available.ok()) return kind.create();
    if (name != "auto") return available;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("backend '", name, "' is not one of ", names));
}

}  // namespace shoal
