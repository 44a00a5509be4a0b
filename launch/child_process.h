#ifndef SHOAL_LAUNCH_CHILD_PROCESS_H_
#define SHOAL_LAUNCH_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// The end of a process.
struct ProcessExit {
  int code = 0;    // exit code; meaningless if a signal killed the process
  int signal = 0;  // signal that killed the process; 0: it exited

  bool ok() const { return signal == 0 && code == 0; }
  // True if another try may succeed: a signal killed the process, or it exited
  // with 128 or more. Exit codes below 128 say "do not retry"
  // (docs/commands.md). One code above says that the whole job is to be tried
  // again, and not this process (LauncherOptions::final_code).
  bool may_retry() const { return signal != 0 || code >= 128; }
  // "exited with code 3", "was killed by SIGKILL".
  std::string Describe() const;
};

// A running program in a separate process group. The kernel kills the process
// when the thread that started it ends, for whatever reason, so the process is
// never an orphan. Its stdin is /dev/null, or a pipe if it was given input; its
// stdout and stderr are pipes. The owner's ends of the pipes do not block, and
// the owner closes them.
struct ChildProcess {
  pid_t pid = -1;
  int in = -1;  // -1: stdin is /dev/null
  int out = -1;
  int err = -1;
};

// Starts argv[0], a path, with the environment of this process and the default
// action for every signal, except that a SIGHUP that this process ignores stays
// ignored (nohup). `input`, at most 4 KiB, is what the process reads
// first from its stdin. Errors: NOT_FOUND, PERMISSION_DENIED or INTERNAL, with
// the path, if argv[0] cannot be executed. REQUIRES: this process has one
// thread, or only threads that the child can do without between fork and exec.
absl::StatusOr<ChildProcess> StartChild(const std::vector<std::string>& argv,
                                        absl::string_view input = "");

// Sends `signal` to a child that was not yet reaped, marked as passed on
// (StopSignals::kPassedOn).
void PassOnSignal(pid_t pid, int signal);

// Sends `signal` to the whole process group of a child that was not yet reaped.
void SignalGroup(pid_t pid, int signal);

// If the child has ended, kills what is left of its process group, stores how
// the child ended in *exit and returns true. Never waits.
bool ReapChild(pid_t pid, ProcessExit* exit);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_CHILD_PROCESS_H_
