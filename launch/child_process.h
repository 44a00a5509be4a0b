#ifndef SHOAL_LAUNCH_CHILD_PROCESS_H_
#define SHOAL_LAUNCH_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// How a process ended.
struct ProcessExit {
  int code = 0;    // as it exited; meaningless after a signal
  int signal = 0;  // that killed it; 0: it exited

  bool ok() const { return signal == 0 && code == 0; }
  // Killed by a signal, or died of its own in a way that another try may mend:
  // exit codes below 128 say "do not retry" (docs/commands.md).
  bool may_retry() const { return signal != 0 || code >= 128; }
  // "exited with code 3", "was killed by SIGKILL".
  std::string Describe() const;
};

// A running program in a process group of its own. The kernel kills it when the
// thread that started it ends, however that comes about, so it is never an
// orphan. Its stdin is /dev/null, or a pipe if it was given input; its stdout
// and stderr are pipes. The owner's ends do not block and are its to close.
struct ChildProcess {
  pid_t pid = -1;
  int in = -1;  // -1: /dev/null
  int out = -1;
  int err = -1;
};

// Starts argv[0], a path, with the environment of this process and all signals
// as they are by default. `input`, of 4 KiB at most, is the first that it
// reads. NOT_FOUND, PERMISSION_DENIED or INTERNAL with the path, if it cannot
// be executed. REQUIRES: this process has one thread, or only threads that the
// child can do without between fork and exec.
absl::StatusOr<ChildProcess> StartChild(const std::vector<std::string>& argv,
                                        absl::string_view input = "");

// Sends `signal` to the whole process group of a child that was not yet reaped.
void SignalGroup(pid_t pid, int signal);

// If the child has ended: kills what is left of its group, takes its exit and
// returns true. Never waits.
bool ReapChild(pid_t pid, ProcessExit* exit);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_CHILD_PROCESS_H_
