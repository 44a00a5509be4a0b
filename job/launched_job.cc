#include "job/launched_job.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/log_time.h"
#include "base/status_macros.h"
#include "core/registration.h"
#include "job/stop_text.h"
#include "report/progress_text.h"

namespace shoal {
namespace {

constexpr int kLauncherColour = 6;

// Limit on the leader's line about the end of the job, which has the summary:
// some hundred bytes for each process and 20 KB for the curve.
constexpr size_t kMaxEndingBytes = 64 << 20;

// True if the process could not use its flags, files or ports and so never had
// a part in the job. A process that was started again had a part before.
bool NeverTookPart(const ProcessExit& exit, int restarts) {
  return exit.signal == 0 && exit.code == kExitUsage && restarts == 0;
}

// True if a worker has ended by itself because the job has failed, or would
// fail with it.
bool GaveUp(const ProcessExit& exit) {
  return exit.signal == 0 && exit.code != kExitOk &&
         exit.code != kExitStopped &&
         (!exit.may_retry() || exit.code == kExitLost);
}

// True if a process ended first because a user asked it to stop.
bool WasAskedToStop(const std::optional<LaunchOutcome::FirstFailure>& first) {
  return first.has_value() && first->exit.signal == 0 &&
         first->exit.code == kExitStopped;
}

LaunchedJobEnd NotStarted(absl::Status status) {
  LaunchedJobEnd end;
  end.status = std::move(status);
  end.exit_code = kExitFailed;
  return end;
}

}  // namespace

void SayAsLauncher(absl::string_view line, absl::Time now, bool full_time,
                   LiveOutput* output) {
  output->Line("shoal run", kLauncherColour,
               absl::StrCat(LogTime(now, full_time), " warning ", line));
}

LaunchedJob::LaunchedJob(LaunchedJobOptions options, LiveOutput* output)
    : options_(std::move(options)), output_(output) {
  SHOAL_DCHECK(std::count_if(options_.processes.begin(),
                             options_.processes.end(),
                             [](const auto& p) { return p.leads; }) == 1);
}

LaunchedJobEnd LaunchedJob::Run() {
  LauncherOptions options;
  options.max_restarts = options_.max_restarts;
  options.final_code = kExitLost;
  // A leader whose disk hangs gives up by itself just before that.
  options.stop_grace =
      options_.stop_timeout + options_.ending_timeout + absl::Seconds(1);
  auto launcher = ProcessLauncher::Create(options, Events());
  if (!launcher.ok()) return NotStarted(launcher.status());
  launcher_ = *std::move(launcher);
  const absl::Status started = StartAll();
  if (!started.ok()) {
    launcher_ = nullptr;
    return NotStarted(started);
  }
  const LaunchOutcome outcome = launcher_->Run();
  output_->EndLive();
  LaunchedJobEnd end = End(outcome);
  if (ending_.has_value()) end.summary = std::move(ending_->summary);
  end.figures = std::move(figures_);
  end.interrupted = interrupted_;
  return end;
}

LauncherEvents LaunchedJob::Events() {
  LauncherEvents events;
  events.on_line = [this](int process, OutputStream stream,
                          absl::string_view line) {
    OnLine(process, stream, line);
  };
  events.is_failure = [this](int process, const ProcessExit&) {
    return !MayLeave(members_[process]);
  };
  events.on_exit = [this](int process, const ProcessExit& exit, int restarts,
                          bool again) {
    OnExit(process, exit, restarts, again);
  };
  events.on_signal = [this](int signal, StopSignals::Action action) {
    OnSignal(signal, action);
  };
  return events;
}

absl::Status LaunchedJob::StartAll() {
  for (const LaunchedProcess& process : options_.processes) {
    Member member;
    member.role = process.role;
    member.leads = process.leads;
    member.may_leave = process.may_leave;
    member.name = ProcessName(process.role, process.index);
    ProcessSpec spec;
    spec.name = member.name;
    spec.argv = process.command;
    spec.restart = process.may_restart;
    spec.input = options_.input;
    spec.ends_with_others =
        process.role == Role::kWorker && !process.leads && options_.saves;
    if (process.leads) spec.max_line_bytes = kMaxEndingBytes;
    SHOAL_RETURN_IF_ERROR(launcher_->Start(std::move(spec)));
    members_.push_back(std::move(member));
  }
  return absl::OkStatus();
}

void LaunchedJob::OnLine(int process, OutputStream stream,
                         absl::string_view line) {
  Member& member = members_[process];
  if (member.leads && stream == OutputStream::kStdout) {
    auto news = ParseJobJson(line);
    if (news.ok()) {
      if (auto* figures = std::get_if<ProgressFigures>(&*news)) {
        output_->Live(ProgressParts(*figures), clock_.Now());
        figures_ = std::move(*figures);
        if (!planned_stop_ && options_.stop_when &&
            options_.stop_when(figures_)) {
          planned_stop_ = true;
          launcher_->Stop();
        }
      } else {
        ending_ = std::get<JobEnding>(*std::move(news));
      }
      return;
    }
  }
  // The process prints its name too, for users who start it by hand.
  const std::string text =
      absl::StrReplaceAll(line, {{absl::StrCat("[", member.name, "] "), ""}});
  if (stream == OutputStream::kStderr) member.last_words.Add(text);
  std::string prefix = member.name;
  size_t width = 0;
  for (const Member& other : members_) {
    width = std::max(width, other.name.size());
  }
  prefix.resize(width, ' ');
  output_->Line(prefix, process, text);
}

void LaunchedJob::OnExit(int process, const ProcessExit& exit, int restarts,
                         bool again) {
  Member& member = members_[process];
  const std::string what = absl::StrCat(member.name, " ", Describe(exit));
  if (again) {
    Say(absl::StrCat(what, "; starting it again (", restarts + 1, " of ",
                     options_.max_restarts, ")"));
    member.last_words = LastWords();
    return;
  }
  member.running = false;
  member.restarts = restarts;
  member.exit = exit;
  if (!exit.ok() && !Expected(process, exit)) Say(what);
  if (member.leads) {
    // Without the coordinator no process can end by protocol.
    if (exit.ok()) {
      launcher_->StopAfter(options_.ending_timeout);
    } else if (exit.signal != 0) {
      launcher_->Stop(options_.shutdown_timeout);
    } else {
      launcher_->Stop();
    }
  } else if (NeverTookPart(exit, restarts)) {
    // The others would wait for this process in vain.
    launcher_->Stop();
  } else if (member.role == Role::kPs) {
    if (!exit.ok()) launcher_->StopAfter(options_.ending_timeout);
  } else if (GaveUp(exit) && !MayLeave(member)) {
    launcher_->StopAfter(options_.ending_timeout);
  } else if (!AnyWorkerRunning()) {
    launcher_->StopAfter(options_.ending_timeout);
  }
}

void LaunchedJob::OnSignal(int signal, StopSignals::Action action) {
  signalled_ = true;
  interrupted_ = interrupted_ || signal == SIGINT;
  quit_ = quit_ || action == StopSignals::Action::kQuit;
  const std::string what =
      action == StopSignals::Action::kStop     ? options_.stop_text
      : action == StopSignals::Action::kRemind ? RemindText()
                                               : "killing the processes that "
                                                 "still run";
  Say(absl::StrCat("SIG", sigabbrev_np(signal), ": ", what));
}

bool LaunchedJob::SshLost(const ProcessExit& exit) const {
  constexpr int kSshLostIt = 255;
  return options_.remote && exit.signal == 0 && exit.code == kSshLostIt;
}

bool LaunchedJob::Expected(int process, const ProcessExit& exit) const {
  if (quit_ && exit.signal == SIGKILL) return true;
  if (launcher_->asked(process) &&
      (exit.signal == SIGTERM ||
       (exit.signal == 0 && exit.code == kExitStopped))) {
    return true;
  }
  if (exit.signal != 0) return false;
  return exit.code == kExitFailed || exit.code == kExitLost ||
         (exit.code == kExitStopped && (signalled_ || ending_.has_value()));
}

std::string LaunchedJob::Describe(const ProcessExit& exit) const {
  return SshLost(exit) ? "was killed by a signal, or its ssh connection broke"
                       : exit.Describe();
}

bool LaunchedJob::MayLeave(const Member& member) const {
  return member.may_leave && figures_.started;
}

bool LaunchedJob::AnyWorkerRunning() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Member& member) {
                       return member.role == Role::kWorker && member.running;
                     });
}

const LaunchedJob::Member& LaunchedJob::Leader() const {
  return *std::find_if(members_.begin(), members_.end(),
                       [](const Member& member) { return member.leads; });
}

bool LaunchedJob::KilledUnsaved() const {
  const ProcessExit& exit = Leader().exit;
  return options_.saves && !quit_ && (exit.signal == SIGKILL || SshLost(exit));
}

bool LaunchedJob::Lost(const LaunchOutcome& outcome) const {
  if (outcome.signal != 0) return false;
  // A leader that the launcher has stopped does not know why.
  const std::optional<Failure>& first = outcome.first_failure;
  if (WasAskedToStop(first)) return false;
  if (ending_.has_value() && !ending_->stopped) return ending_->lost;
  if (!first.has_value()) return false;
  if (first->exit.signal == 0 && first->exit.code == kExitLost) return true;
  if (!WasKilled(first->exit)) return false;
  const bool workers_killed = std::all_of(
      members_.begin(), members_.end(), [this](const Member& member) {
        return member.role != Role::kWorker || WasKilled(member.exit);
      });
  return !ending_.has_value() || workers_killed ||
         members_[first->process].role == Role::kPs;
}

std::string LaunchedJob::Cause(const std::optional<Failure>& failure) const {
  if (!failure.has_value()) return "";
  const Member& member = members_[failure->process];
  std::string cause = absl::StrCat(member.name, " ", Describe(failure->exit));
  // SIGKILL comes without notice: no line says anything about it.
  if (failure->exit.signal == SIGKILL) return cause;
  const std::string& words = failure->exit.signal == 0
                                 ? member.last_words.any()
                                 : member.last_words.error();
  if (!words.empty()) absl::StrAppend(&cause, "; its last words: ", words);
  return cause;
}

std::string LaunchedJob::Silence() const {
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (!member.leads || member.exit.signal != SIGKILL ||
        !launcher_->asked(static_cast<int>(i))) {
      continue;
    }
    return absl::StrCat(member.name, ", which coordinates the job, did not "
                        "answer any more; first to end: ");
  }
  return "";
}

std::string LaunchedJob::StoppedBy(int signal) const {
  const std::string stopped =
      absl::StrCat("stopped by SIG", sigabbrev_np(signal));
  if (!ending_.has_value()) return stopped;
  // The leader got the signal from the launcher, or SIGHUP on another host: its
  // reason names the signal too and says whether the job was saved.
  const bool passed_on = ending_->signal == signal ||
                         (options_.remote && ending_->signal == SIGHUP);
  absl::string_view saved = ending_->reason;
  if (ending_->stopped && passed_on &&
      absl::ConsumePrefix(&saved,
                          absl::StrCat(ending_->first, " was stopped by SIG",
                                       sigabbrev_np(ending_->signal)))) {
    return absl::StrCat(stopped, saved);
  }
  return absl::StrCat(stopped, ": ", ending_->reason);
}

// A process that exits by itself exits because the job has failed. The first
// failure is added if it says more: a signal killed the process, or the leader
// was stopped and names another process.
std::string LaunchedJob::FailedReason(
    const std::optional<Failure>& first) const {
  if (!first.has_value()) return ending_->reason;
  const Member& member = members_[first->process];
  const bool unsaid =
      first->exit.signal != 0 ||
      (ending_->stopped && !member.leads && ending_->first != member.name);
  return unsaid ? absl::StrCat(ending_->reason,
                               "; first to fail: ", Cause(first))
                : ending_->reason;
}

// The end of a job that was done.
LaunchedJobEnd LaunchedJob::DoneEnd(const LaunchOutcome& outcome) const {
  LaunchedJobEnd end;
  end.lines = ending_->lines;
  end.resume = ending_->resume;
  end.told = true;
  if (!ending_->unwritten.empty()) {
    end.status = absl::AbortedError(ending_->unwritten);
  } else if (outcome.first_failure.has_value() &&
             members_[outcome.first_failure->process].leads) {
    end.status = absl::AbortedError(Cause(outcome.first_failure));
  }
  if (!end.status.ok()) end.exit_code = kExitFailed;
  return end;
}

LaunchedJobEnd LaunchedJob::End(const LaunchOutcome& outcome) const {
  if (ending_.has_value() && ending_->ok) return DoneEnd(outcome);
  const std::optional<Failure>& first = outcome.first_failure;
  LaunchedJobEnd end;
  if (ending_.has_value()) {
    end.lines = ending_->lines;
    end.resume = ending_->resume;
    end.fails_again = ending_->fails_again;
  }
  end.told = ending_.has_value();
  end.lost = Lost(outcome);
  end.exit_code = kExitFailed;
  if (outcome.signal != 0) {
    const std::string what = StoppedBy(outcome.signal);
    const ProcessExit& exit = Leader().exit;
    if (KilledUnsaved()) {
      end.status = absl::AbortedError(
          absl::StrCat(what, "; ", Leader().name, " ", Describe(exit)));
    } else if (exit.signal == 0 &&
               (exit.code == kExitFailed || exit.code == kExitLost)) {
      // The leader could not save the job before it stopped.
      end.status = absl::AbortedError(what);
    } else {
      end.status = absl::CancelledError(what);
      end.exit_code = kExitStopped;
    }
    return end;
  }
  if (planned_stop_ && ending_.has_value() && !first.has_value()) {
    end.status = absl::CancelledError("stopped as planned");
    end.stopped_as_planned = true;
    end.lost = false;
    end.exit_code = kExitStopped;
    return end;
  }
  // The signal was sent to a parameter server, not to the launcher. All
  // processes exit with kExitStopped, or with kExitLost if the server left the
  // job unsaved, at a second SIGINT.
  const int leader = Leader().exit.code;
  if (ending_.has_value() && WasAskedToStop(first) &&
      (leader == kExitStopped || leader == kExitLost)) {
    end.status = absl::CancelledError(ending_->reason);
    end.exit_code = kExitStopped;
    return end;
  }
  if (first.has_value() &&
      NeverTookPart(first->exit, members_[first->process].restarts)) {
    // The leader only knows that it was stopped because of this.
    end.status = absl::AbortedError(Cause(first));
    end.lost = false;
    end.exit_code = kExitUsage;
  } else if (ending_.has_value()) {
    end.status = absl::AbortedError(FailedReason(first));
  } else if (first.has_value()) {
    end.status = absl::AbortedError(absl::StrCat(Silence(), Cause(first)));
  } else {
    end.status = absl::AbortedError(
        "every process ended, and none reported the end of the job");
  }
  return end;
}

}  // namespace shoal
