#include "rpc/metered_parameter_service.h"

#include <utility>

namespace shoal {

MeteredParameterService::MeteredParameterService(ParameterService* service,
                                                 Telemetry* telemetry,
                                                 const MetricLabels& labels,
                                                 const Executor* executor)
    : service_(service),
      executor_(executor),
      pull_(AddMethod(telemetry, labels, "pull")),
      push_(AddMethod(telemetry, labels, "push")),
      stats_(AddMethod(telemetry, labels, "stats")) {}

MeteredParameterService::Method MeteredParameterService::AddMethod(
    Telemetry* telemetry, MetricLabels labels, const char* name) {
  labels.push_back({"method", name});
  Method method;
  method.requests =
      telemetry->AddCounter("shoal_ps_requests_total",
                            "Requests that the shard has answered.", labels);
  method.failed = telemetry->AddCounter(
      "shoal_ps_requests_failed_total",
      "Requests that the shard has answered with an error.", labels);
  method.in_flight = telemetry->AddGauge(
      "shoal_ps_requests_in_flight", "Requests that the shard is serving.",
      labels);
  method.seconds = telemetry->AddDistribution(
      "shoal_ps_request_seconds",
      "Time from a decoded request to its answer, before the answer is sent.",
      RequestSecondsBounds(), labels);
  return method;
}

template <typename Reply>
Done<Reply> MeteredParameterService::Meter(const Method& method,
                                           Done<Reply> done) {
  method.in_flight->Add(1);
  return [&method, executor = executor_, start = executor_->Now(),
          done = std::move(done)](absl::StatusOr<Reply> reply) mutable {
    method.seconds->Observe(absl::ToDoubleSeconds(executor->Now() - start));
    method.requests->Add();
    if (!reply.ok()) method.failed->Add();
    method.in_flight->Add(-1);
    std::move(done)(std::move(reply));
  };
}

void MeteredParameterService::Pull(PullRequest request, absl::Duration timeout,
                                   Done<PullReply> done) {
  service_->Pull(std::move(request), timeout, Meter(pull_, std::move(done)));
}

void MeteredParameterService::Push(PushRequest request, absl::Duration timeout,
                                   Done<PushReply> done) {
  service_->Push(std::move(request), timeout, Meter(push_, std::move(done)));
}

void MeteredParameterService::Stats(StatsRequest request,
                                    absl::Duration timeout,
                                    Done<StatsReply> done) {
  service_->Stats(std::move(request), timeout, Meter(stats_, std::move(done)));
}

}  // namespace shoal
