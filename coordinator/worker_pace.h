#ifndef SHOAL_COORDINATOR_WORKER_PACE_H_
#define SHOAL_COORDINATOR_WORKER_PACE_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "cluster/membership.h"
#include "cluster/ssp_clocks.h"
#include "coordinator/coordinator_actions.h"
#include "core/ids.h"

namespace shoal {

// Tells the workers how far ahead of the slowest they may go, in a job with
// --mode=ssp: brings the events of the job to SspClocks, and sends the paces
// that come out. In any other job there are no clocks: no worker gets a Pace,
// and a worker that reports steps breaks the protocol. Pure logic.
//
//   WorkerPace pace(options.ssp);
//   CoordinatorActions grants = work.Grant(view);
//   Perform(pace.Follow(membership, holds));  // before the new leases
//   Perform(std::move(grants));
//
// A worker that got no Pace has no limit, so a Pace must come before the first
// lease of a life. Thread-compatible.
class WorkerPace {
 public:
  explicit WorkerPace(const std::optional<SspClocksOptions>& options);

  // The worker has finished this many steps of its life. INVALID_ARGUMENT: the
  // job limits no worker's steps; or as SspClocks::OnFinished.
  absl::Status OnFinished(Life worker, uint64_t steps);
  // The worker's life is over.
  void OnLost(Life worker);
  // To be called after every event, and before new leases are sent: notes which
  // workers hold a lease of training data that does not settle, by `holds`, and
  // sends the paces that changed since the last call.
  CoordinatorActions Follow(const Membership& membership,
                            absl::FunctionRef<bool(Life worker)> holds);

 private:
  void Add(const SspPaces& paces);

  std::optional<SspClocks> clocks_;
  SspPaces to_send_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_WORKER_PACE_H_
