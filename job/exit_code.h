#ifndef SHOAL_JOB_EXIT_CODE_H_
#define SHOAL_JOB_EXIT_CODE_H_

namespace shoal {

// What every binary exits with (docs/commands.md). Below 128 means that the
// same command would fail again, so launchers do not retry it; processes killed
// by a signal show 128 and more in a shell.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,   // the job failed; the reason was printed
  kExitUsage = 2,    // flags, or what they name, cannot be used; nothing began
  kExitStopped = 3,  // SIGINT or SIGTERM asked for the end before it was due
};

}  // namespace shoal

#endif  // SHOAL_JOB_EXIT_CODE_H_
