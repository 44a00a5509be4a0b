#include "bench/compare/cell_json.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/figure_json.h"

namespace shoal {
namespace {

constexpr size_t kCurveMax = 1 << 12;  // points of a curve

// A word of the table of modes.
std::string ReadMode(const JsonNode& node) {
  std::string word = node.String(kJsonNameMax);
  if (FindModeRow(word) == nullptr) {
    node.Fail(absl::StrCat("'", word, "' is not known here"));
  }
  return word;
}

RoleBytes ReadRoleBytes(const JsonNode& node) {
  RoleBytes bytes;
  bytes.worker_sent = ReadFigure(node.Field("worker_sent"));
  bytes.worker_received = ReadFigure(node.Field("worker_received"));
  bytes.ps_sent = ReadFigure(node.Field("ps_sent"));
  bytes.ps_received = ReadFigure(node.Field("ps_received"));
  return bytes;
}

RoleFigures ReadRoleFigures(const JsonNode& node) {
  return {ReadFigure(node.Field("worker")), ReadFigure(node.Field("ps"))};
}

RunBalance ReadBalance(const JsonNode& node) {
  return {ReadFigure(node.Field("max_over_mean_bytes"))};
}

std::vector<RunCurvePoint> ReadCurve(const JsonNode& node) {
  std::vector<RunCurvePoint> curve;
  if (IsNull(node)) return curve;
  const size_t size = node.Size(kCurveMax);
  for (size_t i = 0; i < size; ++i) {
    const JsonNode entry = node.At(i);
    RunCurvePoint point;
    point.seconds = ReadFigure(entry.Field("seconds"));
    point.samples = entry.Field("samples").U64();
    point.loss = ReadFigureOrNull(entry.Field("loss"));
    point.auc = ReadShareOrNull(entry.Field("auc"));
    if (!curve.empty() && point.seconds < curve.back().seconds) {
      entry.Field("seconds").Fail("is before the point before it");
    }
    curve.push_back(point);
  }
  return curve;
}

std::map<std::string, double> ReadStates(const JsonNode& node) {
  std::map<std::string, double> states;
  node.ForEachField(kJsonNameMax,
                    [&](const std::string& state, const JsonNode& share) {
                      states[state] = ReadShare(share);
                    });
  return states;
}

CellRun ReadRun(const JsonNode& node) {
  CellRun run;
  run.repeat = node.Field("repeat").Int(kJsonHostsMax);
  run.ok = node.Field("ok").Bool();
  run.error = node.Field("error").String(kJsonTextMax);
  run.seconds = ReadFigure(node.Field("seconds"));
  run.link_bits_per_second =
      ReadFigureOrNull(node.Field("link_bits_per_second"));
  run.link_expected = ReadFigureOrNull(node.Field("link_expected"));
  run.others_cores = ReadFigure(node.Field("others_cores"));
  // Files of earlier versions lack it: their hosts had no more for pauses.
  if (node.Has("paused_speed")) {
    run.paused_speed = ReadShareAbove0(node.Field("paused_speed"));
  }
  if (node.Has("paused_speed_known")) {
    run.paused_speed_known = node.Field("paused_speed_known").Bool();
  }
  run.samples_per_second = ReadFigureOrNull(node.Field("samples_per_second"));
  run.cpu_seconds_per_sample =
      ReadOrNull(node.Field("cpu_seconds_per_sample"), ReadRoleFigures);
  run.bytes_per_sample =
      ReadOrNull(node.Field("bytes_per_sample"), ReadRoleBytes);
  run.state_shares = ReadStates(node.Field("state_shares"));
  run.step_seconds = ReadOrNull(node.Field("step_seconds"), ReadRunSteps);
  run.staleness = ReadOrNull(node.Field("staleness"), ReadRunStaleness);
  run.peak_rss_bytes =
      ReadOrNull(node.Field("peak_rss_bytes"), ReadRoleFigures);
  run.balance = ReadOrNull(node.Field("balance"), ReadBalance);
  run.curve = ReadCurve(node.Field("curve"));
  run.auc = ReadShareOrNull(node.Field("auc"));
  run.logloss = ReadFigureOrNull(node.Field("logloss"));
  run.seconds_to_target = ReadFigureOrNull(node.Field("seconds_to_target"));
  run.epoch_seconds = ReadFigureOrNull(node.Field("epoch_seconds"));
  if (!run.ok && run.error.empty()) {
    node.Field("error").Fail("is empty, though the run is not ok");
  }
  return run;
}

}  // namespace

Cell ReadCell(const JsonNode& node) {
  Cell cell;
  cell.name = ReadName(node.Field("name"));
  cell.model = ReadName(node.Field("model"));
  cell.mode = ReadMode(node.Field("mode"));
  cell.hosts = ReadIntFrom(1, kJsonHostsMax, node.Field("hosts"));
  cell.batch_size = ReadIntFrom(1, kJsonBatchMax, node.Field("batch_size"));
  cell.global_batch = ReadIntFrom(1, kJsonBatchMax, node.Field("global_batch"));
  cell.learning_rate = ReadFigure(node.Field("learning_rate"));
  cell.network = ReadName(node.Field("network"));
  cell.bits_per_second = ReadFigure(node.Field("bits_per_second"));
  const JsonNode cores = node.Field("cores_per_host");
  const bool known = cores.kind() != JsonKind::kNull;
  cell.cores_per_host = known ? ReadAbove0(cores) : 0;
  cell.compute = ReadWord({kComputed, kReplayed}, node.Field("compute"));
  cell.backup_workers = node.Field("backup_workers").Int(kJsonHostsMax);
  cell.ssp_bound = node.Field("ssp_bound").Int(kJsonHostsMax);
  cell.straggler = ReadStragglerOrNull(cell.hosts, node.Field("straggler"));
  // Files of other programs may lack it.
  if (node.Has("dilation")) cell.dilation = ReadAbove0(node.Field("dilation"));
  if (node.Has("dilation_difference")) {
    cell.dilation_difference =
        ReadDifferenceOrNull(node.Field("dilation_difference"));
  }
  if (node.Has("dilation_verdict")) {
    cell.dilation_verdict = ReadWord({kNotTried, kTriedSame, kTriedWithinSpread,
                                      kTriedDiffers, kTriedFailed},
                                     node.Field("dilation_verdict"));
  }
  cell.grey = node.Field("grey").String(kJsonTextMax);
  cell.formula = ReadOrNull(node.Field("formula"), ReadRoleBytes);
  const JsonNode runs = node.Field("runs");
  const size_t size = runs.Size(kJsonListMax);
  std::set<int> repeats;
  for (size_t i = 0; i < size && node.ok(); ++i) {
    cell.runs.push_back(ReadRun(runs.At(i)));
    if (!repeats.insert(cell.runs.back().repeat).second) {
      runs.At(i).Field("repeat").Fail("is there twice");
    }
  }
  return cell;
}

}  // namespace shoal
