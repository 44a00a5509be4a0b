#include "report/progress_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "report/number_text.h"

namespace shoal {
namespace {

using Json = nlohmann::ordered_json;

std::string TimeLeft(const ProgressFigures& progress) {
  // What a checkpoint brought took no time.
  const double since = progress.fraction_done - progress.fraction_before;
  if (since <= 0) return "?";
  const double seconds =
      progress.wall_seconds * (1 - progress.fraction_done) / since;
  if (!std::isfinite(seconds) || seconds > 1e7) return "?";
  return absl::FormatDuration(
      absl::Seconds(std::llround(std::max(seconds, 0.0))));
}

// "-" while there is nothing to tell: neither is ever 0 of real examples.
std::string FigureOrDash(double figure) {
  return figure > 0 ? absl::StrFormat("%.4f", figure) : "-";
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  return progress;
}

std::string ProgressText(const ProgressFigures& progress) {
  if (!progress.waiting_for.empty()) {
    return absl::StrCat("waiting for ", progress.waiting_for);
  }
  const double percent = 100 * std::clamp(progress.fraction_done, 0.0, 1.0);
  const std::string rate =
      WithCommas(std::llround(std::max(progress.samples_per_second, 0.0)));
  std::string text;
  if (progress.trains) {
    absl::StrAppend(&text, "step ", WithCommas(progress.step), ", ");
  }
  absl::StrAppendFormat(&text, "%.1f %%, %s samples/s", percent, rate);
  if (progress.trains) {
    absl::StrAppendFormat(&text, ", loss %s, AUC %s, staleness %.1f (max %d)",
                          FigureOrDash(progress.loss),
                          FigureOrDash(progress.progressive_auc),
                          progress.staleness_mean, progress.staleness_max);
  }
  // Who is still there says nothing once the job has ended.
  if (!progress.over) {
    absl::StrAppend(&text, ", workers ", progress.workers_alive);
  }
  if (progress.trains && progress.eval.has_value()) {
    absl::StrAppendFormat(&text, ", eval AUC %.4f after epoch %d",
                          progress.eval->auc, progress.eval->epoch);
  }
  if (!progress.over) absl::StrAppend(&text, ", ", TimeLeft(progress), " left");
  return text;
}

std::string ProgressJson(const ProgressFigures& progress) {
  Json json = {{"started", progress.started},
               {"over", progress.over},
               {"waiting_for", progress.waiting_for},
               {"trains", progress.trains},
               {"fraction_done", progress.fraction_done},
               {"fraction_before", progress.fraction_before},
               {"samples_per_second", progress.samples_per_second},
               {"workers_alive", progress.workers_alive},
               {"wall_seconds", progress.wall_seconds}};
  if (progress.trains) {
    json["step"] = progress.step;
    json["trained"] = progress.trained;
    json["samples"] = progress.samples;
    json["staleness_mean"] = progress.staleness_mean;
    json["staleness_max"] = progress.staleness_max;
    if (progress.loss > 0) json["loss"] = progress.loss;
    if (progress.progressive_auc > 0) {
      json["progressive_auc"] = progress.progressive_auc;
    }
  }
  if (progress.eval.has_value()) {
    json["eval_auc"] = progress.eval->auc;
    if (progress.trains) json["eval_epoch"] = progress.eval->epoch;
  }
  return Dump({{"progress", std::move(json)}});
}

std::string EndingJson(const JobEnding& ending) {
  return Dump({{"end",
                {{"ok", ending.ok},
                 {"reason", ending.reason},
                 {"lines", ending.lines},
                 {"first", ending.first},
                 {"stopped", ending.stopped},
                 {"unwritten", ending.unwritten}}}});
}

absl::StatusOr<std::variant<ProgressFigures, JobEnding>> ParseJobJson(
    absl::string_view line) {
  // The library reports by exceptions; they end here.
  try {
    const Json json = Json::parse(line.begin(), line.end());
    if (json.contains("end")) {
      const Json& end = json.at("end");
      JobEnding ending;
      ending.ok = end.at("ok").get<bool>();
      ending.reason = end.at("reason").get<std::string>();
      ending.lines = end.at("lines").get<std::vector<std::string>>();
      ending.first = end.at("first").get<std::string>();
      ending.stopped = end.at("stopped").get<bool>();
      ending.unwritten = end.at("unwritten").get<std::string>();
      return ending;
    }
    const Json& from = json.at("progress");
    ProgressFigures progress;
    progress.started = from.at("started").get<bool>();
    progress.over = from.at("over").get<bool>();
    progress.waiting_for = from.at("waiting_for").get<std::string>();
    progress.trains = from.at("trains").get<bool>();
    // A number that is not finite is written as null.
    auto real = [&from](const char* key) {
      return from.at(key).is_null() ? 0 : from.at(key).get<double>();
    };
    progress.fraction_done = real("fraction_done");
    progress.fraction_before = real("fraction_before");
    progress.samples_per_second = real("samples_per_second");
    if (progress.trains) {
      progress.step = from.at("step").get<uint64_t>();
      progress.trained = from.at("trained").get<uint64_t>();
      progress.samples = from.at("samples").get<uint64_t>();
      progress.staleness_mean = real("staleness_mean");
      progress.staleness_max = from.at("staleness_max").get<uint64_t>();
      if (from.contains("loss")) progress.loss = real("loss");
      if (from.contains("progressive_auc")) {
        progress.progressive_auc = real("progressive_auc");
      }
    }
    progress.workers_alive = from.at("workers_alive").get<int>();
    progress.wall_seconds = real("wall_seconds");
    if (from.contains("eval_auc")) {
      progress.eval.emplace();
      progress.eval->auc = real("eval_auc");
      if (progress.trains) {
        progress.eval->epoch = from.at("eval_epoch").get<uint64_t>();
      }
    }
    return progress;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a line of progress: ", error.what()));
  }
}

}  // namespace shoal
