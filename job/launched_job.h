#ifndef SHOAL_JOB_LAUNCHED_JOB_H_
#define SHOAL_JOB_LAUNCHED_JOB_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "core/registration.h"
#include "job/exit_code.h"
#include "launch/process_launcher.h"
#include "report/live_output.h"
#include "report/progress_json.h"

namespace shoal {

struct LaunchedProcess {
  Role role = Role::kWorker;
  int index = 0;
  std::vector<std::string> command;  // command[0] is a path
  // It holds the coordinator and tells of the job on stdout (--progress=json).
  bool leads = false;
  // When a signal has killed it, another life of it takes its place.
  bool may_restart = false;
};

struct LaunchedJobOptions {
  // REQUIRES: exactly one of them leads.
  std::vector<LaunchedProcess> processes;
  // What each process's stdin begins with (ProcessSpec::input); may be empty.
  std::string input = "";
  // The command lines are ssh's: 255 is its word for a process that a signal
  // killed, and for a connection that broke.
  bool remote = false;
  int max_restarts = 3;  // of each process that may be started again
  absl::Duration shutdown_timeout = absl::Seconds(5);
  // SIGTERM and SIGHUP make the job save first, for which its workers are
  // needed: they end with it.
  bool saves = false;
  // How long a job needs to end by its own protocol once it is over or one of
  // its processes has failed.
  absl::Duration ending_timeout = absl::Seconds(8);
};

// How it ended.
struct LaunchedJobEnd {
  // OK; CANCELLED after a signal; otherwise the first failure as the cause: of
  // the job as its leader knew it, and of the process that was first to fail.
  absl::Status status;
  // What the leader said at the end: the closing lines. Empty if it did not
  // live to, or nothing had begun.
  std::vector<std::string> lines;
  // The leader told of the job's end, which it does once it has written
  // --summary.
  bool told = false;
  // What the launcher exits with: kExitUsage where a process could not be
  // started with its flags, and that ended the job.
  ExitCode exit_code = kExitOk;
};

// A whole job of processes on this host, seen through to its end: prints their
// logs with prefixes and the live line, and decides what the end of a process
// means for the job: by its exit code, and by what the leader says of the job's
// end (report/progress_json.h). What else they print is shown and means
// nothing.
//
//   one was killed that may    it is started again, max_restarts times; then
//   be started again           the others go on without a worker, if there are
//                              any
//   a worker gave up (< 128)   the job ends
//   the leader is through      the job is over: the others end alone, or are
//                              stopped when ending_timeout has passed
//   a PS failed                the job ends: its shard is lost
//   one exits with kExitUsage  the job ends at once: the others wait for it in
//                              vain (unless a life before had a part in it)
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
    bool running = true;
    int restarts = 0;       // before its end
    int exit_code = 0;      // once it runs no more
    std::string last_line;  // on stderr: often says why it failed
  };
  using Failure = LaunchOutcome::FirstFailure;

  LauncherEvents Events();
  absl::Status StartAll();
  void OnLine(int process, OutputStream stream, absl::string_view line);
  void OnExit(int process, const ProcessExit& exit, int restarts, bool again);
  void OnSignal(int signal, bool killing);
  void Say(absl::string_view line);
  bool AnyWorkerRunning() const;
  const Member& Leader() const;
  std::string Describe(const ProcessExit& exit) const;
  // That a process failed, and why by its own words; without one "".
  std::string Cause(const std::optional<Failure>& failure) const;
  std::string StoppedBy(int signal) const;
  std::string FailedReason(const std::optional<Failure>& first) const;
  LaunchedJobEnd End(const LaunchOutcome& outcome) const;
  LaunchedJobEnd DoneEnd(const LaunchOutcome& outcome) const;

  const LaunchedJobOptions options_;
  LiveOutput* const output_;
  const RealClock clock_;
  std::unique_ptr<ProcessLauncher> launcher_;
  std::vector<Member> members_;  // as options_.processes
  std::optional<JobEnding> ending_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_LAUNCHED_JOB_H_
