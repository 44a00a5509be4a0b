#ifndef SHOAL_JOB_MAIN_WAIT_H_
#define SHOAL_JOB_MAIN_WAIT_H_

#include "absl/time/time.h"

namespace shoal {

// Lets the main thread wait while other threads work: for Notify, for SIGINT,
// SIGTERM or SIGHUP, or for a timeout. Create it before any thread starts: it
// blocks these signals, and threads inherit that. Thread-safe.
class MainWait {
 public:
  MainWait();
  ~MainWait();
  MainWait(const MainWait&) = delete;
  MainWait& operator=(const MainWait&) = delete;

  // From now on the end of `fd`, which is open for reading, counts as one
  // SIGHUP, and the system kills this process if it still runs `grace` after
  // that. Bytes that come from `fd` are ignored. Call before the first Wait.
  void WatchInput(int fd, absl::Duration grace);

  // Makes the present or the next Wait return.
  void Notify();

  // Returns the number of a signal that came, or 0 after a Notify or when
  // `timeout` has passed.
  int Wait(absl::Duration timeout);

 private:
  bool InputEnded();

  int signal_fd_ = -1;
  int event_fd_ = -1;
  // The descriptor of WatchInput; -1: none.
  int input_fd_ = -1;
  absl::Duration grace_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_MAIN_WAIT_H_
