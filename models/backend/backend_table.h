#ifndef SHOAL_MODELS_BACKEND_BACKEND_TABLE_H_
#define SHOAL_MODELS_BACKEND_BACKEND_TABLE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "models/backend/backend.h"

namespace shoal {

// Everything that Shoal knows about one backend by its name. To add a backend,
// write its file, add a row to the table in backend_table.cc, and add its name
// to core/backend_names.h.
struct BackendKind {
  absl::string_view name;  // value of --backend
  // OK if this build and this machine can run the backend. FAILED_PRECONDITION
  // otherwise; the message says what is missing and what to use instead.
  absl::Status (*available)();
  // Makes a backend. REQUIRES: available() is OK.
  std::unique_ptr<Backend> (*create)();
};

// All backends, the fastest first: --backend=auto takes the first one that is
// available. The last one, the reference, always is.
absl::Span<const BackendKind> Backends();

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_BACKEND_TABLE_H_
