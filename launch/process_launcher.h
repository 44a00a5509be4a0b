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
#include "launch/child_process.h"
#include "launch/line_splitter.h"

namespace shoal {

struct ProcessSpec {
  std::string name;               // for people: "worker 1"
  std::vector<std::string> argv;  // argv[0] is a path
  // Start it again, with the same arguments, when a signal killed it or it
  // exited with 128 or more.
  bool restart = false;
  // What its stdin begins with, at most 4 KiB. If there is any, its stdin then
  // stays open, and its end is what asks the process to stop, in place of a
  // signal: so a command that ssh runs elsewhere hears of it.
  std::string input = "";
  // It ends once others have: SIGTERM and SIGHUP that come to the launcher are
  // not passed on to it until a deadline has passed.
  bool ends_with_others = false;
};

struct LauncherOptions {
  int max_restarts = 3;  // of each process
  // From the request to stop until what still runs is killed.
  absl::Duration stop_grace = absl::Seconds(5);
};

enum class OutputStream { kStdout, kStderr };

// What the launcher tells; all run inside Run, on its thread. `process` counts
// in the order of Start. They may call Stop and StopAfter.
struct LauncherEvents {
  absl::AnyInvocable<void(int process, OutputStream, absl::string_view line)>
      on_line;
  // A process ended. `restarts` is how often it was started again before, and
  // `again` whether it is being started once more.
  absl::AnyInvocable<void(int process, const ProcessExit&, int restarts,
                          bool again)>
      on_exit;
  // SIGINT, SIGTERM or SIGHUP came; it has been passed on. The second one
  // kills.
  absl::AnyInvocable<void(int signal, bool killing)> on_signal;
};

struct LaunchOutcome {
  // The first process that failed for good before a stop was asked for: what
  // followed is a consequence.
  struct FirstFailure {
    int process = 0;
    ProcessExit exit;
  };
  std::optional<FirstFailure> first_failure;
  int signal = 0;  // SIGINT, SIGTERM or SIGHUP, if one came
};

// Starts processes, passes on what they print, line by line, and sees all of
// them to their end: with poll, on one thread. While it exists, SIGINT,
// SIGTERM, SIGHUP and SIGCHLD of this thread come to it alone; a first one of
// these is passed on to the children's process groups (but see
// ProcessSpec::ends_with_others), a second one kills them.
// No child outlives Run, nor the launcher, nor this process.
//
// Thread-hostile: use from the process's main thread, one at a time.
class ProcessLauncher {
 public:
  static absl::StatusOr<std::unique_ptr<ProcessLauncher>> Create(
      LauncherOptions options, LauncherEvents events);
  // Kills what still runs.
  ~ProcessLauncher();

  // Starts a process now. Errors: as StartChild.
  absl::Status Start(ProcessSpec spec);

  // Asks every process to end with SIGTERM, and kills after stop_grace; nothing
  // is started again. Idempotent.
  void Stop() { StopWith(SIGTERM, /*all=*/true); }

  // Calls Stop if processes still run after `delay`; nothing is started again
  // from now on.
  void StopAfter(absl::Duration delay);

  // Returns when every process has ended. Call once.
  LaunchOutcome Run();

 private:
  struct Process {
    ProcessSpec spec;
    ChildProcess child;  // pid -1: ended for good
    LineSplitter out;
    LineSplitter err;
    int restarts = 0;
    bool asked = false;  // to end
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
  // Asks all, or all but those that end with others.
  void StopWith(int signal, bool all);
  void SignalAll(int signal);
  void CheckDeadlines();

  const LauncherOptions options_;
  LauncherEvents events_;
  const RealClock clock_;
  sigset_t old_mask_;
  int signal_fd_ = -1;
  std::vector<std::unique_ptr<Process>> processes_;
  bool draining_ = false;  // nothing is started again
  bool stopping_ = false;
  absl::Time stop_at_ = absl::InfiniteFuture();
  absl::Time kill_at_ = absl::InfiniteFuture();
  LaunchOutcome outcome_;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_PROCESS_LAUNCHER_H_
