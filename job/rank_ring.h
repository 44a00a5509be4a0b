#ifndef SHOAL_JOB_RANK_RING_H_
#define SHOAL_JOB_RANK_RING_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "core/collective.h"
#include "core/session_messages.h"
#include "rpc/tcp_ring.h"

namespace shoal {

// The place of one process in the ring of its job. It opens a port first, and
// the process tells the port's address when it registers. The view of the job
// then names the ports of all ranks, with which Join makes the Collective.
//
//   SHOAL_ASSIGN_OR_RETURN(RankRing ring, RankRing::Open("10.0.0.3", options));
//   registration.ring_address = ring.address();
//   // the view comes
//   SHOAL_ASSIGN_OR_RETURN(collective, ring.Join(view, &train));
//
// Thread-compatible.
class RankRing {
 public:
  // Opens a free port on `host` ("10.0.0.3" or "[fd00::3]", rpc/own_host.h).
  // options: rank, job, reduction, token, timeouts; Join fills in the rest.
  // Errors: those of RingPort::Open.
  static absl::StatusOr<RankRing> Open(const std::string& host,
                                       TcpRingOptions options);

  // RegisterRequest::ring_address.
  const std::string& address() const { return address_; }

  // The collective of the ranks of `view`; `executor` gets its completions.
  // Each start of a job is a generation: its number is the start number in the
  // life of this rank. Errors: FAILED_PRECONDITION (the view has no such rank,
  // or the process has joined a ring before: a rank has one life), those of
  // TcpRing::Start.
  absl::StatusOr<std::unique_ptr<Collective>> Join(const ClusterView& view,
                                                   Executor* executor);

 private:
  RankRing(RingPort port, TcpRingOptions options);

  TcpRingOptions options_;
  std::string address_;
  std::optional<RingPort> port_;  // none: it is that of the collective
};

}  // namespace shoal

#endif  // SHOAL_JOB_RANK_RING_H_
