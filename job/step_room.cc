#include "job/step_room.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "core/pushed_batch.h"
#include "job/memory_forecast.h"
#include "rpc/parameter_client.h"

namespace shoal {

void SetRoomForSteps(const JobFlags& flags, const JobPlan& plan,
                     RpcServerOptions* options) {
  // All rows of a batch may lie on one server.
  options->SetParkedPushes(
      flags.cluster.workers,
      static_cast<uint64_t>(ParameterClientOptions().chunks_in_flight),
      StepMessageBytes(flags, plan), flags.PsMembers());
}

absl::Status CheckRanks(const JobFlags& flags) {
  if (flags.cluster.workers <= static_cast<int>(kMaxPushedBatches)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--workers = ", flags.cluster.workers, ": a step has the batches of ",
      kMaxPushedBatches, " workers at most; use another --mode"));
}

}  // namespace shoal
