#include "report/progress_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/counted.h"
#include "report/number_text.h"

namespace shoal {
namespace {

// The share of the job that this run has done: a checkpoint's part took no
// time.
double DoneByThisRun(const ProgressFigures& progress) {
  return progress.fraction_done - progress.fraction_before;
}

// A training stands still while this evaluation runs.
bool Evaluates(const ProgressFigures& progress) {
  return progress.trains && progress.evaluating.has_value() &&
         progress.evaluating->scored < 1;
}

// "-" if it is not known: before the first batch, and while an evaluation runs
// or is about to run, since only training counts in fraction_done.
std::string TimeLeft(const ProgressFigures& progress) {
  const double done = DoneByThisRun(progress);
  if (done <= 0 || Evaluates(progress)) return "-";
  const double seconds =
      progress.wall_seconds * (1 - progress.fraction_done) / done;
  constexpr double kLeast = 0.5;  // what rounds to 0 is not the job's end
  constexpr double kMost = 1e9;
  return seconds >= kLeast && seconds < kMost ? SpanText(seconds) : "-";
}

// The figure, or "-" if it is 0 or NaN: not known. Loss and AUC of real
// examples are never 0.
std::string FigureOrDash(double figure) {
  return figure > 0 ? absl::StrFormat("%.4f", figure) : "-";
}

LivePart Rate(const ProgressFigures& progress) {
  const double rate = std::max(progress.samples_per_second, 0.0);
  if (rate == 0 && DoneByThisRun(progress) <= 0) {
    return {"- samples/s", "-/s"};
  }
  return {absl::StrCat(WithCommas(std::llround(rate)), " samples/s"),
          absl::StrCat(InFewDigits(rate), "/s")};
}

std::string Workers(const ProgressFigures& progress) {
  if (progress.workers_alive < progress.workers_planned) {
    return absl::StrCat(progress.workers_alive, " of ",
                        Counted(progress.workers_planned, "worker"));
  }
  return Counted(progress.workers_alive, "worker");
}

// The evaluation for which training stands still.
void AddRunningEvaluation(const RunningEvaluation& evaluation,
                          LiveParts* parts) {
  const std::string auc = FigureOrDash(evaluation.auc);
  parts->push_back({absl::StrFormat("eval %.0f %%", 100 * evaluation.scored)});
  parts->push_back({absl::StrCat("eval AUC ", auc, " so far"),
                    absl::StrCat("eval AUC ", auc)});
}

// The newest evaluation, or the one whose figures are worked out.
void AddEvaluation(const ProgressFigures& progress, LiveParts* parts) {
  if (progress.evaluating.has_value()) {
    const std::string auc = FigureOrDash(progress.evaluating->auc);
    if (progress.trains) {
      parts->push_back({absl::StrCat("eval AUC ", auc, " so far"),
                        absl::StrCat("eval ", auc)});
    } else {
      parts->push_back({absl::StrCat("AUC ", auc, " so far")});
    }
  } else if (progress.trains && progress.eval.has_value()) {
    const std::string auc = FigureOrDash(progress.eval->auc);
    parts->push_back({absl::StrCat("eval AUC ", auc, " after epoch ",
                                   progress.eval->epoch),
                      absl::StrCat("eval ", auc)});
  }
}

void AddTraining(const ProgressFigures& progress, LiveParts* parts) {
  parts->push_back({absl::StrCat("loss ", FigureOrDash(progress.loss))});
  parts->push_back(
      {absl::StrCat("AUC ", FigureOrDash(progress.progressive_auc))});
}

void AddServers(const ProgressFigures& progress, LiveParts* parts) {
  parts->push_back({absl::StrCat("step ", WithCommas(progress.step))});
  parts->push_back({progress.step == 0
                        ? std::string("staleness -")
                        : absl::StrFormat("staleness %.1f (max %d)",
                                          progress.staleness_mean,
                                          progress.staleness_max)});
}

}  // namespace

LiveParts ProgressParts(const ProgressFigures& progress) {
  if (!progress.waiting_for.empty()) {
    return {{absl::StrCat("waiting for ", progress.waiting_for)}};
  }
  LiveParts parts;
  if (progress.trains) {
    parts.push_back(
        {absl::StrCat("epoch ", progress.epoch, "/", progress.epochs)});
  }
  const double percent = 100 * std::clamp(progress.fraction_done, 0.0, 1.0);
  parts.push_back({absl::StrFormat("%.1f %%", percent),
                   absl::StrFormat("%.0f %%", percent)});
  const bool few = progress.workers_alive < progress.workers_planned;
  if (!progress.over) {
    parts.push_back({absl::StrCat(TimeLeft(progress), " left")});
    if (few) parts.push_back({Workers(progress)});
  }
  parts.push_back(Rate(progress));
  const bool evaluates = Evaluates(progress);
  if (evaluates) AddRunningEvaluation(*progress.evaluating, &parts);
  if (progress.trains) AddTraining(progress, &parts);
  if (!evaluates) AddEvaluation(progress, &parts);
  if (progress.trains) AddServers(progress, &parts);
  // The number of workers says nothing once the job has ended.
  if (!progress.over && !few) parts.push_back({Workers(progress)});
  return parts;
}

std::string ProgressText(const ProgressFigures& progress) {
  return LiveLine(ProgressParts(progress), 0);
}

}  // namespace shoal
