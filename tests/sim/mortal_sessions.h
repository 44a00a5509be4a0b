#ifndef SHOAL_TESTS_SIM_MORTAL_SESSIONS_H_
#define SHOAL_TESTS_SIM_MORTAL_SESSIONS_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "core/cluster_service.h"
#include "tests/harness/fake_cluster.h"

namespace shoal {

// A planted bug: a wrapper of the coordinator in which the end of a connection
// ends the life of the process.
class MortalSessions final : public ForwardingCluster {
 public:
  // `cluster` outlives it.
  explicit MortalSessions(ClusterService* cluster)
      : ForwardingCluster(cluster) {}

  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override {
    handler.on_end = [on_end = std::move(handler.on_end)](
                         absl::Status status) mutable {
      if (absl::IsUnavailable(status)) {
        status = absl::NotFoundError(status.message());
      }
      on_end(std::move(status));
    };
    return ForwardingCluster::OpenSession(std::move(opening),
                                          std::move(handler));
  }
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_MORTAL_SESSIONS_H_
