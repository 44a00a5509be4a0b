#include "cmd/launched_job.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "cmd/exit_code.h"
#include "core/registration.h"

namespace shoal {
namespace {

constexpr int kLauncherColour = 6;

// It could not use its flags or the place it was in; one that was started again
// had a part in the job in its life before.
bool NeverTookPart(const ProcessExit& exit, int restarts) {
  return exit.signal == 0 && exit.code == kExitUsage && restarts == 0;
}

}  // namespace

LaunchedJob::LaunchedJob(LaunchedJobOptions options, LiveOutput* output)
    : options_(std::move(options)), output_(output) {}

LaunchedJobEnd LaunchedJob::Run() {
  LauncherOptions options;
  options.max_restarts = options_.max_restarts;
  options.stop_grace = options_.shutdown_timeout;
  auto launcher = ProcessLauncher::Create(options, Events());
  if (!launcher.ok()) return {launcher.status(), {}, false, kExitFailed};
  launcher_ = *std::move(launcher);
  const absl::Status started = StartAll();
  if (!started.ok()) {
    launcher_ = nullptr;
    return {started, {}, false, kExitFailed};
  }
  const LaunchOutcome outcome = launcher_->Run();
  output_->EndLive();
  return End(outcome);
}

LauncherEvents LaunchedJob::Events() {
  LauncherEvents events;
  events.on_line = [this](int process, OutputStream stream,
                          absl::string_view line) {
    OnLine(process, stream, line);
  };
  events.on_exit = [this](int process, const ProcessExit& exit, int restarts,
                          bool again) {
    OnExit(process, exit, restarts, again);
  };
  events.on_signal = [this](int signal, bool killing) {
    OnSignal(signal, killing);
  };
  return events;
}

absl::Status LaunchedJob::StartAll() {
  for (const bool is_ps : {true, false}) {
    const auto& commands = is_ps ? options_.ps : options_.workers;
    for (size_t i = 0; i < commands.size(); ++i) {
      Member member;
      member.is_ps = is_ps;
      member.name =
          ProcessName(is_ps ? Role::kPs : Role::kWorker, static_cast<int>(i));
      SHOAL_RETURN_IF_ERROR(
          launcher_->Start({member.name, commands[i], !is_ps, options_.input,
                            !is_ps && options_.saves}));
      members_.push_back(std::move(member));
    }
  }
  return absl::OkStatus();
}

void LaunchedJob::OnLine(int process, OutputStream stream,
                         absl::string_view line) {
  Member& member = members_[process];
  if (process == 0 && stream == OutputStream::kStdout) {
    auto news = ParseJobJson(line);
    if (news.ok()) {
      if (auto* figures = std::get_if<ProgressFigures>(&*news)) {
        output_->Live(ProgressText(*figures), absl::Now());
      } else {
        ending_ = std::get<JobEnding>(*std::move(news));
      }
      return;
    }
  }
  if (stream == OutputStream::kStderr) {
    // An error says more than what a process still says after it.
    const bool error = absl::StrContains(line, " error ");
    if (error || !member.last_is_error) member.last_line = std::string(line);
    member.last_is_error |= error;
  }
  std::string prefix = member.name;
  size_t width = 0;
  for (const Member& other : members_) {
    width = std::max(width, other.name.size());
  }
  prefix.resize(width, ' ');
  // The process names itself too, for those who start it by hand.
  const std::string text =
      absl::StrReplaceAll(line, {{absl::StrCat("[", member.name, "] "), ""}});
  output_->Line(prefix, process, text);
}

void LaunchedJob::OnExit(int process, const ProcessExit& exit, int restarts,
                         bool again) {
  Member& member = members_[process];
  const std::string what = absl::StrCat(member.name, " ", Describe(exit));
  if (again) {
    Say(absl::StrCat(what, "; starting it again (", restarts + 1, " of ",
                     options_.max_restarts, ")"));
    return;
  }
  member.running = false;
  member.restarts = restarts;
  member.exit_code = exit.code;
  if (!exit.ok()) Say(what);
  if (process == 0) {
    // Without its coordinator nobody can end by protocol.
    exit.ok() ? launcher_->StopAfter(options_.ending_timeout)
              : launcher_->Stop();
  } else if (NeverTookPart(exit, restarts)) {
    // The others wait for it in vain.
    launcher_->Stop();
  } else if (member.is_ps) {
    if (!exit.ok()) launcher_->StopAfter(options_.ending_timeout);
  } else if (!exit.ok() && !exit.may_retry() && exit.code != kExitStopped) {
    launcher_->StopAfter(options_.ending_timeout);
  } else if (!AnyWorkerRunning()) {
    launcher_->StopAfter(options_.ending_timeout);
  }
}

void LaunchedJob::OnSignal(int signal, bool killing) {
  Say(absl::StrCat("SIG", sigabbrev_np(signal),
                   killing ? ": killing what still runs"
                           : ": stopping; once more kills at once"));
}

void LaunchedJob::Say(absl::string_view line) {
  output_->Line("shoal run", kLauncherColour, line);
}

std::string LaunchedJob::Describe(const ProcessExit& exit) const {
  constexpr int kSshLostIt = 255;
  if (options_.remote && exit.signal == 0 && exit.code == kSshLostIt) {
    return "was killed by a signal, or its ssh connection broke";
  }
  return exit.Describe();
}

bool LaunchedJob::AnyWorkerRunning() const {
  return std::any_of(
      members_.begin(), members_.end(),
      [](const Member& member) { return !member.is_ps && member.running; });
}

// PS 0, to which the signal was passed on, says mostly the same.
std::string LaunchedJob::StoppedBy(int signal) const {
  const std::string stopped =
      absl::StrCat("stopped by SIG", sigabbrev_np(signal));
  if (!ending_.has_value()) return stopped;
  const size_t at = ending_->reason.find(stopped);
  return at == std::string::npos ? absl::StrCat(stopped, ": ", ending_->reason)
                                 : ending_->reason.substr(at);
}

LaunchedJobEnd LaunchedJob::End(const LaunchOutcome& outcome) const {
  LaunchedJobEnd end;
  if (ending_.has_value()) {
    end.lines = ending_->lines;
    end.told = true;
    if (ending_->ok) {
      // The job was done, but what its first process had to write was not.
      if (outcome.first_failure.has_value() &&
          outcome.first_failure->process == 0) {
        end.status = absl::AbortedError(members_[0].last_line);
        end.exit_code = kExitFailed;
      }
      return end;
    }
  }
  end.exit_code = kExitFailed;
  std::string process_cause;
  if (outcome.first_failure.has_value()) {
    const Member& member = members_[outcome.first_failure->process];
    process_cause =
        absl::StrCat(member.name, " ", Describe(outcome.first_failure->exit));
    // Whom SIGKILL hits does not see it coming.
    if (!member.last_line.empty() &&
        outcome.first_failure->exit.signal != SIGKILL) {
      absl::StrAppend(&process_cause, "; its last words: ", member.last_line);
    }
  }
  if (outcome.signal != 0) {
    const std::string what = StoppedBy(outcome.signal);
    // PS 0 fails where it was to save the job first and could not.
    end.status = members_[0].exit_code == kExitFailed
                     ? absl::AbortedError(what)
                     : absl::CancelledError(what);
    if (absl::IsCancelled(end.status)) end.exit_code = kExitStopped;
    return end;
  }
  // A parameter server got the signal itself, and all exit so.
  if (ending_.has_value() && outcome.first_failure.has_value() &&
      outcome.first_failure->exit.code == kExitStopped &&
      outcome.first_failure->exit.signal == 0 &&
      members_[0].exit_code == kExitStopped) {
    end.status = absl::CancelledError(ending_->reason);
    end.exit_code = kExitStopped;
    return end;
  }
  if (outcome.first_failure.has_value() &&
      NeverTookPart(outcome.first_failure->exit,
                    members_[outcome.first_failure->process].restarts)) {
    end.exit_code = kExitUsage;
  }
  if (end.exit_code == kExitUsage) {
    // What PS 0 knows is that it was stopped for this.
    end.status = absl::AbortedError(process_cause);
  } else if (ending_.has_value()) {
    // Who exits by itself exits because the job has failed, unless it never had
    // a part in it, and PS 0 was stopped for that.
    const bool killed =
        outcome.first_failure.has_value() &&
        (outcome.first_failure->exit.signal != 0 ||
         (outcome.first_failure->process != 0 &&
          absl::StrContains(ending_->reason, "was stopped by SIG")));
    end.status = absl::AbortedError(
        absl::StrCat(ending_->reason, killed ? "; first to fail: " : "",
                     killed ? process_cause : ""));
  } else if (!process_cause.empty()) {
    end.status = absl::AbortedError(process_cause);
  } else {
    end.status = absl::AbortedError(
        "every process ended without a word of the job's end");
  }
  return end;
}

}  // namespace shoal
