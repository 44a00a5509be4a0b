#include "cmd/job_summary.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace shoal {
namespace {

// Keys stay in the order in which they are written here.
using Json = nlohmann::ordered_json;

Json WorkerJson(const WorkerReport& worker) {
  return {{"worker", worker.index},
          {"samples", worker.samples},
          {"scored", worker.scored},
          {"cpu_seconds", worker.cpu_seconds},
          {"peak_rss_bytes", worker.peak_rss_bytes}};
}

Json BalanceJson(const PsReport& ps) {
  return {{"shard", ps.index},
          {"bytes", ps.stats.bytes},
          {"rows", ps.stats.rows},
          {"lookups", ps.stats.lookups},
          {"cpu_seconds", ps.cpu_seconds},
          {"peak_rss_bytes", ps.peak_rss_bytes}};
}

// One object a shard; null where the job has no canaries.
Json CanaryJson(const JobReport& report) {
  Json shards;
  for (const PsReport& ps : report.ps) {
    if (!ps.stats.canary.has_value()) continue;
    shards.push_back({{"shard", ps.index},
                      {"rows", ps.stats.canary->rows},
                      {"not_one", ps.stats.canary->not_one},
                      {"smallest", ps.stats.canary->smallest},
                      {"largest", ps.stats.canary->largest}});
  }
  return shards;
}

Json StalenessJson(const Histogram& staleness) {
  return {{"mean", staleness.mean()},
          {"p50", staleness.Quantile(0.5)},
          {"p99", staleness.Quantile(0.99)},
          {"max", staleness.max()}};
}

Json EvalJson(const JobReport& report, const EvalReport& eval) {
  Json per_worker = Json::array();
  for (const WorkerReport& worker : report.workers) {
    const auto examples = eval.examples_of_worker.find(worker.index);
    per_worker.push_back(
        examples == eval.examples_of_worker.end() ? 0 : examples->second);
  }
  const bool any = eval.examples != 0;
  // Of labels that are all 0 there is no calibration.
  return {
      {"epoch", eval.epoch},
      {"step", eval.step},
      {"auc", any ? Json(eval.auc) : Json()},
      {"auc_error", any ? Json(eval.auc_error) : Json()},
      {"logloss", any ? Json(eval.logloss) : Json()},
      {"calibration", eval.calibration > 0 ? Json(eval.calibration) : Json()},
      {"examples", eval.examples},
      {"per_worker", per_worker}};
}

Json CheckpointJson(const CheckpointReport& report) {
  auto text = [](const std::string& s) { return s.empty() ? Json() : Json(s); };
  return {{"path", text(report.path)},
          {"step", report.step},
          {"seconds", report.seconds},
          {"all_seconds", report.all_seconds},
          {"saved", report.saved},
          {"voided", report.voided},
          {"last_error", text(report.last_error)},
          {"resumed_from", text(report.resumed_from)},
          {"resumed_step", report.resumed_step},
          {"resumed_samples", report.resumed_samples}};
}

Json SteadyJson(const JobReport& report) {
  return {
      {"samples", report.steady_samples},
      {"wall_seconds", report.steady_wall_seconds},
      {"samples_per_second", report.steady_wall_seconds > 0
                                 ? static_cast<double>(report.steady_samples) /
                                       report.steady_wall_seconds
                                 : 0},
      {"cpu_seconds",
       {{"worker", report.steady_worker_cpu_seconds},
        {"ps", report.steady_ps_cpu_seconds}}}};
}

}  // namespace

std::string SummaryJson(const JobFlags& flags, const JobReport& report) {
  Json samples_per_worker = Json::array();
  Json workers = Json::array();
  Json balance = Json::array();
  Json evals = Json::array();
  for (const EvalReport& eval : report.evals) {
    evals.push_back(EvalJson(report, eval));
  }
  double cpu_seconds = 0;
  for (const WorkerReport& worker : report.workers) {
    samples_per_worker.push_back(worker.samples);
    workers.push_back(WorkerJson(worker));
    cpu_seconds += worker.cpu_seconds;
  }
  for (const PsReport& ps : report.ps) {
    balance.push_back(BalanceJson(ps));
    cpu_seconds += ps.cpu_seconds;
  }
  const Json summary = {
      {"mode", flags.training.mode},
      {"model", flags.model.model},
      {"ps", flags.cluster.ps},
      {"workers", flags.cluster.workers},
      {"pipeline_depth", flags.PipelineDepth()},
      {"samples",
       {{"trained", report.trained},
        {"rejected", report.rejected},
        {"lost", report.lost}}},
      {"per_worker", samples_per_worker},
      {"bad_rows", report.bad_rows},
      {"batches",
       {{"trained", report.batches},
        {"mended", report.mended},
        {"recomputed", report.recomputed},
        {"repeats_refused", report.repeats_refused}}},
      {"wall_seconds", absl::ToDoubleSeconds(report.wall)},
      {"cpu_seconds", cpu_seconds},
      {"steady", SteadyJson(report)},
      {"eval", EvalJson(report, report.eval)},
      {"evals", evals},
      {"predicted",
       {{"rows", report.predicted}, {"nan", report.predicted_nan}}},
      {"staleness", StalenessJson(report.staleness)},
      {"balance", balance},
      {"processes", workers},
      {"canary", CanaryJson(report)},
      {"digest", absl::StrCat(absl::Hex(report.digest, absl::kZeroPad16))},
      {"checkpoint", CheckpointJson(report.checkpoint)},
      {"exit_reason",
       report.status.ok() ? "done" : std::string(report.status.message())},
  };
  // Text of a peer need not be UTF-8; the summary has to be.
  return absl::StrCat(
      summary.dump(2, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace shoal
