#include "bench/compare/run_figures.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/status_macros.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/figure_json.h"

namespace shoal {
namespace {

constexpr size_t kListMax = 1 << 16;
constexpr size_t kStatesMax = 64;

// True if the object has the field, and it is not null.
bool Has(const JsonNode& node, const char* field) {
  return node.Has(field) && !IsNull(node.Field(field));
}

std::optional<double> NumberOrNull(const JsonNode& node, const char* field) {
  if (!Has(node, field)) return std::nullopt;
  return node.Field(field).Double();
}

// nullopt for 0 too, with which the summary says that a figure is not known.
std::optional<double> Above0(const JsonNode& node, const char* field) {
  const std::optional<double> number = NumberOrNull(node, field);
  return number.has_value() && *number > 0 ? number : std::nullopt;
}

std::optional<RoleFigures> CpuSeconds(const JsonNode& steady, double samples,
                                      double paused_speed) {
  const JsonNode cpu = steady.Field("cpu_seconds");
  if (samples <= 0 || !Has(cpu, "worker") || !Has(cpu, "ps")) {
    return std::nullopt;
  }
  const double scale = paused_speed / samples;
  return RoleFigures{cpu.Field("worker").Double() * scale,
                     cpu.Field("ps").Double() * scale};
}

// Rows of one role that do not name the other side are those of the other
// side, with sent and received changed.
std::optional<RoleBytes> Bytes(const JsonNode& steady, double samples) {
  if (samples <= 0 || !Has(steady, "bytes")) return std::nullopt;
  const JsonNode rows = steady.Field("bytes");
  const size_t size = rows.Size(kListMax);
  if (size == 0) return std::nullopt;
  RoleBytes bytes;
  for (size_t i = 0; i < size; ++i) {
    const JsonNode row = rows.At(i);
    const bool worker = row.Field("role").String(kListMax) == "worker";
    (worker ? bytes.worker_sent : bytes.ps_sent) +=
        row.Field("sent").Double() / samples;
    (worker ? bytes.worker_received : bytes.ps_received) +=
        row.Field("received").Double() / samples;
  }
  return bytes;
}

void ReadStates(const JsonNode& steady, CellRun* run) {
  if (!Has(steady, "seconds")) return;
  double sum = 0;
  steady.Field("seconds").ForEachField(
      kStatesMax, [&](const std::string& state, const JsonNode& seconds) {
        run->state_shares[state] = std::max(0.0, seconds.Double());
        sum += run->state_shares[state];
      });
  if (sum <= 0) run->state_shares.clear();
  for (auto& [state, share] : run->state_shares) share /= sum;
}

std::optional<RunSteps> Steps(const JsonNode& root, double dilation) {
  if (!Has(root, "step_seconds")) return std::nullopt;
  RunSteps steps = ReadRunSteps(root.Field("step_seconds"));
  for (double* seconds :
       {&steps.mean, &steps.deviation, &steps.p10, &steps.p50, &steps.p90,
        &steps.p99, &steps.max}) {
    *seconds /= dilation;
  }
  return steps;
}

double MaxRss(const JsonNode& processes) {
  double most = 0;
  const size_t size = processes.Size(kListMax);
  for (size_t i = 0; i < size; ++i) {
    most = std::max(most, processes.At(i).Field("peak_rss_bytes").Double());
  }
  return most;
}

std::optional<RunBalance> Balance(const JsonNode& shards) {
  double most = 0, sum = 0;
  const size_t size = shards.Size(kListMax);
  for (size_t i = 0; i < size; ++i) {
    const double bytes = shards.At(i).Field("bytes").Double();
    most = std::max(most, bytes);
    sum += bytes;
  }
  if (sum <= 0) return std::nullopt;  // a stopped job does not say it
  return RunBalance{most * static_cast<double>(size) / sum};
}

std::vector<RunCurvePoint> Curve(const JsonNode& root, double dilation) {
  std::vector<RunCurvePoint> curve;
  if (!Has(root, "curve")) return curve;
  const JsonNode points = root.Field("curve");
  const size_t size = points.Size(kListMax);
  for (size_t i = 0; i < size; ++i) {
    const JsonNode node = points.At(i);
    RunCurvePoint point;
    point.seconds = node.Field("seconds").Double() / dilation;
    point.samples = node.Field("samples").U64();
    point.loss = NumberOrNull(node, "loss");
    point.auc = NumberOrNull(node, "auc");
    curve.push_back(point);
  }
  return curve;
}

std::optional<double> SecondsTo(double target, uint64_t rows,
                                const std::vector<RunCurvePoint>& curve) {
  for (const RunCurvePoint& point : curve) {
    if (rows > 0 && point.samples > rows) break;
    if (point.auc.has_value() && *point.auc >= target) return point.seconds;
  }
  return std::nullopt;
}

}  // namespace

absl::Status ReadSummary(absl::string_view text, const Cell& cell,
                         std::optional<double> target_auc, CellRun* run,
                         SummaryData* data) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  const JsonNode& root = document->root();
  const double dilation = cell.dilation;
  const JsonNode facts = root.Field("data");
  if (Has(facts, "rows")) data->rows = facts.Field("rows").U64();
  if (Has(facts, "files")) data->files = facts.Field("files").U64();
  if (data->rows > 0 && Has(facts, "batches")) {
    const double batches = facts.Field("batches").Double();
    if (batches > 0) {
      data->mean_batch = static_cast<double>(data->rows) / batches;
    }
  }
  const JsonNode steady = root.Field("steady");
  const double samples = steady.Field("samples").Double();
  run->seconds = root.Field("wall_seconds").Double() / dilation;
  if (const auto rate = Above0(steady, "samples_per_second")) {
    run->samples_per_second = *rate * dilation;
    if (data->rows > 0) {
      run->epoch_seconds =
          static_cast<double>(data->rows) / *run->samples_per_second;
    }
  }
  if (!cell.replayed()) {
    run->cpu_seconds_per_sample =
        CpuSeconds(steady, samples, run->paused_speed);
  }
  run->bytes_per_sample = Bytes(steady, samples);
  ReadStates(steady, run);
  run->step_seconds = Steps(root, dilation);
  // The summary of a mode without servers says nothing about them.
  const bool servers = ModeRowOf(cell).servers;
  run->peak_rss_bytes =
      RoleFigures{MaxRss(root.Field("processes")),
                  servers ? MaxRss(root.Field("balance")) : 0};
  run->balance = Balance(root.Field("balance"));
  if (!cell.replayed()) {
    run->staleness = ReadRunStaleness(root.Field("staleness"));
    run->curve = Curve(root, dilation);
    const JsonNode eval = root.Field("eval");
    run->auc = NumberOrNull(eval, "auc");
    run->logloss = NumberOrNull(eval, "logloss");
    if (target_auc.has_value()) {
      run->seconds_to_target = SecondsTo(*target_auc, data->rows, run->curve);
    }
  }
  return document->status();
}

}  // namespace shoal
