#ifndef SHOAL_JOB_LAUNCHED_JOB_H_
#define SHOAL_JOB_LAUNCHED_JOB_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/stop_signals.h"
#include "core/registration.h"
#include "job/exit_code.h"
#include "job/last_words.h"
#include "launch/process_launcher.h"
#include "report/live_output.h"
#include "report/progress_json.h"

namespace shoal {

struct LaunchedProcess {
  Role role = Role::kWorker;
  int index = 0;
  std::vector<std::string> command;  // command[0] is a path
  // True for the process that holds the coordinator and reports the job on
  // stdout (--progress=json).
  bool leads = false;
  // True if the process is started again when a signal has killed it.
  bool may_restart = false;
  // True if the job, once it has begun, goes on without the process, however
  // the process ends.
  bool may_leave = false;
};

struct LaunchedJobOptions {
  // REQUIRES: exactly one process leads.
  std::vector<LaunchedProcess> processes;
  // The first bytes of each process's stdin (ProcessSpec::input); may be empty.
  std::string input = "";
  // True if the command lines are those of ssh. ssh exits with 255 if a signal
  // killed the remote process or the connection broke.
  bool remote = false;
  int max_restarts = 3;  // for each process that may be started again
  absl::Duration shutdown_timeout = absl::Seconds(5);
  // True if the job saves a checkpoint before it stops, for stop_timeout at
  // most. Saving needs the workers, so they end with the job and get no signal.
  bool saves = false;
  absl::Duration stop_timeout = absl::ZeroDuration();
  // True if the launcher's own lines have date and zone (base/log_time.h).
  bool full_time = true;
  // What the launcher says after the name of the signal (StopText).
  std::string stop_text = "";
  // Time that a job needs to end by its own protocol once it is over, saved or
  // not, or one of its processes has failed. A job that was asked to stop is
  // killed a second after stop_timeout and this time.
  absl::Duration ending_timeout = absl::Seconds(8);
  // Called with each report of the leader, in Run. Once the function returns
  // true, the job is stopped in good order, and stopped_as_planned of its end
  // is true. Null: the job runs to its own end.
  std::function<bool(const ProgressFigures&)> stop_when;
};

// The end of a launched job.
struct LaunchedJobEnd {
  // OK; CANCELLED after a signal; otherwise the first failure: the one that the
  // leader knew of, and the one of the process that failed first.
  absl::Status status;
  // True if the leader reported an end that the same job would meet again
  // (AfterEnd).
  bool fails_again = false;
  // The closing lines of the leader. Empty if the leader died before it printed
  // them, or the job had not begun.
  std::vector<std::string> lines;
  // ResumeText: the last words of the job, if the leader reported its end.
  std::string resume;
  // True if the job ended because of stop_when. The status is then CANCELLED.
  bool stopped_as_planned = false;
  // True if the leader reported the end of the job, which it does once it has
  // written --summary.
  bool told = false;
  // JobEnding::summary, if it did.
  std::string summary;
  // True if the job failed because it lost a process: a PS, the leader, or all
  // workers. The same job may go on from its newest checkpoint. Never after a
  // signal to the launcher.
  bool lost = false;
  // The newest figures that the leader reported: up to a second old if the
  // leader was killed.
  ProgressFigures figures;
  // True if the user sent a SIGINT to the launcher.
  bool interrupted = false;
  // The launcher's exit code; kExitFailed if a process was lost (LostExit says
  // more). kExitUsage: a process could not use its flags, and that ended the
  // job.
  ExitCode exit_code = kExitOk;
};

// Prints a warning of the launcher among the logs of the processes. full_time:
// LaunchedJobOptions.
void SayAsLauncher(absl::string_view line, absl::Time now, bool full_time,
                   LiveOutput* output);

// Runs a whole job of processes on this host to its end. Prints the logs of the
// processes, with prefixes, and the live line, and decides what the end of a
// process means for the job. It decides by the exit code of the process and by
// the leader's report of the job's end (report/progress_json.h). All other
// output of the processes is only shown.
//
//   a signal killed a process   the process is started again, max_restarts
//   with may_restart            times; then the job goes on if other workers
//                               are left
//   a worker exits with 1..127, the job ends; not if the worker may_leave and
//   but not kExitStopped, or    the job has begun: then the leader decides, and
//   with kExitLost              the worker's end is no cause of a later failure
//   the leader has ended        the job is over: the others end by themselves,
//                               or are stopped after ending_timeout; at once if
//                               the leader failed, and killed soon if a signal
//                               killed the leader, since nothing can be saved
//   a PS failed                 the job ends: its shard is lost
//   a process exits with        the job ends at once: the others would wait for
//   kExitUsage                  it in vain. Not if the process was restarted:
//                               then it had a part in the job before.
//
// Thread-hostile, as ProcessLauncher.
class LaunchedJob {
 public:
  LaunchedJob(LaunchedJobOptions options, LiveOutput* output);

  // Starts all processes and returns when all have ended. Call once.
  LaunchedJobEnd Run();

 private:
  struct Member {
    std::string name;  // "ps 0"
    Role role = Role::kWorker;
    bool leads = false;
    bool may_leave = false;
    bool running = true;
    int restarts = 0;       // before it ended
    ProcessExit exit;       // once it has ended
    LastWords last_words;   // of its newest life: often say why it failed
  };
  using Failure = LaunchOutcome::FirstFailure;

  LauncherEvents Events();
  absl::Status StartAll();
  void OnLine(int process, OutputStream stream, absl::string_view line);
  void OnExit(int process, const ProcessExit& exit, int restarts, bool again);
  void OnSignal(int signal, StopSignals::Action action);
  void Say(absl::string_view line) {
    SayAsLauncher(line, clock_.Now(), options_.full_time, output_);
  }
  // True if the end of the job says why a process exits like this, or the
  // launcher has stopped the process.
  bool Expected(int process, const ProcessExit& exit) const;
  // The worker may end in any way: the job goes on without it.
  bool MayLeave(const Member& member) const;
  bool AnyWorkerRunning() const;
  const Member& Leader() const;
  std::string Describe(const ProcessExit& exit) const;
  // True if ssh lost the remote process or the connection to it.
  bool SshLost(const ProcessExit& exit) const;
  bool WasKilled(const ProcessExit& exit) const {
    return exit.signal != 0 || SshLost(exit);
  }
  // LaunchedJobEnd::lost.
  bool Lost(const LaunchOutcome& outcome) const;
  // True if the leader was to save the job at a signal and was killed instead,
  // though no user asked for that.
  bool KilledUnsaved() const;
  // Text that names the process that failed, how it ended and its last words;
  // "" without a failure.
  std::string Cause(const std::optional<Failure>& failure) const;
  // The beginning of a cause, if the leader was asked to end and had to be
  // killed: it was frozen, and the others ended because of it. "" otherwise.
  std::string Silence() const;
  std::string StoppedBy(int signal) const;
  std::string FailedReason(const std::optional<Failure>& first) const;
  LaunchedJobEnd End(const LaunchOutcome& outcome) const;
  LaunchedJobEnd DoneEnd(const LaunchOutcome& outcome) const;

  const LaunchedJobOptions options_;
  LiveOutput* const output_;
  const RealClock clock_;
  std::unique_ptr<ProcessLauncher> launcher_;
  std::vector<Member> members_;  // as options_.processes
  ProgressFigures figures_;
  std::optional<JobEnding> ending_;
  bool signalled_ = false;    // a signal came
  bool interrupted_ = false;  // a SIGINT came
  bool quit_ = false;  // the user's second SIGINT has killed the processes
  bool planned_stop_ = false;  // stop_when has asked for the end
};

}  // namespace shoal

#endif  // SHOAL_JOB_LAUNCHED_JOB_H_
