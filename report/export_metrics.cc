#include "report/export_metrics.h"

#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/resource_usage.h"

namespace shoal {
namespace {

double Number(uint64_t count) { return static_cast<double>(count); }

// The metrics of a job, in groups. Each group adds its metrics to a Telemetry
// and sets them from a report.

class LedgerMetrics {
 public:
  explicit LedgerMetrics(Telemetry* telemetry) {
    auto samples = [&](const char* outcome) {
      return telemetry->AddCounter(
          "shoal_job_samples_total",
          "Samples (examples times epochs) by outcome.",
          {{"outcome", outcome}});
    };
    trained_ = samples("trained");
    rejected_ = samples("rejected");
    lost_ = samples("lost");
    bad_rows_ = telemetry->AddCounter("shoal_job_bad_rows_total",
                                      "Rows that could not be parsed.");
    steps_ =
        telemetry->AddCounter("shoal_job_steps_total",
                              "Batches that every shard has marked, which is "
                              "the job's step.");
    auto batches = [&](const char* how) {
      return telemetry->AddCounter(
          "shoal_job_batches_repaired_total",
          "Batches that several forward passes pushed (recomputed), and those "
          "of them of which two shards have parts of two passes (mended).",
          {{"how", how}});
    };
    recomputed_ = batches("recomputed");
    mended_ = batches("mended");
    repeats_ = telemetry->AddCounter(
        "shoal_job_pushes_repeated_total",
        "Pushes that shards refused as repeats, as reported to the "
        "coordinator.");
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
                                   "Epoch of the oldest leased piece, from "
                                   "0.")),
        done_(telemetry->AddGauge(
            "shoal_job_done_ratio",
            "Fraction of the bytes of all epochs that is done.")),
        rate_(telemetry->AddGauge("shoal_job_samples_per_second",
                                  "Samples per second over the last 5 "
                                  "seconds.")),
        loss_(telemetry->AddGauge("shoal_job_loss",
                                  "Mean loss of the workers' newest "
                                  "examples.")),
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
    // Real examples never have a loss of 0.
    eval_loss_->Set(evaluated && now.eval.logloss > 0 ? now.eval.logloss : NAN);
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
          "Checkpoints saved, and attempts at checkpoints that failed.",
          {{"outcome", outcome}});
    };
    saved_ = checkpoints("saved");
    voided_ = checkpoints("voided");
    step_ = telemetry->AddGauge("shoal_job_checkpoint_step",
                                "Step of the newest checkpoint; 0: there is "
                                "no checkpoint.");
    at_ = telemetry->AddGauge(
        "shoal_job_checkpoint_timestamp_seconds",
        "Unix time at which the newest checkpoint was first seen; 0: there is "
        "no checkpoint.");
    stood_ = telemetry->AddGauge(
        "shoal_job_checkpoint_seconds",
        "Time for which training stood still for the newest checkpoint.");
  }

  void Set(const JobReport& now) const {
    const CheckpointReport& checkpoint = now.checkpoint;
    if (saved_->value() != Number(checkpoint.saved)) {
      at_->Set(absl::ToDoubleSeconds(RealClock().Now() - absl::UnixEpoch()));
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
      ->AddGauge("shoal_process_info", "1; the labels name the process.",
                 {{"process", name}, {"job", job}})
      ->Set(1);
  // Prometheus clients of every language use these names, and dashboards know
  // them.
  Counter* const cpu = telemetry->AddCounter("process_cpu_seconds_total",
                                             "Processor time of all threads.");
  Gauge* const resident =
      telemetry->AddGauge("process_resident_memory_bytes", "Resident memory.");
  Gauge* const peak =
      telemetry->AddGauge("shoal_process_peak_resident_memory_bytes",
                          "Largest resident memory so far.");
  telemetry->OnCollect([=] {
    const ResourceUsage usage = CurrentResourceUsage();
    cpu->Set(usage.cpu_seconds);
    resident->Set(Number(usage.rss_bytes));
    peak->Set(Number(usage.peak_rss_bytes));
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

}  // namespace shoal
