#include "models/backend/backend_table.h"

#include <iterator>

#include "core/backend_names.h"
#include "models/backend/onednn_backend.h"
#include "models/backend/reference_backend.h"

namespace shoal {
namespace {

absl::Status AlwaysAvailable() { return absl::OkStatus(); }

template <typename Kind>
std::unique_ptr<Backend> Make() {
  return std::make_unique<Kind>();
}

constexpr BackendKind kBackends[] = {
    {"onednn", OneDnnBackend::Available, Make<OneDnnBackend>},
    {"reference", AlwaysAvailable, Make<ReferenceBackend>},
};

constexpr bool HasRow(absl::string_view name) {
  for (const BackendKind& kind : kBackends) {
    if (kind.name == name) return true;
  }
  return false;
}

constexpr bool NamesAgree() {
  for (const char* known : kBackendNames) {
    if (absl::string_view(known) != "auto" && !HasRow(known)) return false;
  }
  // "auto" is a name and not a backend.
  return std::size(kBackends) + 1 == std::size(kBackendNames);
}
static_assert(NamesAgree(), "core/backend_names.h lists other backends");

}  // namespace

absl::Span<const BackendKind> Backends() { return kBackends; }

}  // namespace shoal
