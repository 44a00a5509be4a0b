#include "bench/compare/cell_json.h"

#include <optional>
#include <string>
#include <vector>

#include "bench/compare/figure_json.h"

namespace shoal {
namespace {

void Write(const RoleBytes& bytes, JsonWriter* w) {
  w->BeginObject().Field("worker_sent", bytes.worker_sent);
  w->Field("worker_received", bytes.worker_received);
  w->Field("ps_sent", bytes.ps_sent);
  w->Field("ps_received", bytes.ps_received).EndObject();
}

void Write(const RoleFigures& figures, JsonWriter* w) {
  w->BeginObject().Field("worker", figures.worker);
  w->Field("ps", figures.ps).EndObject();
}

void Write(const RunSteps& steps, JsonWriter* w) {
  w->BeginObject().Field("count", steps.count).Field("mean", steps.mean);
  w->Field("deviation", steps.deviation).Field("p10", steps.p10);
  w->Field("p50", steps.p50).Field("p90", steps.p90);
  w->Field("p99", steps.p99).Field("max", steps.max).EndObject();
}

void Write(const RunStaleness& staleness, JsonWriter* w) {
  w->BeginObject().Field("mean", staleness.mean);
  w->Field("p50", staleness.p50).Field("p99", staleness.p99);
  w->Field("max", staleness.max).EndObject();
}

void Write(const RunBalance& balance, JsonWriter* w) {
  w->BeginObject();
  w->Field("max_over_mean_bytes", balance.max_over_mean_bytes).EndObject();
}

template <typename T>
void WriteOrNull(const char* name, const std::optional<T>& value,
                 JsonWriter* w) {
  w->Key(name);
  value.has_value() ? Write(*value, w) : static_cast<void>(w->Null());
}

void WriteCurve(const std::vector<RunCurvePoint>& curve, bool known,
                JsonWriter* w) {
  w->Key("curve");
  if (!known) {
    w->Null();
    return;
  }
  w->BeginArray();
  for (const RunCurvePoint& point : curve) {
    w->BeginObject().Field("seconds", point.seconds);
    w->Field("samples", point.samples);
    WriteFigure("loss", point.loss, w);
    WriteFigure("auc", point.auc, w);
    w->EndObject();
  }
  w->EndArray();
}

void WriteRun(const CellRun& run, bool replayed, JsonWriter* w) {
  w->BeginObject().Field("repeat", run.repeat).Field("ok", run.ok);
  w->Field("error", run.error).Field("seconds", run.seconds);
  WriteFigure("link_bits_per_second", run.link_bits_per_second, w);
  WriteFigure("link_expected", run.link_expected, w);
  w->Field("others_cores", run.others_cores);
  w->Field("paused_speed", run.paused_speed);
  w->Field("paused_speed_known", run.paused_speed_known);
  WriteFigure("samples_per_second", run.samples_per_second, w);
  WriteOrNull("cpu_seconds_per_sample", run.cpu_seconds_per_sample, w);
  WriteOrNull("bytes_per_sample", run.bytes_per_sample, w);
  w->Key("state_shares").BeginObject();
  for (const auto& [state, share] : run.state_shares) w->Field(state, share);
  w->EndObject();
  WriteOrNull("step_seconds", run.step_seconds, w);
  WriteOrNull("staleness", run.staleness, w);
  WriteOrNull("peak_rss_bytes", run.peak_rss_bytes, w);
  WriteOrNull("balance", run.balance, w);
  WriteCurve(run.curve, !replayed, w);
  WriteFigure("auc", run.auc, w);
  WriteFigure("logloss", run.logloss, w);
  WriteFigure("seconds_to_target", run.seconds_to_target, w);
  WriteFigure("epoch_seconds", run.epoch_seconds, w);
  w->EndObject();
}

}  // namespace

void WriteCell(const Cell& cell, JsonWriter* w) {
  w->BeginObject().Field("name", cell.name).Field("model", cell.model);
  w->Field("mode", cell.mode).Field("hosts", cell.hosts);
  w->Field("batch_size", cell.batch_size);
  w->Field("global_batch", cell.global_batch);
  w->Field("learning_rate", cell.learning_rate);
  w->Field("network", cell.network);
  w->Field("bits_per_second", cell.bits_per_second);
  w->Key("cores_per_host");
  cell.cores_per_host > 0 ? w->Double(cell.cores_per_host) : w->Null();
  w->Field("compute", cell.compute);
  w->Field("backup_workers", cell.backup_workers);
  w->Field("ssp_bound", cell.ssp_bound);
  WriteStraggler(cell.straggler, w);
  w->Field("dilation", cell.dilation);
  WriteFigure("dilation_difference", cell.dilation_difference, w);
  w->Field("dilation_verdict", cell.dilation_verdict);
  w->Field("grey", cell.grey);
  WriteOrNull("formula", cell.formula, w);
  w->Key("runs").BeginArray();
  for (const CellRun& run : cell.runs) WriteRun(run, cell.replayed(), w);
  w->EndArray().EndObject();
}

}  // namespace shoal
