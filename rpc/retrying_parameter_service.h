#ifndef SHOAL_RPC_RETRYING_PARAMETER_SERVICE_H_
#define SHOAL_RPC_RETRYING_PARAMETER_SERVICE_H_

#include <memory>

#include "base/executor.h"
#include "base/telemetry.h"
#include "core/parameter_service.h"
#include "rpc/retry/retry_schedule.h"

namespace shoal {

// A ParameterService that tries again where time may help (RetrySchedule),
// within the caller's timeout. A push keeps its batch id, by which the shard
// knows its copies, so a retry is safe even where the first one was applied:
// its reply then says `repeat`.
//
// When the time is up: DEADLINE_EXCEEDED, or RESOURCE_EXHAUSTED where that was
// the last error, with the number of attempts and the last error. Other errors
// come through as they are.
class RetryingParameterService final : public ParameterService {
 public:
  // Waits and completes on `executor`, on which `service` completes too, and
  // which must outlive this. `seed` tells one process's delays from another's.
  // `retries`, if there is one, counts attempts that follow another.
  RetryingParameterService(std::unique_ptr<ParameterService> service,
                           RetryOptions options, uint64_t seed,
                           Executor* executor, Counter* retries = nullptr);
  // Calls that wait for their next attempt end: CANCELLED.
  ~RetryingParameterService() override;

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override;
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override;
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override;

 private:
  struct Shared;
  template <typename Request, typename Reply>
  class Call;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RETRYING_PARAMETER_SERVICE_H_
