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

// The metrics of a job in groups: each adds its own, and sets them by a report.

class LedgerMetrics {
 public:
  explicit LedgerMetrics(Telemetry* telemetry) {
    auto samples = [&](const char* outcome) {
      return telemetry->AddCounter(
          "shoal_job_samples_total",
          "Samples (examples times epochs) by what became of them.",
          {{"outcome", outcome}});
    };
    trained_ = samples("trained");
    rejected_ = samples("rejected");
    lost_ = samples("lost");
    bad_rows_ = telemetry->AddCounter("shoal_job_bad_rows_total",
                                      "Rows that could not be parsed.");
    steps_ =
        telemetry->AddCounter("shoal_job_steps_total",
                              "Batches that every shard has: the job's step.");
    auto batches = [&](const char* how) {
      return telemetry->AddCounter(
          "shoal_job_batches_repaired_total",
          "Batches that several forward passes pushed: recomputed, and of "
          "these mended where two shards have parts of two passes.",
          {{"how", how}});
    };
    recomputed_ = batches("recomputed");
    mended_ = batches("mended");
    repeats_ = telemetry->AddCounter(
        "shoal_job_pushes_repeated_total",
        "Pushes that shards refused as repeats, as told to the coordinator.");
  }

  void Set(const JobReport& now) const {
    trained_->Set(Number(now.trained));
    rejected_->Set(Number(now.rejected));
    lost_->Set(Number(now.lost));
    bad_rows_->Set(Number(now.bad_rows));
    steps_->Set(Number(now.batches));
    recomputed_->Set(Number(now.recomputed));
    mended_->Set(Number(now.mended));
    repeats_->Set(Number(now.repeats_refused));
  }

 private:
  Counter* trained_;
  Counter* rejected_;
  Counter* lost_;
  Counter* bad_rows_;
  Counter* steps_;
  Counter* recomputed_;
  Counter* mended_;
  Counter* repeats_;
};

class MemberMetrics {
 public:
  explicit MemberMetrics(Telemetry* telemetry) {
    auto members = [&](const char* role) {
      return telemetry->AddGauge("shoal_job_members",
                                 "Processes that are in the job now.",
                                 {{"role", role}});
    };
    ps_ = members("ps");
    workers_ = members("worker");
    leases_ =
        telemetry->AddGauge("shoal_job_leases", "Leases that workers hold.");
  }

  void Set(const JobReport& now) const {
    ps_->Set(now.ps_alive);
    int alive = 0;
    for (const WorkerReport& worker : now.workers) alive += worker.alive;
    workers_->Set(alive);
    leases_->Set(Number(now.leases));
  }

 private:
  Gauge* ps_;
  Gauge* workers_;
  Gauge* leases_;
};

class ProgressMetrics {
 public:
  explicit ProgressMetrics(Telemetry* telemetry)
      : epoch_(telemetry->AddGauge("shoal_job_epoch",
                                   "Of the oldest piece that is leased, from "
                                   "0.")),
        done_(telemetry->AddGauge(
            "shoal_job_done_ratio",
            "Part of the bytes of all epochs that is done.")),
        rate_(telemetry->AddGauge("shoal_job_samples_per_second",
                                  "Over the newest 5 seconds.")),
        loss_(telemetry->AddGauge("shoal_job_loss",
                                  "Mean over the workers' newest examples.")),
        progressive_(telemetry->AddGauge(
            "shoal_job_progressive_auc_ratio",
            "AUC of the newest examples, each scored before it was trained on; "
            "NaN before there are any.")),
        eval_auc_(telemetry->AddGauge(
            "shoal_job_evaluation_auc_ratio",
            "AUC of the newest evaluation; NaN before there is one.")),
        eval_loss_(telemetry->AddGauge(
            "shoal_job_evaluation_logloss",
            "Log loss of the newest evaluation; NaN before there is one.")) {}

  void Set(const JobReport& now) const {
    epoch_->Set(now.epoch);
    done_->Set(now.fraction_done);
    rate_->Set(now.samples_per_second);
    loss_->Set(now.loss);
    progressive_->Set(now.progressive_auc > 0 ? now.progressive_auc : NAN);
    const bool evaluated = now.eval.examples > 0;
    eval_auc_->Set(evaluated ? now.eval.auc : NAN);
    eval_loss_->Set(evaluated ? now.eval.logloss : NAN);
  }

 private:
  Gauge* epoch_;
  Gauge* done_;
  Gauge* rate_;
  Gauge* loss_;
  Gauge* progressive_;
  Gauge* eval_auc_;
  Gauge* eval_loss_;
};

class CheckpointMetrics {
 public:
  explicit CheckpointMetrics(Telemetry* telemetry) {
    auto checkpoints = [&](const char* outcome) {
      return telemetry->AddCounter(
          "shoal_job_checkpoints_total",
          "Checkpoints saved, and attempts that became none.",
          {{"outcome", outcome}});
    };
    saved_ = checkpoints("saved");
    voided_ = checkpoints("voided");
    step_ = telemetry->AddGauge("shoal_job_checkpoint_step",
                                "Of the newest checkpoint; 0: none.");
    at_ = telemetry->AddGauge(
        "shoal_job_checkpoint_timestamp_seconds",
        "When the newest checkpoint was first seen, since the epoch of Unix; "
        "0: none.");
    stood_ = telemetry->AddGauge(
        "shoal_job_checkpoint_seconds",
        "That training stood still for the newest checkpoint.");
  }

  void Set(const JobReport& now) const {
    const CheckpointReport& checkpoint = now.checkpoint;
    if (saved_->value() != Number(checkpoint.saved)) {
      at_->Set(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()));
    }
    saved_->Set(Number(checkpoint.saved));
    voided_->Set(Number(checkpoint.voided));
    step_->Set(Number(checkpoint.step));
    stood_->Set(checkpoint.seconds);
  }

 private:
  Counter* saved_;
  Counter* voided_;
  Gauge* step_;
  Gauge* at_;
  Gauge* stood_;
};

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
  telemetry->OnCollect([ledger = LedgerMetrics(telemetry),
                        members = MemberMetrics(telemetry),
                        progress = ProgressMetrics(telemetry),
                        checkpoints = CheckpointMetrics(telemetry),
                        report = std::move(report)]() mutable {
    const JobReport now = report();
    ledger.Set(now);
    members.Set(now);
    progress.Set(now);
    checkpoints.Set(now);
  });
}

absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetricsServer(
    const JobFlags& flags, Telemetry* telemetry) {
  if (flags.monitoring.metrics_port == 0) return nullptr;
  return MetricsServer::Start(flags.monitoring.metrics_listen,
                              flags.monitoring.metrics_port, telemetry);
}

}  // namespace shoal
