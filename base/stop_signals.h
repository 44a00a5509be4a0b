#ifndef SHOAL_BASE_STOP_SIGNALS_H_
#define SHOAL_BASE_STOP_SIGNALS_H_

namespace shoal {

// The reaction of a process to the signals that ask it to stop, as pure logic:
// (state, signal) → (state, action). A process has one object for its life, and
// calls On for each SIGINT, SIGTERM or SIGHUP that comes.
//
//   running --SIGTERM, SIGHUP, or a passed-on SIGINT: kStop--> stopping
//   running --SIGINT: kStop--> interrupted
//   stopping --SIGINT: kRemind--> interrupted
//   interrupted --SIGINT: kQuit--> interrupted
//   any other signal changes nothing: kNone
//
// Service managers, schedulers and closing terminals send SIGTERM and SIGHUP to
// every process of a job, several times, and the launcher passes signals on as
// well. So a repeated SIGTERM or SIGHUP is never a second request. Only a user
// who sends SIGINT (Ctrl-C) for the second time wants the process to end at
// once. A SIGINT that the launcher has passed on does not count as the user's.
// Thread-compatible.
class StopSignals {
 public:
  // The value that marks a signal of sigqueue(3) as passed on by the launcher.
  static constexpr int kPassedOn = 0x5b0a1;

  enum class Action {
    kNone,
    kStop,    // begin to stop in good order
    kRemind,  // the process is stopping already; say that another SIGINT quits
    kQuit,    // end at once
  };

  // `passed_on`: the launcher sent the signal, because the launcher got one.
  // REQUIRES: signal is SIGINT, SIGTERM or SIGHUP.
  Action On(int signal, bool passed_on = false);

  // The signal that asked the process to stop; 0: none has come.
  int first() const { return first_; }
  // True if the next SIGINT of a user is to end the process at once.
  bool next_quits() const { return state_ == State::kInterrupted; }

 private:
  enum class State { kRunning, kStopping, kInterrupted };

  State state_ = State::kRunning;
  int first_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_BASE_STOP_SIGNALS_H_
