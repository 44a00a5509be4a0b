#ifndef SHOAL_TESTS_HARNESS_SCRIPTED_CLUSTER_H_
#define SHOAL_TESTS_HARNESS_SCRIPTED_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/executor.h"
#include "core/cluster_service.h"
#include "core/done.h"
#include "core/registration.h"
#include "core/session_messages.h"
#include "tests/harness/fake_cluster.h"

namespace shoal {

// A coordinator that is driven by a test. It gives every process that registers
// a life of start 3, acknowledges heartbeats if it is told to, keeps every
// other message, and sends the messages of the test. Belongs to the executor's
// thread.
class ScriptedCluster : public FakeCluster {
 public:
  explicit ScriptedCluster(Executor* executor) : FakeCluster(executor) {}

  void Register(RegisterRequest, absl::Duration,
                Done<RegisterReply> done) override {
    if (!refuse.ok()) {
      executor()->Post([status = refuse, done = std::move(done)]() mutable {
        std::move(done)(status);
      });
      return;
    }
    RegisterReply reply;
    reply.life = {3, ++lives};
    reply.initialise = true;
    reply.heartbeat_interval = absl::Seconds(1);
    reply.silent_after = absl::Seconds(5);
    executor()->Post([reply, done = std::move(done)]() mutable {
      std::move(done)(std::move(reply));
    });
  }

  std::unique_ptr<ClusterSession> OpenSession(SessionOpening,
                                              SessionHandler h) override {
    handler_ = std::make_shared<SessionHandler>(std::move(h));
    return std::make_unique<Session>(this);
  }

  // On the newest session.
  void Tell(CoordinatorMessage message) {
    executor()->Post([h = handler_, message = std::move(message)]() mutable {
      h->on_message(std::move(message));
    });
  }
  void EndSession(absl::Status status) {
    executor()->Post([h = handler_, status] { h->on_end(status); });
  }

  template <typename T>
  int Heard() const {
    int count = 0;
    for (const ProcessMessage& m : heard) count += std::holds_alternative<T>(m);
    return count;
  }

  // The newest life that it gave.
  Life life() const { return {3, lives}; }

  bool answer_heartbeats = true;
  absl::Status refuse;  // not OK: the answer to each registration
  uint32_t lives = 0;
  std::vector<ProcessMessage> heard;
  Heartbeat heartbeat;  // the newest

 private:
  class Session : public ClusterSession {
   public:
    explicit Session(ScriptedCluster* cluster) : cluster_(cluster) {}
    void Send(ProcessMessage message) override {
      if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
        if (!cluster_->answer_heartbeats) return;
        cluster_->Tell(HeartbeatAck{heartbeat->number});
        cluster_->heartbeat = *heartbeat;
      } else {
        cluster_->heard.push_back(std::move(message));
      }
    }

   private:
    ScriptedCluster* const cluster_;
  };

  std::shared_ptr<SessionHandler> handler_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SCRIPTED_CLUSTER_H_
