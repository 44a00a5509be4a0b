#include "job/process_metrics.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

double Number(uint64_t count) { return static_cast<double>(count); }

// Bounds of the buckets of staleness, in pushes.
std::vector<double> StalenessBounds() {
  return {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
}

}  // namespace

void ExportShard(Telemetry* telemetry, int index,
                 std::shared_ptr<const ParameterShard> shard) {
  const MetricLabels labels = {{"shard", absl::StrCat(index)}};
  auto gauge = [&](const char* name, const char* help) {
    return telemetry->AddGauge(name, help, labels);
  };
  auto counter = [&](const char* name, const char* help) {
    return telemetry->AddCounter(name, help, labels);
  };
  Gauge* const serving =
      gauge("shoal_ps_serving",
            "1 while the shard serves (its lease with the coordinator runs), "
            "otherwise 0.");
  Counter* const applied = counter("shoal_ps_pushes_applied_total",
                                   "Batches whose push was applied.");
  Counter* const rejected =
      counter("shoal_ps_pushes_rejected_total",
              "Batches marked rejected, which changed no weights.");
  Counter* const repeats = counter(
      "shoal_ps_pushes_repeated_total",
      "Copies of batches that were already marked, which changed no "
      "weights.");
  Counter* const lookups =
      counter("shoal_ps_lookups_total", "Ids served by pulls.");
  Gauge* const rows = gauge("shoal_ps_rows", "Rows that the shard holds.");
  Gauge* const held = gauge("shoal_ps_held_bytes",
                            "Bytes of rows, slots, indexes and dense blocks, "
                            "as they count against the limit.");
  Gauge* const limit =
      gauge("shoal_ps_limit_bytes", "Value of --max_ps_bytes; 0: no limit.");
  Distribution* const staleness = telemetry->AddDistribution(
      "shoal_ps_push_staleness",
      "Staleness: pushes applied between the pull of a push and the push.",
      StalenessBounds(), labels);
  telemetry->OnCollect([=, shard = std::move(shard)] {
    const ParameterShard::Counts counts = shard->Count();
    serving->Set(counts.serving ? 1 : 0);
    applied->Set(Number(counts.pushes_applied));
    rejected->Set(Number(counts.pushes_rejected));
    repeats->Set(Number(counts.repeats_refused));
    lookups->Set(Number(counts.lookups));
    rows->Set(Number(counts.rows));
    held->Set(Number(counts.bytes_held));
    limit->Set(Number(counts.bytes_limit));
    staleness->Set(shard->Staleness());
  });
}

void ExportServerBytes(Telemetry* telemetry, int index,
                       const PayloadCounters* bytes) {
  const auto counter = [&](const char* method, const char* direction) {
    return telemetry->AddCounter(
        "shoal_ps_payload_bytes_total",
        "Ids, values and gradients that the server exchanged with workers.",
        {{"shard", absl::StrCat(index)},
         {"peer", "worker"},
         {"method", method},
         {"direction", direction}});
  };
  Counter* const asked = counter("pull", "received");
  Counter* const pulled = counter("pull", "sent");
  Counter* const pushed = counter("push", "received");
  Counter* const answered = counter("push", "sent");
  if (bytes == nullptr) return;
  telemetry->OnCollect([=] {
    const PayloadBytes now = bytes->Read();
    asked->Set(Number(now.pull.received));
    pulled->Set(Number(now.pull.sent));
    pushed->Set(Number(now.push.received));
    answered->Set(Number(now.push.sent));
  });
}

absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetricsServer(
    const JobFlags& flags, Telemetry* telemetry) {
  if (flags.monitoring.metrics_port == 0) return nullptr;
  return MetricsServer::Start(flags.monitoring.metrics_listen,
                              flags.MetricsPort(), telemetry);
}

}  // namespace shoal
