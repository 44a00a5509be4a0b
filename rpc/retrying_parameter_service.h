#ifndef SHOAL_RPC_RETRYING_PARAMETER_SERVICE_H_
#define SHOAL_RPC_RETRYING_PARAMETER_SERVICE_H_

#include <memory>

#include "base/executor.h"
#include "base/telemetry.h"
#include "core/parameter_service.h"
#include "rpc/retry/retry_schedule.h"

namespace shoal {

// A ParameterService that repeats a call after an error that may pass with time
// (RetrySchedule), within the caller's timeout. All attempts of a push have the
// same batch id, by which the shard recognises a copy. So a retry is safe even
// if an earlier attempt was applied. The reply then says `repeat`.
//
// An attempt ends after RetryOptions::attempt_timeout, unless it is a push for
// a step (PushRequest::step): the server parks such a push until other workers
// have sent theirs, so that a second attempt would only send the same bytes
// again. A connection that breaks ends the attempt all the same.
//
// When the timeout has passed, the call ends with the code of the last error:
// DEADLINE_EXCEEDED (the server is silent, or a push for a step still waits),
// UNAVAILABLE (the server is out of reach) or RESOURCE_EXHAUSTED. The message
// has the number of attempts and the last error. Errors that time does not help
// are returned as they are.
class RetryingParameterService final : public ParameterService {
 public:
  // Waits and completes on `executor`, which must outlive this. `service` must
  // complete on the same executor. Processes need different values of `seed`,
  // so that their delays differ. `retries`, unless null, counts all attempts
  // but the first of each call.
  RetryingParameterService(std::unique_ptr<ParameterService> service,
                           RetryOptions options, uint64_t seed,
                           Executor* executor, Counter* retries = nullptr);
  // Ends calls that wait for their next attempt with CANCELLED.
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
