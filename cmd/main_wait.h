#ifndef SHOAL_CMD_MAIN_WAIT_H_
#define SHOAL_CMD_MAIN_WAIT_H_

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

  // Lets the present or the next Wait return.
  void Notify();

  // Returns the number of a signal that came, or 0 after a Notify or when
  // `timeout` has passed.
  int Wait(absl::Duration timeout);

 private:
  int signal_fd_ = -1;
  int event_fd_ = -1;
};

}  // namespace shoal

#endif  // SHOAL_CMD_MAIN_WAIT_H_
