#include "bench/compare/rank_processes.h"

#include <string.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "launch/process_launcher.h"

namespace shoal {

absl::StatusOr<std::string> RunRankProcesses(
    const RankProcessesOptions& options) {
  const RealClock clock;
  const absl::Time deadline = clock.Now() + options.timeout;
  std::string output;
  std::vector<std::string> last_words(options.commands.size());
  std::string failure;
  std::unique_ptr<ProcessLauncher> launcher;
  LauncherEvents events;
  events.on_line = [&](int process, OutputStream stream,
                       absl::string_view line) {
    if (stream == OutputStream::kStdout) {
      if (process == 0) absl::StrAppend(&output, line, "\n");
    } else if (!line.empty()) {
      last_words[process] = std::string(line);
    }
  };
  events.on_exit = [&](int process, const ProcessExit& exit, int, bool) {
    if (exit.ok() || !failure.empty()) return;
    failure = absl::StrCat("rank ", process, " ", exit.Describe());
    if (!last_words[process].empty()) {
      absl::StrAppend(&failure, ": ", last_words[process]);
    }
    launcher->Stop();
  };
  SHOAL_ASSIGN_OR_RETURN(launcher,
                         ProcessLauncher::Create({}, std::move(events)));
  for (size_t r = 0; r < options.commands.size(); ++r) {
    ProcessSpec spec;
    spec.name = absl::StrCat("rank ", r);
    spec.argv = options.commands[r];
    spec.input = options.input;
    SHOAL_RETURN_IF_ERROR(launcher->Start(std::move(spec)));
  }
  launcher->StopAfter(options.timeout);
  const LaunchOutcome outcome = launcher->Run();
  if (outcome.signal != 0) {
    return absl::CancelledError(
        absl::StrCat("stopped by SIG", sigabbrev_np(outcome.signal)));
  }
  if (failure.empty()) return output;
  if (clock.Now() >= deadline) {
    return absl::DeadlineExceededError(absl::StrCat(
        "the ranks were not done within ",
        absl::FormatDuration(options.timeout)));
  }
  return absl::AbortedError(failure);
}

}  // namespace shoal
