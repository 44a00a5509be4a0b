#include "cmd/export_metrics.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/resource_usage.h"

namespace shoal {
namespace {

double Number(uint64_t count) { return static_cast<double>(count); }

// Staleness in pushes.
std::vector<double> StalenessBounds() {
  return {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
}

}  // namespace

void ExportProcess(Telemetry* telemetry, const std::string& name,
                   const std::string& job) {
  telemetry
      ->AddGauge("shoal_process_info", "1; the labels say who this is.",
                 {{"process", name}, {"job", job}})
      ->Set(1);
  // The names that dashboards know from every Prometheus client.
  Counter* const cpu = telemetry->AddCounter("process_cpu_seconds_total",
                                             "Processor time, of all threads.");
  Gauge* const resident = telemetry->AddGauge("process_resident_memory_bytes",
                                              "Memory resident now.");
  Gauge* const peak =
      telemetry->AddGauge("shoal_process_peak_resident_memory_bytes",
                          "Most memory that was ever resident.");
  telemetry->OnCollect([=] {
    const ResourceUsage usage = CurrentResourceUsage();
    cpu->Set(usage.cpu_seconds);
    resident->Set(Number(usage.rss_bytes));
    peak->Set(Number(usage.peak_rss_bytes));
  });
}

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
            "1 while the shard serves: its lease with the coordinator runs.");
  Counter* const applied =
      counter("shoal_ps_pushes_applied_total", "Pushes applied.");
  Counter* const rejected =
      counter("shoal_ps_pushes_rejected_total",
              "Pushes marked rejected; they changed nothing.");
  Counter* const repeats = counter(
      "shoal_ps_pushes_repeated_total",
      "Pushes of a batch that was marked already; they changed nothing.");
  Counter* const lookups =
      counter("shoal_ps_lookups_total", "Ids served by pulls.");
  Gauge* const rows = gauge("shoal_ps_rows", "Rows in existence.");
  Gauge* const held = gauge("shoal_ps_held_bytes",
                            "Rows, slots, indexes and dense blocks, as they "
                            "count against the limit.");
  Gauge* const limit =
      gauge("shoal_ps_limit_bytes", "--max_ps_bytes; 0: there is no limit.");
  Distribution* const staleness = telemetry->AddDistribution(
      "shoal_ps_push_staleness",
      "Pushes that were applied between a push's pull and itself.",
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

void ExportJob(Telemetry* telemetry, absl::AnyInvocable<JobReport()> report) {
  auto samples = [&](const char* outcome) {
    return telemetry->AddCounter(
        "shoal_job_samples_total",
        "Samples (examples times epochs) by what became of them.",
        {{"outcome", outcome}});
  };
  Counter* const trained = samples("trained");
  Counter* const rejected = samples("rejected");
  Counter* const lost = samples("lost");
  Counter* const bad_rows = telemetry->AddCounter(
      "shoal_job_bad_rows_total", "Rows that could not be parsed.");
  Counter* const steps = telemetry->AddCounter(
      "shoal_job_steps_total", "Batches that every shard has: the job's step.");
  auto batches = [&](const char* how) {
    return telemetry->AddCounter(
        "shoal_job_batches_repaired_total",
        "Batches that several forward passes pushed: recomputed, and of these "
        "mended where two shards have parts of two passes.",
        {{"how", how}});
  };
  Counter* const recomputed = batches("recomputed");
  Counter* const mended = batches("mended");
  Counter* const repeats = telemetry->AddCounter(
      "shoal_job_pushes_repeated_total",
      "Pushes that shards refused as repeats, as told to the coordinator.");
  auto members = [&](const char* role) {
    return telemetry->AddGauge("shoal_job_members",
                               "Processes that are in the job now.",
                               {{"role", role}});
  };
  Gauge* const ps = members("ps");
  Gauge* const workers = members("worker");
  Gauge* const leases =
      telemetry->AddGauge("shoal_job_leases", "Leases that workers hold.");
  Gauge* const epoch = telemetry->AddGauge(
      "shoal_job_epoch", "Of the oldest piece that is leased, from 0.");
  Gauge* const done = telemetry->AddGauge(
      "shoal_job_done_ratio", "Part of the bytes of all epochs that is done.");
  Gauge* const rate = telemetry->AddGauge("shoal_job_samples_per_second",
                                          "Over the newest 5 seconds.");
  Gauge* const loss = telemetry->AddGauge(
      "shoal_job_loss", "Mean over the workers' newest examples.");
  Gauge* const progressive = telemetry->AddGauge(
      "shoal_job_progressive_auc_ratio",
      "AUC of the newest examples, each scored before it was trained on; NaN "
      "before there are any.");
  Gauge* const eval_auc = telemetry->AddGauge(
      "shoal_job_evaluation_auc_ratio",
      "AUC of the newest evaluation; NaN before there is one.");
  Gauge* const eval_loss = telemetry->AddGauge(
      "shoal_job_evaluation_logloss",
      "Log loss of the newest evaluation; NaN before there is one.");
  auto checkpoints = [&](const char* outcome) {
    return telemetry->AddCounter(
        "shoal_job_checkpoints_total",
        "Checkpoints saved, and attempts that became none.",
        {{"outcome", outcome}});
  };
  Counter* const saved = checkpoints("saved");
  Counter* const voided = checkpoints("voided");
  Gauge* const saved_step = telemetry->AddGauge(
      "shoal_job_checkpoint_step", "Of the newest checkpoint; 0: none.");
  Gauge* const saved_at = telemetry->AddGauge(
      "shoal_job_checkpoint_timestamp_seconds",
      "When the newest checkpoint was first seen, since the epoch of Unix; 0: "
      "none.");
  Gauge* const stood = telemetry->AddGauge(
      "shoal_job_checkpoint_seconds",
      "That training stood still for the newest checkpoint.");
  telemetry->OnCollect([=, report = std::move(report)]() mutable {
    const JobReport now = report();
    trained->Set(Number(now.trained));
    rejected->Set(Number(now.rejected));
    lost->Set(Number(now.lost));
    bad_rows->Set(Number(now.bad_rows));
    steps->Set(Number(now.batches));
    recomputed->Set(Number(now.recomputed));
    mended->Set(Number(now.mended));
    repeats->Set(Number(now.repeats_refused));
    ps->Set(now.ps_alive);
    int alive = 0;
    for (const WorkerReport& worker : now.workers) alive += worker.alive;
    workers->Set(alive);
    leases->Set(Number(now.leases));
    epoch->Set(now.epoch);
    done->Set(now.fraction_done);
    rate->Set(now.samples_per_second);
    loss->Set(now.loss);
    progressive->Set(now.progressive_auc > 0 ? now.progressive_auc : NAN);
    const CheckpointReport& checkpoint = now.checkpoint;
    if (saved->value() != Number(checkpoint.saved)) {
      saved_at->Set(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()));
    }
    saved->Set(Number(checkpoint.saved));
    voided->Set(Number(checkpoint.voided));
    saved_step->Set(Number(checkpoint.step));
    stood->Set(checkpoint.seconds);
    const bool evaluated = now.eval.examples > 0;
    eval_auc->Set(evaluated ? now.eval.auc : NAN);
    eval_loss->Set(evaluated ? now.eval.logloss : NAN);
  });
}

absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetricsServer(
    const JobFlags& flags, Telemetry* telemetry) {
  if (flags.metrics_port == 0) return nullptr;
  return MetricsServer::Start(flags.metrics_listen, flags.metrics_port,
                              telemetry);
}

}  // namespace shoal
