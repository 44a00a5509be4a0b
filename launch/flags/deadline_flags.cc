#include "launch/flags/deadline_flags.h"

#include "absl/strings/str_cat.h"

namespace shoal {

void DeadlineFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Deadlines");
  const DurationRange some = {absl::Milliseconds(1), absl::Hours(24)};
  rows->Add(kAllCommands, Canonical::kNo,
            {"heartbeat", &heartbeat,
             "How often a process tells the coordinator that it lives.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"silent_after", &silent_after,
             "A process silent for so long is taken for dead.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"worker_lease", &worker_lease,
             "How long a worker keeps a piece without a heartbeat.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"ps_lease", &ps_lease,
             "How long a parameter server serves after its last "
             "answered heartbeat.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"pull_timeout", &pull_timeout,
             "How long a pull is tried, repeats included, before the worker "
             "starts it anew.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"push_timeout", &push_timeout,
             "How long a push is tried, repeats included, before the worker "
             "starts it anew; it counts once.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"start_timeout", &start_timeout,
             "How long to wait at the start for the other processes.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"worker_grace", &worker_grace,
             "How long the first worker waits for the others once all "
             "parameter servers are there.",
             DurationRange{absl::ZeroDuration(), absl::Hours(24)}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"speculate_after", &speculate_after,
             "At the end, a piece without progress for so long is given "
             "to an idle worker too.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"progress_timeout", &progress_timeout,
             "Workers alive but nothing read, trained or scored for so "
             "long: the job ends and names who holds what.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"linger", &linger,
             "After the job's end, how long to wait until every process "
             "has heard of it.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"shutdown_timeout", &shutdown_timeout,
             "How long an orderly stop may take before it is forced.", some});
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
  return absl::OkStatus();
}

}  // namespace shoal
