#include "core/cluster_service.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace shoal {

std::string ProcessName(Role role, int index) {
  return absl::StrCat(role == Role::kPs ? "ps " : "worker ", index);
}

void ClusterService::SaveCheckpoint(SaveCheckpointRequest, absl::Duration,
                                    Done<SavedCheckpoint> done) {
  std::move(done)(
      absl::UnimplementedError("this service does not save checkpoints"));
}

}  // namespace shoal
