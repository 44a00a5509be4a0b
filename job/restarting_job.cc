#include "job/restarting_job.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "job/job_restarts.h"

namespace shoal {
namespace {

using Ending = JobRestarts::Ending;

std::optional<uint64_t> StepOf(const std::optional<KnownCheckpoint>& known) {
  return known.has_value() ? std::optional<uint64_t>(known->step)
                           : std::nullopt;
}

// `remote`: processes of an earlier start may still run, on other hosts.
Ending EndingOf(const LaunchedJobEnd& end, bool remote) {
  if (end.lost) return Ending::kLost;
  return remote && end.exit_code == kExitUsage ? Ending::kNotBegun
                                               : Ending::kOver;
}

// Steps of a start that the next start takes again.
uint64_t StepsAfter(const std::optional<KnownCheckpoint>& newest,
                    const ProgressFigures& figures) {
  if (!figures.trains) return 0;
  const uint64_t saved = newest.has_value() ? newest->step : 0;
  return std::max(figures.step, saved) - saved;
}

std::string RestartText(const LaunchedJobEnd& end, int number, int most,
                        const std::optional<KnownCheckpoint>& newest) {
  std::string text = absl::StrCat(
      "the job failed: ", end.status.message(), "; starting it again, restart ",
      number, " of ", most, " since the newest checkpoint, from ");
  if (newest.has_value()) {
    absl::StrAppend(&text, newest->path, ", step ", newest->step);
  } else {
    absl::StrAppend(&text, "the start, since no checkpoint is known");
  }
  const uint64_t again = StepsAfter(newest, end.figures);
  if (again > 0) {
    absl::StrAppend(&text, "; about ", again, " batches are trained again");
  }
  return text;
}

// Adds to what the end says, with this code.
void Say(absl::StatusCode code, absl::string_view before,
         absl::string_view after, LaunchedJobEnd* end) {
  end->status = absl::Status(
      code, absl::StrCat(before, end->status.message(), after));
}

// The end of a job whose last start ended with `end`, and which a signal
// stopped before the job was started again.
LaunchedJobEnd StoppedBetween(LaunchedJobEnd end, absl::string_view why) {
  Say(absl::StatusCode::kCancelled,
      absl::StrCat(why, " before it was started again; the start before: "), "",
      &end);
  end.lost = false;
  end.exit_code = kExitStopped;
  return end;
}

// Says why a job that lost a process is not started again.
void GiveUp(LaunchedJobEnd* end, const JobRestarts& restarts) {
  Say(absl::StatusCode::kAborted, "",
      absl::StrCat("; given up after ", Counted(restarts.most(), "restart"),
                   " without a newer checkpoint (--max_job_restarts)"),
      end);
}

// The end of a job that cannot be started again.
LaunchedJobEnd CannotGoOn(LaunchedJobEnd end, const absl::Status& status) {
  if (absl::IsCancelled(status)) {
    return StoppedBetween(std::move(end), status.message());
  }
  Say(absl::StatusCode::kAborted, "",
      absl::StrCat("; it cannot be started again: ", status.message()), &end);
  return end;
}

// Keeps the newest checkpoint that a start has reported: the next one may end
// before it reports any.
void KeepCheckpoint(ProgressFigures* figures, ProgressFigures* newest) {
  if (figures->checkpoint.empty()) {
    figures->checkpoint = newest->checkpoint;
    figures->checkpoint_step = newest->checkpoint_step;
  } else {
    *newest = *figures;
  }
}

// Waits for `pause`. Returns the signal that came; 0: none.
int SignalWithin(absl::Duration pause, MainWait* wait) {
  const RealClock clock;
  const absl::Time end = clock.Now() + pause;
  for (;;) {
    const MainWait::Event event = wait->Wait(end - clock.Now());
    if (event.action != StopSignals::Action::kNone) return event.signal;
    if (clock.Now() >= end) return 0;
  }
}

}  // namespace

absl::StatusOr<RestartingJobEnd> RunWithRestarts(RestartingJobOptions options,
                                                 MainWait* wait,
                                                 LiveOutput* output) {
  absl::StatusOr<LaunchedJobOptions> processes = options.plan();
  SHOAL_RETURN_IF_ERROR(processes.status());
  const bool remote = processes->remote;
  RestartingJobEnd run;
  ProgressFigures reported;
  std::optional<KnownCheckpoint> newest;
  if (options.max_restarts > 0) newest = options.newest({});
  JobRestarts restarts(options.max_restarts, StepOf(newest));
  for (;;) {
    const bool full_time = processes->full_time;
    run.last = LaunchedJob(*std::move(processes), output).Run();
    KeepCheckpoint(&run.last.figures, &reported);
    const Ending ending = EndingOf(run.last, remote);
    if (options.max_restarts > 0 && ending != Ending::kOver) {
      newest = options.newest(run.last.figures);
    }
    const auto number = restarts.OnEnd(ending, StepOf(newest));
    if (!number.has_value()) {
      if (ending != Ending::kOver && restarts.total() > 0) {
        GiveUp(&run.last, restarts);
      }
      break;
    }
    SayAsLauncher(RestartText(run.last, *number, restarts.most(), newest),
                  RealClock().Now(), full_time, output);
    run.restarts = restarts.total();
    run.steps_again += StepsAfter(newest, run.last.figures);
    if (const int signal = SignalWithin(options.pause, wait); signal != 0) {
      run.last = StoppedBetween(
          std::move(run.last),
          absl::StrCat("stopped by SIG", sigabbrev_np(signal)));
      run.last.interrupted = signal == SIGINT;
      break;
    }
    processes = options.plan();
    if (!processes.ok()) {
      run.last = CannotGoOn(std::move(run.last), processes.status());
      break;
    }
  }
  // The first start has begun, so the flags of a later one are not wrong.
  if (remote && run.restarts > 0 && run.last.exit_code == kExitUsage) {
    run.last.lost = true;
    run.last.exit_code = kExitFailed;
  }
  return run;
}

}  // namespace shoal
