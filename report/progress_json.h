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

// What an evaluation found, and after how many epochs it was.
struct ProgressEvaluation {
  double auc = 0;
  uint64_t epoch = 0;
};

// What the live line shows.
struct ProgressFigures {
  // False: the job evaluates or predicts alone; it has no step, trained,
  // samples, loss, progressive_auc and staleness.
  bool trains = true;
  bool started = false;
  // The job has ended: samples_per_second is of all of it, and nothing is left.
  bool over = false;
  std::string waiting_for;  // before the first lease
  uint64_t step = 0;        // batches that all shards have
  uint64_t trained = 0;     // samples
  uint64_t samples = 0;     // to be trained; 0: not known yet
  double fraction_done = 0;
  double fraction_before = 0;  // of it, when the job went on from a checkpoint
  double samples_per_second = 0;
  double loss = 0;             // 0: none yet, as of no real examples
  double progressive_auc = 0;  // likewise
  double staleness_mean = 0;
  uint64_t staleness_max = 0;
  int workers_alive = 0;
  double wall_seconds = 0;
  std::optional<ProgressEvaluation> eval;  // the newest; none: none yet
};

ProgressFigures ProgressOf(const JobReport& report);

// "step 1,234 · 12.3 % · 45,678 samples/s · loss 0.4321 · AUC 0.7654 · …".
std::string ProgressText(const ProgressFigures& progress);

// How a job ended, as a launcher of its processes has to know it.
struct JobEnding {
  bool ok = false;
  std::string reason;              // the first failure; empty if ok
  std::vector<std::string> lines;  // ClosingText
  // As JobReport's: whose failure or end the reason is, and whether it was
  // asked to stop.
  std::string first = "";
  bool stopped = false;
  // Why --summary could not be written; empty: it was, or was not to be.
  std::string unwritten = "";
  // The signal that asked the process with the coordinator to stop, as in
  // <signal.h>; 0: none.
  int signal = 0;
};

// The lines of `shoal-ps --progress=json`, each a JSON object (no newline):
//   {"progress": {…}} now and then, {"end": {…}} at last.
// A figure that there is not (yet) is left out.
// Parsing checks everything; INVALID_ARGUMENT for any other line.
std::string ProgressJson(const ProgressFigures& progress);
std::string EndingJson(const JobEnding& ending);
absl::StatusOr<std::variant<ProgressFigures, JobEnding>> ParseJobJson(
    absl::string_view line);

}  // namespace shoal

#endif  // SHOAL_REPORT_PROGRESS_JSON_H_
