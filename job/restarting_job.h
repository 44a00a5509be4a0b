#ifndef SHOAL_JOB_RESTARTING_JOB_H_
#define SHOAL_JOB_RESTARTING_JOB_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "job/launched_job.h"
#include "job/main_wait.h"
#include "report/live_output.h"
#include "report/progress_json.h"

namespace shoal {

// A checkpoint that the launcher knows.
struct KnownCheckpoint {
  std::string path;
  uint64_t step = 0;
};

struct RestartingJobOptions {
  int max_restarts = 0;  // JobRestarts::most
  // Time before each restart, for processes that may still run: those of other
  // hosts, which end by themselves.
  absl::Duration pause = absl::ZeroDuration();
  // Plans the processes of the next start. Called before every start. CANCELLED
  // after a signal.
  absl::AnyInvocable<absl::StatusOr<LaunchedJobOptions>()> plan;
  // The newest checkpoint now; nullopt: there is none, or it is not known.
  // `figures` are the newest of the start that has ended. Called only if a
  // restart may follow, since it may read a disk.
  absl::AnyInvocable<std::optional<KnownCheckpoint>(const ProgressFigures&)>
      newest;
};

// The end of a job that may have been started several times.
struct RestartingJobEnd {
  LaunchedJobEnd last;  // of the last start
  int restarts = 0;     // starts after the first one
  // Steps that were lost and had to be taken again, about: those of each lost
  // start after the checkpoint that the next start began from.
  uint64_t steps_again = 0;
};

// Runs a job, and starts it again from its newest checkpoint as often as
// JobRestarts says, until it is over. Each restart is said in one line: which
// one it is, why, and from which checkpoint. A signal between two starts ends
// the job with CANCELLED. `wait` has begun. Errors: those of the first `plan`.
// Thread-hostile, as LaunchedJob.
absl::StatusOr<RestartingJobEnd> RunWithRestarts(RestartingJobOptions options,
                                                 MainWait* wait,
                                                 LiveOutput* output);

}  // namespace shoal

#endif  // SHOAL_JOB_RESTARTING_JOB_H_
