#ifndef SHOAL_JOB_RANK_RING_H_
#define SHOAL_JOB_RANK_RING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "core/collective.h"
#include "core/ids.h"
#include "core/session_messages.h"
#include "rpc/tcp_ring.h"

namespace shoal {

// The place of one process in the rings of its job, one ring for each
// generation of ranks (core/generation_messages.h). It opens a port first, and
// the process tells the port's address when it registers. The view of the job
// then names the ports of all ranks, with which Join makes the Collective. Each
// later ring has a port of its own, which the process tells in GenerationReady:
// so nothing that an earlier ring has sent can come in. The first port listens
// as long as the object lives, so that others see that the process does, also
// between two rings.
//
//   SHOAL_ASSIGN_OR_RETURN(RankRing ring, RankRing::Open("10.0.0.3", options));
//   registration.ring_address = ring.address();
//   // the view comes
//   SHOAL_ASSIGN_OR_RETURN(collective, ring.Join(view, life, &train));
//   // NewGeneration comes, and the collective is destroyed
//   SHOAL_ASSIGN_OR_RETURN(ready.ring_address, ring.NextAddress());
//
// Used by one thread, except NameOf, which is thread-safe.
class RankRing {
 public:
  // Opens a free port on `host` ("10.0.0.3" or "[fd00::3]", rpc/own_host.h).
  // options: job, reduction, token, timeouts; Join fills in the rest. Errors:
  // those of RingPort::Open.
  static absl::StatusOr<std::unique_ptr<RankRing>> Open(const std::string& host,
                                                        TcpRingOptions options);

  // The address of the newest port: RegisterRequest::ring_address.
  const std::string& address() const { return address_; }

  // Opens another free port, and returns its address. A port that no ring has
  // is closed. Errors: those of RingPort::Open.
  absl::StatusOr<std::string> NextAddress();

  // The collective of the ranks of `view`, in which this process has the rank
  // of the worker life `own`; `executor` gets its completions. Errors:
  // FAILED_PRECONDITION (the view does not have the life with the newest port,
  // or the port has a ring already), those of TcpRing::Start.
  absl::StatusOr<std::unique_ptr<Collective>> Join(const ClusterView& view,
                                                   const Life& own,
                                                   Executor* executor);

  // A rank of the newest ring for people: "worker 2". In the first generation
  // of a job, rank r is worker r; later the ranks are those workers that are
  // left, in this order. "rank 2" if the process has not seen the first one.
  std::string NameOf(int rank) const;

 private:
  RankRing(std::string host, TcpRingOptions options)
      : host_(std::move(host)), options_(std::move(options)) {}

  void TakeNames(const ClusterView& view);

  const std::string host_;
  const TcpRingOptions options_;
  std::string address_;
  std::optional<RingPort> port_;  // none: it is that of the collective
  std::optional<RingPort> first_;  // a copy of the first one
  std::vector<Life> workers_;     // by index, if the first view came
  mutable Mutex mu_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mu_);  // by rank
};

}  // namespace shoal

#endif  // SHOAL_JOB_RANK_RING_H_
