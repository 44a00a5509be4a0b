#ifndef SHOAL_JOB_EXIT_CODE_H_
#define SHOAL_JOB_EXIT_CODE_H_

namespace shoal {

// The exit codes of every binary (docs/commands.md). A code below 128 means
// that the same command would fail again, so launchers do not retry it. A
// process that a signal killed shows 128 or more in a shell.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,   // the job failed; the reason was printed
  kExitUsage = 2,    // flags, or files they name, cannot be used; nothing began
  kExitStopped = 3,  // a signal asked for the end before it was due
  // The job lost a process, and the same commands go on from its newest
  // checkpoint (job/lost_exit.h). A launcher starts the whole job again, and
  // not this process alone. Schedulers take a code of 128 or more as retryable.
  kExitLost = 138,
};

}  // namespace shoal

#endif  // SHOAL_JOB_EXIT_CODE_H_
