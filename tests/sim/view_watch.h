#ifndef SHOAL_TESTS_SIM_VIEW_WATCH_H_
#define SHOAL_TESTS_SIM_VIEW_WATCH_H_

#include <memory>
#include <utility>
#include <variant>

#include "core/cluster_service.h"
#include "core/session_messages.h"
#include "tests/harness/fake_cluster.h"

namespace shoal {

// A wrapper of the coordinator for a PS, which watches for a ClusterView.
class ViewWatch final : public ForwardingCluster {
 public:
  // `cluster` outlives it.
  explicit ViewWatch(ClusterService* cluster) : ForwardingCluster(cluster) {}

  bool seen() const { return *seen_; }

  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override {
    handler.on_message = [seen = seen_,
                          on_message = std::move(handler.on_message)](
                             CoordinatorMessage message) mutable {
      if (std::holds_alternative<ClusterView>(message)) *seen = true;
      on_message(std::move(message));
    };
    return ForwardingCluster::OpenSession(std::move(opening),
                                          std::move(handler));
  }

 private:
  const std::shared_ptr<bool> seen_ = std::make_shared<bool>(false);
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_VIEW_WATCH_H_
