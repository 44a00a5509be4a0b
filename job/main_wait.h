#ifndef SHOAL_JOB_MAIN_WAIT_H_
#define SHOAL_JOB_MAIN_WAIT_H_

#include "absl/time/time.h"

namespace shoal {

// Where the main thread waits while others work: for a word from them, for
// SIGINT, SIGTERM or SIGHUP, or for a moment. Make it before any thread starts,
// as it blocks these signals, which threads inherit. Thread-safe.
class MainWait {
 public:
  MainWait();
  ~MainWait();
  MainWait(const MainWait&) = delete;
  MainWait& operator=(const MainWait&) = delete;

  // From now on the end of `fd`, which is open for reading, counts as a SIGHUP,
  // once, and the system kills this process `grace` after it if it still runs.
  // What can be read is passed over. Before the first Wait.
  void WatchInput(int fd, absl::Duration grace);

  // Lets the present or the next Wait return.
  void Notify();

  // Returns the number of a signal that came, or 0 after a Notify or when
  // `timeout` has passed.
  int Wait(absl::Duration timeout);

 private:
  bool InputEnded();

  int signal_fd_ = -1;
  int event_fd_ = -1;
  // What Wait reads; -1: nothing.
  int input_fd_ = -1;
  absl::Duration grace_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_MAIN_WAIT_H_
