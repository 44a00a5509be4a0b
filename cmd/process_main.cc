#include "cmd/process_main.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/file_system.h"
#include "cmd/parse_command_line.h"
#include "cmd/version.h"
#include "job/job_token.h"
#include "job/memory_forecast.h"
#include "job/options_from_flags.h"
#include "job/output_check.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

// Time for a process whose launcher is gone to end by itself: two seconds more
// than a leader takes that saves the job first, waits for the others, and
// leaves a disk that hangs (LeaveHungDisk).
absl::Duration EndingGrace(const JobFlags& flags) {
  return flags.deadlines.linger + flags.deadlines.shutdown_timeout +
         absl::Seconds(2) +
         (flags.Saves() ? flags.checkpoints.stop_timeout
                        : absl::ZeroDuration());
}

// The job stops when the launcher that started this process as a rank is gone,
// even if it was killed: the process would go on without an output, and nobody
// would know of it.
void WatchLauncher(const JobFlags& flags, MainWait* wait) {
  if (!flags.cluster.launched.has_value()) return;
  // Never closed: it is watched until the process ends.
  // Debian 12 declares pidfd_open() without C linkage.
  const auto launcher =
      static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
  if (launcher >= 0) wait->WatchInput(launcher, EndingGrace(flags));
}

ExitCode CodeOfStart(const absl::Status& status) {
  if (absl::IsCancelled(status)) return kExitStopped;
  return absl::IsDeadlineExceeded(status) ? kExitFailed : kExitUsage;
}

}  // namespace

int ProcessMain(const std::vector<std::string>& args, const std::string& binary,
                Command command, NewJobProcess new_process) {
  if (const auto exit = PrintVersion(args, binary)) return *exit;
  MainWait wait;
  // The launcher may pass a signal on at any time, and other processes of the
  // job may know of this one: it stops in good order even before it has joined.
  wait.Begin();
  JobFlags flags(command);
  FlagSet set = JobFlagSet(&flags);
  if (const auto exit = ParseJobOrExit(&flags, &set, args)) return *exit;
  const absl::StatusOr<std::string> token = JobToken(flags);
  if (!token.ok()) return Complain(set.command(), token.status(), kExitUsage);
  if (flags.cluster.token_file == "-") {
    wait.WatchInput(STDIN_FILENO, EndingGrace(flags));
  } else {
    WatchLauncher(flags, &wait);
  }
  absl::StatusOr<JobPlan> plan = PlanJob(flags);
  if (!plan.ok()) return Complain(set.command(), plan.status(), kExitUsage);
  const absl::Status outputs = CheckOutputs(flags, /*sources=*/{});
  if (!outputs.ok()) return Complain(set.command(), outputs, kExitUsage);
  const absl::Status fits =
      ForecastAndCheck(flags, *plan, *NewPosixFileSystem());
  if (!fits.ok()) return Complain(set.command(), fits, kExitUsage);
  const std::unique_ptr<JobProcess> process =
      new_process(flags, *std::move(plan), *token, &wait);
  const absl::Status started = process->Start();
  if (!started.ok()) {
    return Complain(set.command(), started, CodeOfStart(started));
  }
  return process->WaitForEnd();
}

}  // namespace shoal
