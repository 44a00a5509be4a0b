#ifndef SHOAL_LAUNCH_PROCESS_LAUNCHER_H_
#define SHOAL_LAUNCH_PROCESS_LAUNCHER_H_

#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_signals.h"
#include "launch/child_process.h"
#include "launch/line_splitter.h"

namespace shoal {

struct ProcessSpec {
  std::string name;               // name for people: "worker 1"
  std::vector<std::string> argv;  // argv[0] is a path
  // Start it again, with the same arguments, when a signal killed it or it
  // exited with 128 or more, but not with LauncherOptions::final_code.
  bool restart = false;
  // The first bytes of the process's stdin, at most 4 KiB. If there are any,
  // stdin stays open, and the end of stdin asks the process to stop, in place
  // of a signal. A command that ssh runs on another host learns of a stop in
  // this way.
  std::string input = "";
  // True if the process ends by itself once other processes have ended. The
  // launcher passes no signal on to it until a deadline has passed.
  bool ends_with_others = false;
  // Limit on the bytes of a line of stdout (launch/line_splitter.h).
  size_t max_line_bytes = 64 << 10;
};

struct LauncherOptions {
  int max_restarts = 3;  // restarts of each process
  // The exit code of 128 or more after which a process is not started again;
  // 0: there is none.
  int final_code = 0;
  // Time from the request to stop until the processes that still run are
  // killed.
  absl::Duration stop_grace = absl::Seconds(5);
};

enum class OutputStream { kStdout, kStderr };

// The launcher's callbacks. All of them run inside Run, on its thread, and may
// call Stop and StopAfter. `process` is the number of a process in the order of
// Start, from 0.
struct LauncherEvents {
  absl::AnyInvocable<void(int process, OutputStream, absl::string_view line)>
      on_line;
  // True if the end of a process that failed for good is a failure of the
  // whole, as LaunchOutcome::first_failure. Null: each such end is one.
  absl::AnyInvocable<bool(int process, const ProcessExit&)> is_failure;
  // A process has ended. `restarts` is how often it was started again before;
  // `again` is true if it is started once more.
  absl::AnyInvocable<void(int process, const ProcessExit&, int restarts,
                          bool again)>
      on_exit;
  // SIGINT, SIGTERM or SIGHUP came. kStop: the launcher has passed the signal
  // on. kRemind: the processes are stopping already. kQuit: the launcher has
  // killed the processes. Not called for signals that change nothing.
  absl::AnyInvocable<void(int signal, StopSignals::Action)> on_signal;
};

struct LaunchOutcome {
  // The first process whose end is a failure (LauncherEvents::is_failure) and
  // came before a stop was asked for. Later failures are consequences.
  struct FirstFailure {
    int process = 0;
    ProcessExit exit;
  };
  std::optional<FirstFailure> first_failure;
  int signal = 0;  // the first SIGINT, SIGTERM or SIGHUP, if one came
};

// Starts processes, passes on what they print, line by line, and waits until
// all of them have ended; it uses poll on one thread. While the launcher
// exists, SIGINT, SIGTERM, SIGHUP and SIGCHLD of this thread come to the
// launcher alone; a SIGHUP that this process ignores comes to nothing. The
// launcher passes the first of SIGINT, SIGTERM and SIGHUP on to the children
// (but see ProcessSpec::ends_with_others), and the second SIGINT kills their
// process groups (base/stop_signals.h). No child outlives Run, the launcher or
// this process.
//
// Thread-hostile: use from the process's main thread, one at a time.
class ProcessLauncher {
 public:
  static absl::StatusOr<std::unique_ptr<ProcessLauncher>> Create(
      LauncherOptions options, LauncherEvents events);
  // Kills the processes that still run.
  ~ProcessLauncher();

  // Starts a process now. Errors: as StartChild.
  absl::Status Start(ProcessSpec spec);

  // Asks every process by SIGTERM to end, and kills those that still run after
  // `grace` (stop_grace), or after the grace of an earlier call if that is over
  // first. No process is started again.
  void Stop() { Stop(options_.stop_grace); }
  void Stop(absl::Duration grace) { StopWith(SIGTERM, /*all=*/true, grace); }

  // True if the launcher has asked the process to end.
  bool asked(int process) const { return processes_[process]->asked; }

  // Calls Stop if processes still run after `delay`. No process is started
  // again from now on.
  void StopAfter(absl::Duration delay);

  // Returns when every process has ended. Call once.
  LaunchOutcome Run();

 private:
  struct Process {
    explicit Process(ProcessSpec of)
        : spec(std::move(of)), out(spec.max_line_bytes) {}

    ProcessSpec spec;
    ChildProcess child;  // pid -1: ended for good
    LineSplitter out;
    LineSplitter err;
    int restarts = 0;
    bool asked = false;  // the launcher asked it to end
  };

  ProcessLauncher(LauncherOptions options, LauncherEvents events)
      : options_(options), events_(std::move(events)) {}

  bool AnyRunning() const;
  void Poll();
  void ReadSignals();
  void ReadOutput(int index, OutputStream stream);
  void CloseOutput(int index);
  static void CloseInput(Process* process);
  void Reap();
  void OnExit(int index, const ProcessExit& exit);
  // Asks all processes to end, or all without ProcessSpec::ends_with_others.
  void StopWith(int signal, bool all, absl::Duration grace);
  void SignalAll(int signal);
  void CheckDeadlines();

  const LauncherOptions options_;
  LauncherEvents events_;
  const RealClock clock_;
  StopSignals signals_;
  sigset_t old_mask_;
  int signal_fd_ = -1;
  std::vector<std::unique_ptr<Process>> processes_;
  bool draining_ = false;  // no process is started again
  bool stopping_ = false;
  absl::Time stop_at_ = absl::InfiniteFuture();
  absl::Time kill_at_ = absl::InfiniteFuture();
  LaunchOutcome outcome_;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_PROCESS_LAUNCHER_H_
