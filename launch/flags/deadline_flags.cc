#include "launch/flags/deadline_flags.h"

#include "absl/strings/str_cat.h"

namespace shoal {

void DeadlineFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Deadlines");
  const DurationRange some = {absl::Milliseconds(1), absl::Hours(24)};
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"heartbeat", &heartbeat,
       "Time between two heartbeats of a process to the coordinator.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"silent_after", &silent_after,
             "Time of silence after which a process counts as dead.", some});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"worker_lease", &worker_lease,
       "Longest time that a worker keeps a piece without a heartbeat.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"ps_lease", &ps_lease,
             "Longest time that a parameter server serves after its last "
             "answered heartbeat.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"mark_interval", &mark_interval,
             "Time between two messages of a parameter server about the "
             "batches that it has applied. A batch counts as trained up to "
             "this much later.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"pull_timeout", &pull_timeout,
             "Longest time to try a pull, including retries, before the "
             "worker starts it anew.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"push_timeout", &push_timeout,
             "Longest time to try a push, including retries, before the "
             "worker starts it anew; six times as long with --mode=sync, where "
             "a push waits for those of the other workers. The push still "
             "counts once.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"start_timeout", &start_timeout,
             "Longest wait at the start for the other processes.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"worker_grace", &worker_grace,
             "Longest wait of the first worker for the other workers once all "
             "parameter servers are there.",
             DurationRange{absl::ZeroDuration(), absl::Hours(24)}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"speculate_after", &speculate_after,
             "Time without progress after which, at the end, a piece is given "
             "to an idle worker too.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"progress_timeout", &progress_timeout,
             "Longest time with workers alive but nothing read, trained or "
             "scored. After it the job ends with an error that names which "
             "worker holds what.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"stall_after", &stall_after,
             "With --mode=sync or ring: time without a trained batch after "
             "which a warning names, for each worker, what it does and which "
             "worker it waits for. 0: no warning.",
             DurationRange{absl::ZeroDuration(), absl::Hours(24)}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"linger", &linger,
             "Longest wait after the job's end until every process has heard "
             "of it.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"shutdown_timeout", &shutdown_timeout,
             "Longest time for an orderly stop before it is forced.", some});
}

absl::Status DeadlineFlags::Validate() const {
  // One late heartbeat must not look like a death.
  if (silent_after < 2 * heartbeat) {
    return absl::InvalidArgumentError(
        absl::StrCat("--silent_after=", absl::FormatDuration(silent_after),
                     " must be at least twice --heartbeat=",
                     absl::FormatDuration(heartbeat)));
  }
  if (worker_lease < 2 * heartbeat) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--worker_lease=", absl::FormatDuration(worker_lease),
        " must be at least twice --heartbeat=", absl::FormatDuration(heartbeat),
        ", which renews it"));
  }
  // A PS must have stopped serving when the coordinator takes it for dead.
  if (ps_lease > silent_after || ps_lease < 2 * heartbeat) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ps_lease=", absl::FormatDuration(ps_lease),
        " must be at least twice --heartbeat=", absl::FormatDuration(heartbeat),
        " and at most --silent_after=", absl::FormatDuration(silent_after)));
  }
  // A piece that is done must not look like one that makes no progress.
  if (mark_interval > speculate_after) {
    return absl::InvalidArgumentError(
        absl::StrCat("--mark_interval=", absl::FormatDuration(mark_interval),
                     " must be at most --speculate_after=",
                     absl::FormatDuration(speculate_after)));
  }
  return absl::OkStatus();
}

}  // namespace shoal
