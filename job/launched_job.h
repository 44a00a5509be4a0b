#ifndef SHOAL_JOB_LAUNCHED_JOB_H_
#define SHOAL_JOB_LAUNCHED_JOB_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "job/exit_code.h"
#include "launch/process_launcher.h"
#include "report/live_output.h"
#include "report/progress_json.h"

namespace shoal {

struct LaunchedJobOptions {
  // Command lines of the parameter servers and of the workers, by index. PS 0
  // tells of the job on stdout (--progress=json).
  std::vector<std::vector<std::string>> ps;
  std::vector<std::vector<std::string>> workers;
  // What each process's stdin begins with (ProcessSpec::input); may be empty.
  std::string input = "";
  // The command lines are ssh's: 255 is its word for a process that a signal
  // killed, and for a connection that broke.
  bool remote = false;
  int max_restarts = 3;  // of each worker
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
  // the job as PS 0 knew it, and of the process that was first to fail.
  absl::Status status;
  // What PS 0 said at the end: the closing lines. Empty if it did not live to,
  // or nothing had begun.
  std::vector<std::string> lines;
  // PS 0 told of the job's end, which it does once it has written --summary.
  bool told = false;
  // What the launcher exits with: kExitUsage where a process could not be
  // started with its flags, and that ended the job.
  ExitCode exit_code = kExitOk;
};

// A whole job of processes on this host, seen through to its end: prints their
// logs with prefixes and the live line, and decides what the end of a process
// means for the job.
//
//   a worker was killed        it is started again, max_restarts times; then
//                              the others go on without it, if there are any
//   a worker gave up (< 128)   the job ends
//   PS 0 is through            the job is over: the others end alone, or are
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
    bool is_ps = false;
    bool running = true;
    int restarts = 0;   // before its end
    int exit_code = 0;  // once it runs no more
    // On stderr, the last error or, without one, the last line: often says why
    // it failed.
    std::string last_line;
    bool last_is_error = false;
  };

  LauncherEvents Events();
  absl::Status StartAll();
  void OnLine(int process, OutputStream stream, absl::string_view line);
  void OnExit(int process, const ProcessExit& exit, int restarts, bool again);
  void OnSignal(int signal, bool killing);
  void Say(absl::string_view line);
  bool AnyWorkerRunning() const;
  std::string Describe(const ProcessExit& exit) const;
  std::string StoppedBy(int signal) const;
  LaunchedJobEnd End(const LaunchOutcome& outcome) const;

  const LaunchedJobOptions options_;
  LiveOutput* const output_;
  const RealClock clock_;
  std::unique_ptr<ProcessLauncher> launcher_;
  std::vector<Member> members_;  // PSs first, then workers
  std::optional<JobEnding> ending_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_LAUNCHED_JOB_H_
