#include "report/job_summary.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/json_writer.h"

namespace shoal {
namespace {

void WriteWorker(const WorkerReport& worker, JsonWriter* w) {
  w->BeginObject().Field("worker", worker.index);
  w->Field("samples", worker.samples).Field("scored", worker.scored);
  w->Field("cpu_seconds", worker.cpu_seconds);
  w->Field("peak_rss_bytes", worker.peak_rss_bytes).EndObject();
}

void WriteBalance(const PsReport& ps, JsonWriter* w) {
  w->BeginObject().Field("shard", ps.index).Field("bytes", ps.stats.bytes);
  w->Field("rows", ps.stats.rows).Field("lookups", ps.stats.lookups);
  w->Field("cpu_seconds", ps.cpu_seconds);
  w->Field("peak_rss_bytes", ps.peak_rss_bytes).EndObject();
}

// One object per shard; null if the job has no canaries.
void WriteCanary(const JobReport& report, JsonWriter* w) {
  bool any = false;
  for (const PsReport& ps : report.ps) {
    if (!ps.stats.canary.has_value()) continue;
    if (!any) w->BeginArray();
    any = true;
    const CanaryStats& canary = *ps.stats.canary;
    w->BeginObject().Field("shard", ps.index).Field("rows", canary.rows);
    w->Field("not_one", canary.not_one).Field("smallest", canary.smallest);
    w->Field("largest", canary.largest).EndObject();
  }
  any ? w->EndArray() : w->Null();
}

void WriteStaleness(const Histogram& staleness, JsonWriter* w) {
  w->BeginObject().Field("mean", staleness.mean());
  w->Field("p50", staleness.Quantile(0.5));
  w->Field("p99", staleness.Quantile(0.99)).Field("max", staleness.max());
  w->EndObject();
}

void WriteEval(const JobReport& report, const EvalReport& eval, JsonWriter* w) {
  const auto real = [w](const char* name, bool known, double figure) {
    w->Key(name);
    known ? w->Double(figure) : w->Null();
  };
  const bool any = eval.examples != 0;
  w->BeginObject().Field("epoch", eval.epoch).Field("step", eval.step);
  real("auc", any, eval.auc);
  real("auc_error", any, eval.auc_error);
  real("logloss", any, eval.logloss);
  // There is no calibration if all labels are 0.
  real("calibration", eval.calibration > 0, eval.calibration);
  w->Field("examples", eval.examples).Key("per_worker").BeginArray();
  for (const WorkerReport& worker : report.workers) {
    const auto examples = eval.examples_of_worker.find(worker.index);
    w->U64(examples == eval.examples_of_worker.end() ? 0 : examples->second);
  }
  w->EndArray().EndObject();
}

void WriteCheckpoint(const CheckpointReport& report, JsonWriter* w) {
  const auto text = [w](const char* name, const std::string& s) {
    w->Key(name);
    s.empty() ? w->Null() : w->Text(s);
  };
  w->BeginObject();
  text("path", report.path);
  w->Field("step", report.step).Field("seconds", report.seconds);
  w->Field("all_seconds", report.all_seconds).Field("saved", report.saved);
  w->Field("voided", report.voided);
  text("last_error", report.last_error);
  text("resumed_from", report.resumed_from);
  w->Field("resumed_step", report.resumed_step);
  w->Field("resumed_samples", report.resumed_samples).EndObject();
}

void WriteSteady(const JobReport& report, JsonWriter* w) {
  const double seconds = report.steady_wall_seconds;
  const auto samples = static_cast<double>(report.steady_samples);
  w->BeginObject().Field("samples", report.steady_samples);
  w->Field("wall_seconds", seconds);
  w->Field("samples_per_second", seconds > 0 ? samples / seconds : 0);
  w->Key("cpu_seconds").BeginObject();
  w->Field("worker", report.steady_worker_cpu_seconds);
  w->Field("ps", report.steady_ps_cpu_seconds).EndObject().EndObject();
}

// Counts of samples, rows and batches by outcome.
void WriteLedger(const JobReport& report, JsonWriter* w) {
  w->Key("samples").BeginObject().Field("trained", report.trained);
  w->Field("rejected", report.rejected).Field("lost", report.lost).EndObject();
  w->Key("per_worker").BeginArray();
  for (const WorkerReport& worker : report.workers) w->U64(worker.samples);
  w->EndArray().Field("bad_rows", report.bad_rows);
  w->Key("batches").BeginObject().Field("trained", report.batches);
  w->Field("mended", report.mended).Field("recomputed", report.recomputed);
  w->Field("repeats_refused", report.repeats_refused).EndObject();
}

double CpuSeconds(const JobReport& report) {
  double seconds = 0;
  for (const WorkerReport& worker : report.workers) {
    seconds += worker.cpu_seconds;
  }
  for (const PsReport& ps : report.ps) seconds += ps.cpu_seconds;
  return seconds;
}

}  // namespace

std::string SummaryJson(const JobFacts& facts, const JobReport& report) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("mode", facts.mode).Field("model", facts.model);
  w.Field("ps", facts.ps).Field("workers", facts.workers);
  w.Field("pipeline_depth", facts.pipeline_depth);
  WriteLedger(report, &w);
  w.Field("wall_seconds", absl::ToDoubleSeconds(report.wall));
  w.Field("cpu_seconds", CpuSeconds(report)).Key("steady");
  WriteSteady(report, &w);
  w.Key("eval");
  WriteEval(report, report.eval, &w);
  w.Key("evals").BeginArray();
  for (const EvalReport& eval : report.evals) WriteEval(report, eval, &w);
  w.EndArray().Key("predicted").BeginObject();
  w.Field("rows", report.predicted).Field("nan", report.predicted_nan);
  w.EndObject().Key("staleness");
  WriteStaleness(report.staleness, &w);
  w.Key("balance").BeginArray();
  for (const PsReport& ps : report.ps) WriteBalance(ps, &w);
  w.EndArray().Key("processes").BeginArray();
  for (const WorkerReport& worker : report.workers) WriteWorker(worker, &w);
  w.EndArray().Key("canary");
  WriteCanary(report, &w);
  w.Key("digest").Hex64(report.digest).Key("checkpoint");
  WriteCheckpoint(report.checkpoint, &w);
  // Text from another process need not be UTF-8, but the summary must be: the
  // writer replaces bad bytes.
  w.Field("exit_reason", report.status.ok() ? "done" : report.status.message());
  w.EndObject();
  return text + "\n";
}

}  // namespace shoal
