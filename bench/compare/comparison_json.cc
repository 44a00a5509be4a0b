#include "bench/compare/comparison_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "bench/compare/text_file.h"
#include "core/training_mode.h"

namespace shoal {
namespace {

constexpr int kFormat = 1;
constexpr size_t kTextMax = 1 << 16;    // bytes of a text
constexpr size_t kNameMax = 256;        // bytes of a name
constexpr size_t kListMax = 1 << 16;    // entries of a list
constexpr size_t kCurveMax = 1 << 12;   // points of a curve
constexpr int kHostsMax = 1 << 20;
constexpr int kBatchMax = 1 << 30;

// ---- writing

void WriteFigure(const char* name, const std::optional<double>& figure,
                 JsonWriter* w) {
  w->Key(name);
  figure.has_value() ? w->Double(*figure) : w->Null();
}

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

void Write(const Straggler& straggler, JsonWriter* w) {
  w->BeginObject().Field("host", straggler.host);
  w->Field("share", straggler.share).EndObject();
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
  WriteOrNull("straggler", cell.straggler, w);
  w->Field("dilation", cell.dilation);
  WriteFigure("dilation_difference", cell.dilation_difference, w);
  w->Field("grey", cell.grey);
  WriteOrNull("formula", cell.formula, w);
  w->Key("runs").BeginArray();
  for (const CellRun& run : cell.runs) WriteRun(run, cell.replayed(), w);
  w->EndArray().EndObject();
}

void WriteModels(const std::map<std::string, ComparedModel>& models,
                 JsonWriter* w) {
  w->Key("models").BeginObject();
  for (const auto& [name, model] : models) {
    w->Key(name).BeginObject().Key("flags").BeginObject();
    for (const auto& [flag, value] : model.flags) w->Field(flag, value);
    w->EndObject().Field("dense_bytes", model.dense_bytes);
    w->Field("row_bytes", model.row_bytes);
    w->Field("flop_per_sample", model.flop_per_sample).EndObject();
  }
  w->EndObject();
}

void WriteVerdicts(const std::vector<ModeVerdict>& verdicts, JsonWriter* w) {
  w->Key("verdicts").BeginArray();
  for (const ModeVerdict& verdict : verdicts) {
    w->BeginObject().Field("network", verdict.network);
    w->Field("hosts", verdict.hosts).Field("model", verdict.model);
    w->Field("best", verdict.best).Field("text", verdict.text);
    w->Field("rule", verdict.rule).EndObject();
  }
  w->EndArray();
}

// ---- reading

double Figure(const JsonNode& node) {
  const double figure = node.Double();
  if (!std::isfinite(figure) || figure < 0) {
    node.Fail("is not a finite number of at least 0");
  }
  return figure;
}

double Above0(const JsonNode& node) {
  const double figure = Figure(node);
  if (figure <= 0) node.Fail("is not above 0");
  return figure;
}

double Share(const JsonNode& node) {
  const double share = Figure(node);
  if (share > 1) node.Fail("is above 1");
  return share;
}

int IntFrom(int min, int max, const JsonNode& node) {
  const int number = node.Int(max);
  if (number < min) node.Fail(absl::StrCat("is below ", min));
  return number;
}

bool IsNull(const JsonNode& node) { return node.kind() == JsonKind::kNull; }

std::optional<double> FigureOrNull(const JsonNode& node) {
  if (IsNull(node)) return std::nullopt;
  return Figure(node);
}

std::optional<double> ShareOrNull(const JsonNode& node) {
  if (IsNull(node)) return std::nullopt;
  return Share(node);
}

// A figure less another one, as a share of the other.
std::optional<double> DifferenceOrNull(const JsonNode& node) {
  if (IsNull(node)) return std::nullopt;
  const double difference = node.Double();
  if (!std::isfinite(difference) || difference < -1) {
    node.Fail("is not a finite number of at least -1");
  }
  return difference;
}

std::string Name(const JsonNode& node) {
  std::string name = node.String(kNameMax);
  if (name.empty()) node.Fail("is empty");
  return name;
}

std::string Word(absl::Span<const absl::string_view> words,
                 const JsonNode& node) {
  std::string word = node.String(kNameMax);
  for (const absl::string_view known : words) {
    if (word == known) return word;
  }
  node.Fail(absl::StrCat("'", word, "' is not known here"));
  return word;
}

std::string Mode(const JsonNode& node) {
  std::vector<absl::string_view> words;
  for (const TrainingModeRow& row : kTrainingModes) words.push_back(row.word);
  return Word(words, node);
}

// A mode of a verdict: with backup workers it is as "sync+1".
std::string BestMode(const JsonNode& node) {
  const std::string name = node.String(kNameMax);
  const std::string mode = name.substr(0, name.find('+'));
  int backups = 0;
  const bool known = std::any_of(
      std::begin(kTrainingModes), std::end(kTrainingModes),
      [&](const TrainingModeRow& row) { return row.word == mode; });
  const bool counted =
      mode == name || absl::SimpleAtoi(name.substr(mode.size() + 1), &backups);
  if (!name.empty() && !(known && counted)) {
    node.Fail(absl::StrCat("'", name, "' is not known here"));
  }
  return name;
}

RoleBytes ReadRoleBytes(const JsonNode& node) {
  RoleBytes bytes;
  bytes.worker_sent = Figure(node.Field("worker_sent"));
  bytes.worker_received = Figure(node.Field("worker_received"));
  bytes.ps_sent = Figure(node.Field("ps_sent"));
  bytes.ps_received = Figure(node.Field("ps_received"));
  return bytes;
}

RoleFigures ReadRoleFigures(const JsonNode& node) {
  return {Figure(node.Field("worker")), Figure(node.Field("ps"))};
}

RunSteps ReadStepSeconds(const JsonNode& node) {
  RunSteps steps;
  steps.count = node.Field("count").U64();
  steps.mean = Figure(node.Field("mean"));
  steps.deviation = Figure(node.Field("deviation"));
  steps.p10 = Figure(node.Field("p10"));
  steps.p50 = Figure(node.Field("p50"));
  steps.p90 = Figure(node.Field("p90"));
  steps.p99 = Figure(node.Field("p99"));
  steps.max = Figure(node.Field("max"));
  return steps;
}

RunStaleness ReadStaleness(const JsonNode& node) {
  RunStaleness staleness;
  staleness.mean = Figure(node.Field("mean"));
  staleness.p50 = Figure(node.Field("p50"));
  staleness.p99 = Figure(node.Field("p99"));
  staleness.max = Figure(node.Field("max"));
  return staleness;
}

RunBalance ReadBalance(const JsonNode& node) {
  return {Figure(node.Field("max_over_mean_bytes"))};
}

// The value of a key that may be null.
template <typename T>
std::optional<T> OrNull(const JsonNode& node, T (*read)(const JsonNode&)) {
  if (IsNull(node)) return std::nullopt;
  return read(node);
}

std::vector<RunCurvePoint> ReadCurve(const JsonNode& node) {
  std::vector<RunCurvePoint> curve;
  if (IsNull(node)) return curve;
  const size_t size = node.Size(kCurveMax);
  for (size_t i = 0; i < size; ++i) {
    const JsonNode entry = node.At(i);
    RunCurvePoint point;
    point.seconds = Figure(entry.Field("seconds"));
    point.samples = entry.Field("samples").U64();
    point.loss = FigureOrNull(entry.Field("loss"));
    point.auc = ShareOrNull(entry.Field("auc"));
    if (!curve.empty() && point.seconds < curve.back().seconds) {
      entry.Field("seconds").Fail("is before the point before it");
    }
    curve.push_back(point);
  }
  return curve;
}

std::map<std::string, double> ReadStates(const JsonNode& node) {
  std::map<std::string, double> states;
  node.ForEachField(kNameMax,
                    [&](const std::string& state, const JsonNode& share) {
                      states[state] = Share(share);
                    });
  return states;
}

CellRun ReadRun(const JsonNode& node) {
  CellRun run;
  run.repeat = node.Field("repeat").Int(kHostsMax);
  run.ok = node.Field("ok").Bool();
  run.error = node.Field("error").String(kTextMax);
  run.seconds = Figure(node.Field("seconds"));
  run.link_bits_per_second = FigureOrNull(node.Field("link_bits_per_second"));
  run.link_expected = FigureOrNull(node.Field("link_expected"));
  run.others_cores = Figure(node.Field("others_cores"));
  run.samples_per_second = FigureOrNull(node.Field("samples_per_second"));
  run.cpu_seconds_per_sample =
      OrNull(node.Field("cpu_seconds_per_sample"), ReadRoleFigures);
  run.bytes_per_sample = OrNull(node.Field("bytes_per_sample"), ReadRoleBytes);
  run.state_shares = ReadStates(node.Field("state_shares"));
  run.step_seconds = OrNull(node.Field("step_seconds"), ReadStepSeconds);
  run.staleness = OrNull(node.Field("staleness"), ReadStaleness);
  run.peak_rss_bytes = OrNull(node.Field("peak_rss_bytes"), ReadRoleFigures);
  run.balance = OrNull(node.Field("balance"), ReadBalance);
  run.curve = ReadCurve(node.Field("curve"));
  run.auc = ShareOrNull(node.Field("auc"));
  run.logloss = FigureOrNull(node.Field("logloss"));
  run.seconds_to_target = FigureOrNull(node.Field("seconds_to_target"));
  run.epoch_seconds = FigureOrNull(node.Field("epoch_seconds"));
  if (!run.ok && run.error.empty()) {
    node.Field("error").Fail("is empty, though the run is not ok");
  }
  return run;
}

std::optional<Straggler> ReadStraggler(int hosts, const JsonNode& node) {
  if (IsNull(node)) return std::nullopt;
  Straggler straggler;
  straggler.host = node.Field("host").Int(kHostsMax);
  if (straggler.host >= hosts) {
    node.Field("host").Fail(
        absl::StrCat("the cell has hosts 0 to ", hosts - 1));
  }
  straggler.share = Share(node.Field("share"));
  if (straggler.share <= 0) node.Field("share").Fail("is not above 0");
  return straggler;
}

Cell ReadCell(const JsonNode& node) {
  Cell cell;
  cell.name = Name(node.Field("name"));
  cell.model = Name(node.Field("model"));
  cell.mode = Mode(node.Field("mode"));
  cell.hosts = IntFrom(1, kHostsMax, node.Field("hosts"));
  cell.batch_size = IntFrom(1, kBatchMax, node.Field("batch_size"));
  cell.global_batch = IntFrom(1, kBatchMax, node.Field("global_batch"));
  cell.learning_rate = Figure(node.Field("learning_rate"));
  cell.network = Name(node.Field("network"));
  cell.bits_per_second = Figure(node.Field("bits_per_second"));
  const JsonNode cores = node.Field("cores_per_host");
  cell.cores_per_host = cores.kind() == JsonKind::kNull ? 0 : Above0(cores);
  cell.compute = Word({"computed", "replayed"}, node.Field("compute"));
  cell.backup_workers = node.Field("backup_workers").Int(kHostsMax);
  cell.ssp_bound = node.Field("ssp_bound").Int(kHostsMax);
  cell.straggler = ReadStraggler(cell.hosts, node.Field("straggler"));
  // Files of other programs may lack it.
  if (node.Has("dilation")) cell.dilation = Above0(node.Field("dilation"));
  if (node.Has("dilation_difference")) {
    cell.dilation_difference =
        DifferenceOrNull(node.Field("dilation_difference"));
  }
  cell.grey = node.Field("grey").String(kTextMax);
  cell.formula = OrNull(node.Field("formula"), ReadRoleBytes);
  const JsonNode runs = node.Field("runs");
  const size_t size = runs.Size(kListMax);
  std::set<int> repeats;
  for (size_t i = 0; i < size && node.ok(); ++i) {
    cell.runs.push_back(ReadRun(runs.At(i)));
    if (!repeats.insert(cell.runs.back().repeat).second) {
      runs.At(i).Field("repeat").Fail("is there twice");
    }
  }
  return cell;
}

std::map<std::string, ComparedModel> ReadModels(const JsonNode& node) {
  std::map<std::string, ComparedModel> models;
  node.ForEachField(kListMax, [&](const std::string& name,
                                  const JsonNode& entry) {
    ComparedModel model;
    entry.Field("flags").ForEachField(
        kListMax, [&](const std::string& flag, const JsonNode& value) {
          model.flags[flag] = value.String(kTextMax);
        });
    model.dense_bytes = entry.Field("dense_bytes").U64();
    model.row_bytes = entry.Field("row_bytes").U64();
    model.flop_per_sample = Figure(entry.Field("flop_per_sample"));
    models[name] = std::move(model);
  });
  return models;
}

std::vector<Cell> ReadCells(const JsonNode& node, const Comparison& found) {
  std::vector<Cell> cells;
  std::set<std::string> names;
  const size_t size = node.Size(kListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    const JsonNode entry = node.At(i);
    cells.push_back(ReadCell(entry));
    const Cell& cell = cells.back();
    if (!names.insert(cell.name).second) {
      entry.Field("name").Fail(
          absl::StrCat("'", cell.name, "' is there twice"));
    }
    if (found.models.count(cell.model) == 0) {
      entry.Field("model").Fail(
          absl::StrCat("'", cell.model, "' is not in `models`"));
    }
  }
  return cells;
}

std::vector<CollectivePoint> ReadCollective(const JsonNode& node) {
  std::vector<CollectivePoint> points;
  const size_t size = node.Size(kListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    const JsonNode entry = node.At(i);
    points.push_back({IntFrom(1, kHostsMax, entry.Field("ranks")),
                      entry.Field("bytes").U64(),
                      Figure(entry.Field("seconds"))});
  }
  return points;
}

std::vector<ModeVerdict> ReadVerdicts(const JsonNode& node) {
  std::vector<ModeVerdict> verdicts;
  const size_t size = node.Size(kListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    const JsonNode entry = node.At(i);
    ModeVerdict verdict;
    verdict.network = Name(entry.Field("network"));
    verdict.hosts = IntFrom(1, kHostsMax, entry.Field("hosts"));
    verdict.model = Name(entry.Field("model"));
    verdict.best = BestMode(entry.Field("best"));
    verdict.text = entry.Field("text").String(kTextMax);
    verdict.rule = entry.Field("rule").String(kTextMax);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

void CheckFormat(const JsonNode& node) {
  const uint64_t format = node.U64();
  if (format != kFormat) {
    node.Fail(absl::StrCat("is ", format, ", and this version reads ", kFormat,
                           "; use the `shoal` that wrote the file"));
  }
}

Comparison ReadAll(const JsonNode& node) {
  Comparison found;
  CheckFormat(node.Field("format"));
  found.command = node.Field("command").String(kTextMax);
  found.cpu = node.Field("cpu").String(kTextMax);
  found.cores = node.Field("cores").Int(kHostsMax);
  found.memory_bytes = node.Field("memory_bytes").U64();
  found.version = node.Field("version").String(kTextMax);
  found.started = node.Field("started").String(kNameMax);
  const JsonNode ended = node.Field("ended");
  if (!IsNull(ended)) found.ended = ended.String(kNameMax);
  found.where = Word({"lab", "hosts", "loopback"}, node.Field("where"));
  found.dilation = Above0(node.Field("dilation"));
  found.equal_batch = Word({"global", "rank"}, node.Field("equal_batch"));
  found.target_auc = ShareOrNull(node.Field("target_auc"));
  found.price_per_host_hour = FigureOrNull(node.Field("price_per_host_hour"));
  found.repeats = IntFrom(1, kHostsMax, node.Field("repeats"));
  found.models = ReadModels(node.Field("models"));
  const JsonNode data = node.Field("data");
  found.data = {data.Field("rows").U64(), data.Field("files").U64()};
  const JsonNode not_played = node.Field("not_played");
  const size_t size = not_played.Size(kListMax);
  for (size_t i = 0; i < size; ++i) {
    found.not_played.push_back(not_played.At(i).String(kTextMax));
  }
  found.cells = ReadCells(node.Field("cells"), found);
  found.collective = ReadCollective(node.Field("collective"));
  found.verdicts = ReadVerdicts(node.Field("verdicts"));
  return found;
}

}  // namespace

std::string ComparisonJson(const Comparison& comparison) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("format", kFormat);
  w.Field("command", comparison.command).Field("cpu", comparison.cpu);
  w.Field("cores", comparison.cores);
  w.Field("memory_bytes", comparison.memory_bytes);
  w.Field("version", comparison.version);
  w.Field("started", comparison.started).Key("ended");
  comparison.ended.empty() ? w.Null() : w.Text(comparison.ended);
  w.Field("where", comparison.where).Field("dilation", comparison.dilation);
  w.Field("equal_batch", comparison.equal_batch);
  WriteFigure("target_auc", comparison.target_auc, &w);
  WriteFigure("price_per_host_hour", comparison.price_per_host_hour, &w);
  w.Field("repeats", comparison.repeats);
  WriteModels(comparison.models, &w);
  w.Key("data").BeginObject().Field("rows", comparison.data.rows);
  w.Field("files", comparison.data.files).EndObject();
  w.Key("not_played").Values(comparison.not_played);
  w.Key("cells").BeginArray();
  for (const Cell& cell : comparison.cells) WriteCell(cell, &w);
  w.EndArray().Key("collective").BeginArray();
  for (const CollectivePoint& point : comparison.collective) {
    w.BeginObject().Field("ranks", point.ranks).Field("bytes", point.bytes);
    w.Field("seconds", point.seconds).EndObject();
  }
  w.EndArray();
  WriteVerdicts(comparison.verdicts, &w);
  w.EndObject();
  return text + "\n";
}

absl::StatusOr<Comparison> ParseComparison(absl::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  Comparison found = ReadAll(document->root());
  SHOAL_RETURN_IF_ERROR(document->status());
  return found;
}

absl::StatusOr<Comparison> ReadComparison(const FileSystem& files,
                                          const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         ReadTextFile(files, path));
  auto found = ParseComparison(text);
  if (!found.ok()) return Annotate(found.status(), path);
  return found;
}

std::string RunFileJson(const RunFile& run) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("format", kFormat).Field("settings", run.settings);
  w.Key("cell");
  WriteCell(run.cell, &w);
  w.EndObject();
  return text + "\n";
}

absl::StatusOr<RunFile> ParseRunFile(absl::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  const JsonNode& root = document->root();
  CheckFormat(root.Field("format"));
  RunFile run;
  run.settings = root.Field("settings").String(kTextMax);
  const JsonNode cell = root.Field("cell");
  run.cell = ReadCell(cell);
  if (run.cell.runs.size() != 1) {
    cell.Field("runs").Fail("does not have exactly one entry");
  }
  SHOAL_RETURN_IF_ERROR(document->status());
  return run;
}

}  // namespace shoal
