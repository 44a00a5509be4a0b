#ifndef SHOAL_REPORT_PROGRESS_JSON_H_
#define SHOAL_REPORT_PROGRESS_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cluster/job_report.h"

namespace shoal {

// The result of an evaluation.
struct ProgressEvaluation {
  double auc = 0;      // 0 or NaN: the examples have one label only
  uint64_t epoch = 0;  // epochs trained before it
};

// The figures of the live line.
struct ProgressFigures {
  // False: the job only evaluates or predicts. It has no step, trained,
  // samples, loss, progressive_auc and staleness.
  bool trains = true;
  bool started = false;
  // True if the job has ended: samples_per_second is then the mean of the whole
  // job.
  bool over = false;
  uint64_t epoch = 1;  // the epoch that is trained, from 1
  uint64_t epochs = 1;
  std::string waiting_for;  // processes that are missing before the first lease
  uint64_t step = 0;        // batches that all shards have
  uint64_t trained = 0;     // samples
  uint64_t samples = 0;     // samples to train in all; 0: not known yet
  double fraction_done = 0;
  double fraction_before = 0;  // part of it from a resumed checkpoint
  double samples_per_second = 0;
  double loss = 0;             // 0: not known yet; real examples never have 0
  double progressive_auc = 0;  // 0: not known yet, likewise
  double staleness_mean = 0;
  uint64_t staleness_max = 0;
  int workers_alive = 0;
  int workers_planned = 0;
  double wall_seconds = 0;
  std::optional<ProgressEvaluation> eval;  // the newest; nullopt: none yet
  std::optional<RunningEvaluation> evaluating;
  // The newest checkpoint: saved by this job, or the one that it began from.
  std::string checkpoint;  // its path; empty: none yet
  uint64_t checkpoint_step = 0;
};

ProgressFigures ProgressOf(const JobReport& report);

// The end of a job, for the launcher of its processes.
struct JobEnding {
  bool ok = false;
  std::string reason;              // the first failure; empty if ok
  std::vector<std::string> lines;  // ClosingText
  // As in JobReport: the process that the reason is about, and whether the job
  // ended because that process was asked to stop.
  std::string first = "";
  bool stopped = false;
  // Why --summary could not be written; empty: it was written, or there was
  // none to write.
  std::string unwritten = "";
  // The signal that asked the process with the coordinator to stop, as in
  // <signal.h>; 0: none.
  int signal = 0;
  std::string resume = "";  // ResumeText: the job's last words
  bool lost = false;        // LostProcess (core/job_loss.h)
  // AfterEnd: the same command would meet this end again.
  bool fails_again = false;
  // SummaryJson in the layout kCompact; empty: the job has no summary.
  std::string summary = "";
};

// The lines of `shoal-ps --progress=json`, each a JSON object (no newline):
//   {"progress": {…}} several times a second, {"end": {…}} once, as the last.
// A figure that is not known (yet) is left out. ParseJobJson checks everything:
// INVALID_ARGUMENT for any other line.
std::string ProgressJson(const ProgressFigures& progress);
std::string EndingJson(const JobEnding& ending);
absl::StatusOr<std::variant<ProgressFigures, JobEnding>> ParseJobJson(
    absl::string_view line);

}  // namespace shoal

#endif  // SHOAL_REPORT_PROGRESS_JSON_H_
