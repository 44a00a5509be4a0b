#ifndef SHOAL_RPC_METERED_PARAMETER_SERVICE_H_
#define SHOAL_RPC_METERED_PARAMETER_SERVICE_H_

#include "base/executor.h"
#include "base/telemetry.h"
#include "core/parameter_service.h"

namespace shoal {

// A ParameterService that counts the calls that go through it, and measures
// their time (docs/metrics.md: shoal_ps_requests_total,
// shoal_ps_requests_failed_total, shoal_ps_request_seconds,
// shoal_ps_requests_in_flight). Thread-safe.
class MeteredParameterService final : public ParameterService {
 public:
  // `service`, `telemetry` and `executor` must outlive the calls. Every metric
  // has the labels `labels`. `executor` gives the time.
  MeteredParameterService(ParameterService* service, Telemetry* telemetry,
                          const MetricLabels& labels, const Executor* executor);

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override;
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override;
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override;

 private:
  struct Method {
    Counter* requests = nullptr;
    Counter* failed = nullptr;
    Gauge* in_flight = nullptr;
    Distribution* seconds = nullptr;
  };

  static Method AddMethod(Telemetry* telemetry, MetricLabels labels,
                          const char* name);
  template <typename Reply>
  Done<Reply> Meter(const Method& method, Done<Reply> done);

  ParameterService* const service_;
  const Executor* const executor_;
  Method pull_;
  Method push_;
  Method stats_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_METERED_PARAMETER_SERVICE_H_
