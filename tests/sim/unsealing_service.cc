#include "tests/sim/unsealing_service.h"

#include <utility>
#include <variant>

namespace shoal {
namespace {

// Unseals at Held, and seals again before the Resume that unseals.
struct Seal {
  std::function<ParameterShard*()> shard;
  bool let_go = false;
};

class Session : public ClusterSession {
 public:
  Session(std::unique_ptr<ClusterSession> session, std::shared_ptr<Seal> seal)
      : session_(std::move(session)), seal_(std::move(seal)) {}

  void Send(ProcessMessage message) override {
    if (std::holds_alternative<Held>(message) && !seal_->let_go) {
      seal_->shard()->Unseal();
      seal_->let_go = true;
    }
    session_->Send(std::move(message));
  }

 private:
  const std::unique_ptr<ClusterSession> session_;
  const std::shared_ptr<Seal> seal_;
};

}  // namespace

std::unique_ptr<ClusterSession> UnsealingService::OpenSession(
    SessionOpening opening, SessionHandler handler) {
  auto seal = std::make_shared<Seal>(Seal{shard_});
  SessionHandler between;
  between.on_end = std::move(handler.on_end);
  between.on_message = [seal, on_message = std::move(handler.on_message)](
                           CoordinatorMessage message) mutable {
    if (seal->let_go && std::holds_alternative<Resume>(message)) {
      // Nothing is on its way: it is all on one thread.
      seal->shard()->Seal(absl::ZeroDuration()).IgnoreError();
      seal->let_go = false;
    }
    on_message(std::move(message));
  };
  return std::make_unique<Session>(
      ForwardingCluster::OpenSession(std::move(opening), std::move(between)),
      std::move(seal));
}

}  // namespace shoal
