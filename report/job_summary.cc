#include "report/job_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/json_writer.h"

namespace shoal {
namespace {

// Text; null if it is empty.
void WriteText(const char* name, const std::string& text, JsonWriter* w) {
  w->Key(name);
  text.empty() ? w->Null() : w->Text(text);
}

// The processor time of a process or of several; null if nothing computed, so
// that the time would mislead.
void WriteCpuSeconds(const char* name, const ComputeFacts& compute,
                     double seconds, JsonWriter* w) {
  w->Key(name);
  compute.replayed() ? w->Null() : w->Double(seconds);
}

// Seconds of a train thread, or of several, by state.
void WriteSeconds(const StateSeconds& seconds, JsonWriter* w) {
  w->BeginObject();
  for (size_t i = 0; i < kStepStates; ++i) {
    w->Field(kStepStateNames[i], seconds[i]);
  }
  w->EndObject();
}

// A row for each role, peer and method that exchanged anything in the whole
// job, with the bytes of `worker` and `ps`.
void WriteBytes(const JobReport& report, const PayloadBytes& worker,
                const PayloadBytes& ps, JsonWriter* w) {
  w->BeginArray();
  const auto row = [w](const char* role, const char* peer, const char* method,
                       const ByteFlow& whole_job, const ByteFlow& bytes) {
    if (whole_job.sent + whole_job.received == 0) return;
    w->BeginObject().Field("role", role).Field("peer", peer);
    w->Field("method", method).Field("sent", bytes.sent);
    w->Field("received", bytes.received).EndObject();
  };
  row("worker", "ps", "pull", report.worker_bytes.pull, worker.pull);
  row("worker", "ps", "push", report.worker_bytes.push, worker.push);
  row("worker", "worker", "ring", report.worker_bytes.ring, worker.ring);
  row("ps", "worker", "pull", report.ps_bytes.pull, ps.pull);
  row("ps", "worker", "push", report.ps_bytes.push, ps.push);
  w->EndArray();
}

// Null if there was no step.
void WriteStepTimes(const StepTimes& steps, JsonWriter* w) {
  const Histogram& micros = steps.micros;
  if (micros.count() == 0) {
    w->Null();
    return;
  }
  constexpr double kMicros = 1e6;
  const auto count = static_cast<double>(micros.count());
  const double mean = micros.mean() / kMicros;
  const double variance = steps.square_sum / count - mean * mean;
  w->BeginObject().Field("count", micros.count()).Field("mean", mean);
  w->Field("deviation", std::sqrt(std::max(variance, 0.0)));
  const auto quantile = [&](const char* name, double q) {
    w->Field(name, static_cast<double>(micros.Quantile(q)) / kMicros);
  };
  quantile("p10", 0.1);
  quantile("p50", 0.5);
  quantile("p90", 0.9);
  quantile("p99", 0.99);
  w->Field("max", static_cast<double>(micros.max()) / kMicros).EndObject();
}

void WriteCurve(const std::vector<CurvePoint>& curve, JsonWriter* w) {
  // Real examples never have a loss or an AUC of 0.
  const auto known = [w](const char* name, double figure) {
    w->Key(name);
    figure > 0 ? w->Double(figure) : w->Null();
  };
  w->BeginArray();
  for (const CurvePoint& point : curve) {
    w->BeginObject().Field("seconds", absl::ToDoubleSeconds(point.at));
    w->Field("samples", point.samples);
    known("loss", point.loss);
    known("auc", point.auc);
    w->EndObject();
  }
  w->EndArray();
}

// A worker that did not name its host has the host `own_host`, which may be
// empty.
void WriteWorker(const WorkerReport& worker, const JobFacts& facts,
                 const std::string& own_host, JsonWriter* w) {
  w->BeginObject().Field("worker", worker.index);
  w->Field("samples", worker.samples).Field("scored", worker.scored);
  WriteCpuSeconds("cpu_seconds", facts.compute, worker.cpu_seconds, w);
  w->Field("peak_rss_bytes", worker.peak_rss_bytes);
  WriteText("host", worker.host.empty() ? own_host : worker.host, w);
  w->Key("seconds");
  WriteSeconds(worker.seconds, w);
  w->EndObject();
}

// True for a PS in the process that writes the summary (shoal train).
bool InThisProcess(const std::string& address) {
  return address.empty() || absl::StartsWith(address, "in-process:");
}

// "h1" of "h1:2223", "fd00::1" of "[fd00::1]:2223"; `own_host` if the address
// is of this host.
std::string HostOf(const std::string& address, const std::string& own_host) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const bool here = InThisProcess(address) || host == "localhost" ||
                    host == "::1" || absl::StartsWith(host, "127.");
  return here ? own_host : host;
}

void WriteBalance(const JobReport& report, const PsReport& ps,
                  const JobFacts& facts, JsonWriter* w) {
  w->BeginObject().Field("shard", ps.shard).Field("bytes", ps.stats.bytes);
  w->Field("rows", ps.stats.rows);
  w->Field("lookups", LookupsOfShard(report, ps.shard));
  WriteCpuSeconds("cpu_seconds", facts.compute, ps.cpu_seconds, w);
  w->Field("peak_rss_bytes", ps.peak_rss_bytes);
  WriteText("host", HostOf(ps.address, facts.host), w);
  w->EndObject();
}

// One object per PS, so for each copy of a shard; null if the job has no
// canaries.
void WriteCanary(const JobReport& report, JsonWriter* w) {
  bool any = false;
  for (const PsReport& ps : report.ps) {
    if (!ps.stats.canary.has_value()) continue;
    if (!any) w->BeginArray();
    any = true;
    const CanaryStats& canary = *ps.stats.canary;
    w->BeginObject().Field("shard", ps.shard).Field("rows", canary.rows);
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
  // Real examples never have a loss of 0.
  real("logloss", any && eval.logloss > 0, eval.logloss);
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
  w->BeginObject();
  WriteText("path", report.path, w);
  w->Field("step", report.step).Field("seconds", report.seconds);
  w->Field("all_seconds", report.all_seconds).Field("saved", report.saved);
  w->Field("voided", report.voided);
  WriteText("last_error", report.last_error, w);
  WriteText("resumed_from", report.resumed_from, w);
  w->Field("resumed_step", report.resumed_step);
  w->Field("resumed_samples", report.resumed_samples).EndObject();
}

void WriteSteady(const JobReport& report, const ComputeFacts& compute,
                 JsonWriter* w) {
  const double seconds = report.steady_wall_seconds;
  const auto samples = static_cast<double>(report.steady_samples);
  w->BeginObject().Field("samples", report.steady_samples);
  w->Field("wall_seconds", seconds);
  w->Field("samples_per_second", seconds > 0 ? samples / seconds : 0);
  w->Key("cpu_seconds").BeginObject();
  WriteCpuSeconds("worker", compute, report.steady_worker_cpu_seconds, w);
  WriteCpuSeconds("ps", compute, report.steady_ps_cpu_seconds, w);
  w->EndObject().Key("seconds");
  WriteSeconds(report.steady_seconds, w);
  w->Key("bytes");
  WriteBytes(report, report.steady_worker_bytes, report.steady_ps_bytes, w);
  w->EndObject();
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

// A count; null unless it is known.
void WriteCount(const char* name, bool known, uint64_t count, JsonWriter* w) {
  w->Key(name);
  known ? w->U64(count) : w->Null();
}

// The fields of a DataReport, into an object that the caller opened.
void WriteData(const DataReport& data, JsonWriter* w) {
  const bool any = data.files != 0;
  const bool read = any && data.all_read;
  WriteCount("files", any, data.files, w);
  WriteCount("rows", read, data.rows, w);
  WriteCount("bytes", any, data.bytes, w);
  WriteCount("batches", read, data.batches, w);
  WriteCount("short_batches", read, data.short_batches, w);
}

// The facts that are not figures: what ran, with which flags and when.
void WriteFacts(const JobFacts& facts, JsonWriter* w) {
  WriteText("version", facts.version, w);
  const bool known = facts.start != absl::InfinitePast();
  WriteText("start",
            known ? absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%Ez", facts.start,
                                     absl::LocalTimeZone())
                  : "",
            w);
  WriteText("host", facts.host, w);
  w->Key("flags").BeginObject();
  for (const auto& [name, value] : facts.flags) w->Field(name, value);
  w->EndObject();
}

void WriteCompute(const ComputeFacts& compute, JsonWriter* w) {
  w->Key("compute").BeginObject().Field("replayed", compute.replayed());
  WriteText("profile", compute.profile, w);
  w->Field("scale", compute.scale).EndObject();
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

std::string SummaryJson(const JobFacts& facts, const JobReport& report,
                        JsonLayout layout) {
  std::string text;
  JsonWriter w(&text, layout);
  w.BeginObject().Field("mode", facts.mode).Field("model", facts.model);
  w.Field("ps", facts.ps).Field("workers", facts.workers);
  w.Field("pipeline_depth", facts.pipeline_depth);
  WriteFacts(facts, &w);
  WriteCompute(facts.compute, &w);
  w.Key("data").BeginObject();
  WriteData(report.train_data, &w);
  w.Key("validation").BeginObject();
  WriteData(report.eval_data, &w);
  w.EndObject().EndObject();
  WriteLedger(report, &w);
  w.Field("generations", report.generations);
  w.Field("workers_lost", report.ranks_lost);
  w.Field("wall_seconds", absl::ToDoubleSeconds(report.wall));
  WriteCpuSeconds("cpu_seconds", facts.compute, CpuSeconds(report), &w);
  w.Key("steady");
  WriteSteady(report, facts.compute, &w);
  w.Key("bytes");
  WriteBytes(report, report.worker_bytes, report.ps_bytes, &w);
  w.Key("step_seconds");
  WriteStepTimes(report.step_times, &w);
  w.Key("curve");
  WriteCurve(report.curve, &w);
  w.Key("eval");
  WriteEval(report, report.eval, &w);
  w.Key("evals").BeginArray();
  for (const EvalReport& eval : report.evals) WriteEval(report, eval, &w);
  w.EndArray().Key("last_loss");
  // Real examples never have a loss of 0.
  report.loss > 0 ? w.Double(report.loss) : w.Null();
  w.Key("predicted").BeginObject();
  w.Field("rows", report.predicted).Field("nan", report.predicted_nan);
  w.EndObject().Key("staleness");
  WriteStaleness(report.staleness, &w);
  w.Key("balance").BeginArray();
  // If the PSs are in this process, so are the workers.
  const bool alone = absl::c_all_of(report.ps, [](const PsReport& ps) {
    return InThisProcess(ps.address);
  });
  const std::string own_host = alone ? facts.host : "";
  for (const PsReport* ps : ShardReports(report)) {
    WriteBalance(report, *ps, facts, &w);
  }
  w.EndArray().Key("processes").BeginArray();
  for (const WorkerReport& worker : report.workers) {
    WriteWorker(worker, facts, own_host, &w);
  }
  w.EndArray().Key("canary");
  WriteCanary(report, &w);
  w.Key("digest").Hex64(report.digest).Key("checkpoint");
  WriteCheckpoint(report.checkpoint, &w);
  // Text from another process need not be UTF-8, but the summary must be: the
  // writer replaces bad bytes.
  w.Field("exit_reason", report.status.ok() ? "done" : report.status.message());
  w.EndObject();
  if (layout == JsonLayout::kIndented) text.push_back('\n');
  return text;
}

}  // namespace shoal
