#ifndef SHOAL_BENCH_COMPARE_TIME_LEFT_H_
#define SHOAL_BENCH_COMPARE_TIME_LEFT_H_

#include <string>

#include "absl/time/time.h"

namespace shoal {

// How far a comparison is, and how long it will take. Pure.
class TimeLeft {
 public:
  // `runs` in all, of which `done` are from before. A run is expected to take
  // `first_guess` until one has been seen.
  TimeLeft(int runs, int done, absl::Duration first_guess)
      : runs_(runs), done_(done), first_guess_(first_guess) {}

  // So many runs more, of which `done` are from before.
  void Add(int runs, int done) {
    runs_ += runs;
    done_ += done;
  }
  // A run took this long. `again`: it does not count, and comes once more.
  void OnRun(absl::Duration took, bool again);

  int done() const { return done_; }
  absl::Duration left() const;
  // "run 12 of 60, about 14 min left". `besides`: the time for what is no run,
  // such as pairs of pauses.
  std::string Text(absl::Duration besides) const;

 private:
  int runs_;
  int done_;
  absl::Duration first_guess_;
  int seen_ = 0;
  absl::Duration took_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_TIME_LEFT_H_
