#include "report/progress_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Limits of what a process of ours writes about the end of a job.
constexpr size_t kMaxLines = 1 << 20;
constexpr size_t kMaxTextBytes = 64 << 20;

// Reads a number. One that was not finite is written as null, and read as 0.
double Real(const JsonNode& object, const char* name) {
  const JsonNode node = object.Field(name);
  return node.kind() == JsonKind::kNull ? 0 : node.Double();
}

JobEnding ReadEnding(const JsonNode& end) {
  JobEnding ending;
  ending.ok = end.Field("ok").Bool();
  ending.reason = end.Field("reason").String(kMaxTextBytes);
  const JsonNode lines = end.Field("lines");
  const size_t count = lines.Size(kMaxLines);
  for (size_t i = 0; i < count; ++i) {
    ending.lines.push_back(lines.At(i).String(kMaxTextBytes));
  }
  ending.first = end.Field("first").String(kMaxTextBytes);
  ending.stopped = end.Field("stopped").Bool();
  ending.unwritten = end.Field("unwritten").String(kMaxTextBytes);
  ending.signal = end.Field("signal").Int(std::numeric_limits<int>::max());
  ending.resume = end.Field("resume").String(kMaxTextBytes);
  ending.lost = end.Field("lost").Bool();
  ending.fails_again = end.Field("fails_again").Bool();
  if (end.Has("summary") &&
      end.Field("summary").kind() != JsonKind::kObject) {
    end.Field("summary").Fail("must be an object");
  }
  return ending;
}

// The text of the summary in the line of an ending, which EndingJson wrote.
std::string SummaryText(absl::string_view line) {
  // In a string the quotes would have backslashes, and the members before are
  // not objects.
  constexpr absl::string_view kBefore = ",\"summary\":";
  constexpr absl::string_view kBehind = "}}";
  const size_t at = line.find(kBefore);
  if (at == absl::string_view::npos || !absl::EndsWith(line, kBehind)) {
    return "";
  }
  line.remove_prefix(at + kBefore.size());
  line.remove_suffix(kBehind.size());
  return std::string(line);
}

ProgressFigures ReadProgress(const JsonNode& from) {
  ProgressFigures progress;
  progress.started = from.Field("started").Bool();
  progress.over = from.Field("over").Bool();
  progress.waiting_for = from.Field("waiting_for").String(kMaxTextBytes);
  progress.trains = from.Field("trains").Bool();
  progress.fraction_done = Real(from, "fraction_done");
  progress.fraction_before = Real(from, "fraction_before");
  progress.samples_per_second = Real(from, "samples_per_second");
  if (progress.trains) {
    progress.step = from.Field("step").U64();
    progress.trained = from.Field("trained").U64();
    progress.samples = from.Field("samples").U64();
    progress.staleness_mean = Real(from, "staleness_mean");
    progress.staleness_max = from.Field("staleness_max").U64();
    if (from.Has("loss")) progress.loss = Real(from, "loss");
    if (from.Has("progressive_auc")) {
      progress.progressive_auc = Real(from, "progressive_auc");
    }
  }
  if (from.Has("epochs")) {
    progress.epoch = from.Field("epoch").U64();
    progress.epochs = from.Field("epochs").U64();
  }
  if (from.Has("workers_planned")) {
    progress.workers_planned = from.Field("workers_planned")
                                   .Int(std::numeric_limits<int>::max());
  }
  if (from.Has("eval_scored")) {
    progress.evaluating.emplace();
    progress.evaluating->scored = Real(from, "eval_scored");
    if (from.Has("eval_auc_so_far")) {
      progress.evaluating->auc = Real(from, "eval_auc_so_far");
    }
  }
  progress.workers_alive =
      from.Field("workers_alive").Int(std::numeric_limits<int>::max());
  progress.wall_seconds = Real(from, "wall_seconds");
  if (from.Has("eval_auc")) {
    progress.eval.emplace();
    progress.eval->auc = Real(from, "eval_auc");
    if (progress.trains) {
      progress.eval->epoch = from.Field("eval_epoch").U64();
    }
  }
  if (from.Has("checkpoint")) {
    progress.checkpoint = from.Field("checkpoint").String(kMaxTextBytes);
    progress.checkpoint_step = from.Field("checkpoint_step").U64();
  }
  return progress;
}

}  // namespace

ProgressFigures ProgressOf(const JobReport& report) {
  ProgressFigures progress;
  progress.trains = report.trains;
  progress.started = report.started;
  progress.waiting_for = report.waiting_for;
  progress.step = report.batches;
  progress.trained = report.trained;
  progress.samples = report.total_known ? report.samples : 0;
  progress.epoch = std::min(report.epoch + 1, report.num_epochs);
  progress.epochs = report.num_epochs;
  progress.workers_planned = report.workers_planned;
  progress.evaluating = report.evaluating;
  progress.fraction_done = report.fraction_done;
  progress.fraction_before = report.fraction_before;
  progress.over = report.over;
  progress.samples_per_second =
      report.over ? MeanSpeed(report) : report.samples_per_second;
  progress.loss = report.loss;
  progress.progressive_auc = report.progressive_auc;
  progress.staleness_mean = report.staleness.mean();
  progress.staleness_max = report.staleness.max();
  progress.workers_alive = static_cast<int>(
      std::count_if(report.workers.begin(), report.workers.end(),
                    [](const WorkerReport& worker) { return worker.alive; }));
  progress.wall_seconds = absl::ToDoubleSeconds(report.wall);
  if (report.eval.examples > 0) {
    progress.eval = {report.eval.auc, report.eval.epoch};
  }
  const CheckpointReport& saves = report.checkpoint;
  const bool saved = !saves.path.empty();
  progress.checkpoint = saved ? saves.path : saves.resumed_from;
  progress.checkpoint_step = saved ? saves.step : saves.resumed_step;
  return progress;
}

std::string ProgressJson(const ProgressFigures& progress) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kCompact);
  w.BeginObject().Key("progress").BeginObject();
  w.Field("started", progress.started).Field("over", progress.over);
  w.Field("waiting_for", progress.waiting_for).Field("trains", progress.trains);
  w.Field("fraction_done", progress.fraction_done);
  w.Field("fraction_before", progress.fraction_before);
  w.Field("samples_per_second", progress.samples_per_second);
  w.Field("workers_alive", progress.workers_alive);
  w.Field("workers_planned", progress.workers_planned);
  w.Field("wall_seconds", progress.wall_seconds);
  if (progress.trains) {
    w.Field("epoch", progress.epoch).Field("epochs", progress.epochs);
    w.Field("step", progress.step).Field("trained", progress.trained);
    w.Field("samples", progress.samples);
    w.Field("staleness_mean", progress.staleness_mean);
    w.Field("staleness_max", progress.staleness_max);
    if (progress.loss > 0) w.Field("loss", progress.loss);
    if (progress.progressive_auc > 0) {
      w.Field("progressive_auc", progress.progressive_auc);
    }
  }
  if (progress.eval.has_value()) {
    w.Field("eval_auc", progress.eval->auc);
    if (progress.trains) w.Field("eval_epoch", progress.eval->epoch);
  }
  if (!progress.checkpoint.empty()) {
    w.Field("checkpoint", progress.checkpoint);
    w.Field("checkpoint_step", progress.checkpoint_step);
  }
  if (progress.evaluating.has_value()) {
    w.Field("eval_scored", progress.evaluating->scored);
    if (progress.evaluating->auc > 0) {
      w.Field("eval_auc_so_far", progress.evaluating->auc);
    }
  }
  w.EndObject().EndObject();
  return text;
}

std::string EndingJson(const JobEnding& ending) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kCompact);
  w.BeginObject().Key("end").BeginObject().Field("ok", ending.ok);
  w.Field("reason", ending.reason).Key("lines").Values(ending.lines);
  w.Field("first", ending.first).Field("stopped", ending.stopped);
  w.Field("unwritten", ending.unwritten).Field("signal", ending.signal);
  w.Field("resume", ending.resume).Field("lost", ending.lost);
  w.Field("fails_again", ending.fails_again);
  if (!ending.summary.empty()) w.Key("summary").Raw(ending.summary);
  w.EndObject().EndObject();
  return text;
}

absl::StatusOr<std::variant<ProgressFigures, JobEnding>> ParseJobJson(
    absl::string_view line) {
  auto document = JsonDocument::Parse(line);
  absl::Status status = document.status();
  std::variant<ProgressFigures, JobEnding> read;
  if (status.ok()) {
    const JsonNode& root = (*document)->root();
    if (root.Has("end")) {
      JobEnding ending = ReadEnding(root.Field("end"));
      ending.summary = SummaryText(line);
      read = std::move(ending);
    } else {
      read = ReadProgress(root.Field("progress"));
    }
    status = (*document)->status();
  }
  SHOAL_RETURN_IF_ERROR(Annotate(status, "not a line of progress"));
  return read;
}

}  // namespace shoal
