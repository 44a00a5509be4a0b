#ifndef SHOAL_TESTS_SIM_VIEW_WATCH_H_
#define SHOAL_TESTS_SIM_VIEW_WATCH_H_

#include <memory>
#include <utility>
#include <variant>

#include "core/cluster_service.h"

namespace shoal {

// The coordinator as a PS sees it, with a look at what comes: whether a
// ClusterView has.
class ViewWatch final : public ClusterService {
 public:
  // `cluster` outlives it.
  explicit ViewWatch(ClusterService* cluster) : cluster_(cluster) {}

  bool seen() const { return *seen_; }

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override {
    cluster_->Register(std::move(request), timeout, std::move(done));
  }
  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override {
    handler.on_message = [seen = seen_,
                          on_message = std::move(handler.on_message)](
                             CoordinatorMessage message) mutable {
      if (std::holds_alternative<ClusterView>(message)) *seen = true;
      on_message(std::move(message));
    };
    return cluster_->OpenSession(std::move(opening), std::move(handler));
  }

 private:
  ClusterService* const cluster_;
  const std::shared_ptr<bool> seen_ = std::make_shared<bool>(false);
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_VIEW_WATCH_H_
