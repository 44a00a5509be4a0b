#ifndef SHOAL_TESTS_HARNESS_FAKE_CLUSTER_H_
#define SHOAL_TESTS_HARNESS_FAKE_CLUSTER_H_

#include <utility>

#include "absl/status/status.h"
#include "base/executor.h"
#include "core/cluster_service.h"
#include "core/done.h"
#include "core/registration.h"
#include "core/save_messages.h"

namespace shoal {

// The base of fakes of the coordinator, which save no checkpoint on request.
class FakeCluster : public ClusterService {
 public:
  // Answers come on `executor`, which outlives the fake.
  explicit FakeCluster(Executor* executor) : executor_(executor) {}

  // UNIMPLEMENTED.
  void SaveCheckpoint(SaveCheckpointRequest, absl::Duration,
                      Done<SavedCheckpoint> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      std::move(done)(absl::UnimplementedError(
          "this fake of a coordinator saves no checkpoint on request"));
    });
  }

 protected:
  Executor* executor() const { return executor_; }

 private:
  Executor* const executor_;
};

// The base of wrappers of a coordinator: forwards every call.
class ForwardingCluster : public ClusterService {
 public:
  // `cluster` outlives it.
  explicit ForwardingCluster(ClusterService* cluster) : cluster_(cluster) {}

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override {
    cluster_->Register(std::move(request), timeout, std::move(done));
  }
  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override {
    return cluster_->OpenSession(std::move(opening), std::move(handler));
  }
  void SaveCheckpoint(SaveCheckpointRequest request, absl::Duration timeout,
                      Done<SavedCheckpoint> done) override {
    cluster_->SaveCheckpoint(std::move(request), timeout, std::move(done));
  }

 private:
  ClusterService* const cluster_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_FAKE_CLUSTER_H_
