#ifndef SHOAL_JOB_MAIN_WAIT_H_
#define SHOAL_JOB_MAIN_WAIT_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/stop_signals.h"

namespace shoal {

// Lets the main thread wait while other threads work: for Notify, for SIGINT,
// SIGTERM or SIGHUP, or for a timeout.
//
//   MainWait wait;  // the first thing that a command does
//   ...             // a signal ends the process at once, with kExitStopped
//   wait.Begin();   // from here on Wait returns the signals
//
// Thread-safe, except that one thread alone calls Begin, Wait and
// QuitOnInterrupt.
class MainWait {
 public:
  // The end of a Wait.
  struct Event {
    // kNone after a Notify or the timeout, and for a signal that asks for
    // nothing new. On kQuit the caller ends the process (job/quit_at_once.h).
    StopSignals::Action action = StopSignals::Action::kNone;
    int signal = 0;          // the signal that came; 0: none
    bool passed_on = false;  // the launcher sent it, and has told the user
  };

  // Until Begin, each of the three signals ends the process with kExitStopped.
  // A SIGHUP that the process ignores at this moment, as under nohup, stays
  // ignored.
  MainWait();
  ~MainWait();
  MainWait(const MainWait&) = delete;
  MainWait& operator=(const MainWait&) = delete;

  // From now on the three signals end a Wait, and nothing else. To be called
  // before anything exists that needs a stop in good order, and before any
  // thread starts: this blocks the signals, and threads inherit that.
  void Begin();

  // From now on the end of `fd`, which is open for reading, counts as one
  // SIGHUP, and the system kills this process if it still runs `grace` after
  // that. Bytes that come from `fd` are ignored. If `fd` is the descriptor of a
  // process (pidfd_open), its end is that of the process. Call before the first
  // Wait.
  void WatchInput(int fd, absl::Duration grace);

  // Makes the present or the next Wait return.
  void Notify();

  // Returns when a signal came, after a Notify, or when `timeout` has passed.
  Event Wait(absl::Duration timeout);
  // Without waiting: CANCELLED, "stopped by SIGTERM", if a signal asks for the
  // end.
  absl::Status CheckNotStopped();

  // To be called when the process waits no more but is not at its end yet, as
  // while it closes files. From then on the second SIGINT of a user ends the
  // process with kExitStopped, whatever the main thread does. SIGINTs that Wait
  // has returned count too; those that the launcher passes on do not.
  // `interrupted`: the first one has come to another reader of signals, as the
  // launcher of processes.
  void QuitOnInterrupt(bool interrupted = false);

  // The signal that asked the process to stop; 0: none has come.
  int first_signal() const { return signals_.first(); }

 private:
  bool InputEnded();

  StopSignals signals_;
  int signal_fd_ = -1;
  int event_fd_ = -1;
  // The descriptor of WatchInput; -1: none.
  int input_fd_ = -1;
  absl::Duration grace_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_MAIN_WAIT_H_
