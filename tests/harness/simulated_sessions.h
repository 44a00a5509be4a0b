#ifndef SHOAL_TESTS_HARNESS_SIMULATED_SESSIONS_H_
#define SHOAL_TESTS_HARNESS_SIMULATED_SESSIONS_H_

#include <memory>
#include <string>

#include "core/cluster_service.h"
#include "core/done.h"
#include "core/registration.h"
#include "tests/harness/fake_cluster.h"
#include "tests/harness/simulated_network.h"

namespace shoal {

// The coordinator as a process reaches it over the simulated network: what
// ClusterClient is over gRPC.
class SimulatedSessions final : public FakeCluster {
 public:
  // Of `from`, to who listens at `address`; what comes back runs on `executor`,
  // one of the process's. All outlive it.
  SimulatedSessions(SimulatedNetwork* network, SimulatedProcess* from,
                    SimulatedExecutor* executor, std::string address);
  ~SimulatedSessions() override;

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override;
  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override;

  // The process with the coordinator that granted the newest registration: by
  // the simulator's own book, the job that the process takes part in.
  const std::string& job() const;

 private:
  class Link;
  const std::shared_ptr<Link> link_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SIMULATED_SESSIONS_H_
