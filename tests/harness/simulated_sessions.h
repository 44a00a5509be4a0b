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

// The coordinator behind the simulated network, as ClusterClient is the
// coordinator behind gRPC.
class SimulatedSessions final : public FakeCluster {
 public:
  // Sessions of `from` with the process that listens at `address`. Callbacks
  // run on `executor`, a strand of `from`. All arguments outlive this object.
  SimulatedSessions(SimulatedNetwork* network, SimulatedProcess* from,
                    SimulatedExecutor* executor, std::string address);
  ~SimulatedSessions() override;

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override;
  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override;

  // The process with the coordinator that granted the newest registration. In
  // the simulator's records that is the job of this process.
  const std::string& job() const;

 private:
  class Link;
  const std::shared_ptr<Link> link_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SIMULATED_SESSIONS_H_
