#include "job/own_replica.h"

#include <utility>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/mutex.h"

namespace shoal {

// The place of the service, which is empty until Attach.
struct OwnReplica::Place {
  explicit Place(Executor* done_on) : executor(done_on) {}

  std::shared_ptr<ParameterService> Get() {
    MutexLock lock(&mu);
    return service;
  }

  Executor* const executor;
  Mutex mu;
  std::shared_ptr<ParameterService> service ABSL_GUARDED_BY(mu);
  std::shared_ptr<const ParameterShard> shard ABSL_GUARDED_BY(mu);
};

class OwnReplica::Connection final : public ParameterService {
 public:
  explicit Connection(std::shared_ptr<Place> place)
      : place_(std::move(place)) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    Call(&ParameterService::Pull, std::move(request), timeout, std::move(done));
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    Call(&ParameterService::Push, std::move(request), timeout, std::move(done));
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    Call(&ParameterService::Stats, std::move(request), timeout,
         std::move(done));
  }

 private:
  template <typename Request, typename Reply>
  void Call(void (ParameterService::*method)(Request, absl::Duration,
                                             Done<Reply>),
            Request request, absl::Duration timeout, Done<Reply> done) {
    const std::shared_ptr<ParameterService> service = place_->Get();
    if (service != nullptr) {
      (service.get()->*method)(std::move(request), timeout, std::move(done));
      return;
    }
    place_->executor->Post([done = std::move(done)]() mutable {
      std::move(done)(absl::UnavailableError(
          "this process has not made or loaded its shard yet"));
    });
  }

  const std::shared_ptr<Place> place_;
};

OwnReplica::OwnReplica(Executor* executor)
    : place_(std::make_shared<Place>(executor)) {}

OwnReplica::~OwnReplica() = default;

void OwnReplica::Attach(std::shared_ptr<ParameterService> service,
                        std::shared_ptr<const ParameterShard> shard) {
  MutexLock lock(&place_->mu);
  SHOAL_DCHECK(place_->service == nullptr);
  place_->service = std::move(service);
  place_->shard = std::move(shard);
}

uint64_t OwnReplica::Marked() const {
  std::shared_ptr<const ParameterShard> shard;
  {
    MutexLock lock(&place_->mu);
    shard = place_->shard;
  }
  if (shard == nullptr) return 0;
  const MarkTotals totals = shard->TotalMarks();
  return totals.applied + totals.rejected;
}

std::unique_ptr<ParameterService> OwnReplica::Connect() const {
  return std::make_unique<Connection>(place_);
}

}  // namespace shoal
