#ifndef SHOAL_BENCH_COMPARE_RUN_WINDOW_H_
#define SHOAL_BENCH_COMPARE_RUN_WINDOW_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace shoal {

// When the job of a run has trained long enough for figures. It looks at how
// many steps all workers have made, and says when to stop the job.
//
// What is measured begins behind the warm-up. A job that gets its shares of the
// cores with the first data must not have made half of its warm-up before: the
// rest of it is for steps that were not reported yet. A job then trains for
// `cell_time`, and on until there are kLeastSteps more for each worker, of all
// together. It is stopped after the longest of kMostCellTimes, of kLeastLimit
// (the first step of a ring on hosts with a twentieth of a core takes 20 s),
// and of kPlayedLimit on the clock of the played cluster, which is `dilation`
// times slower. Half of these steps are needed. Pure.
class RunWindow {
 public:
  static constexpr uint64_t kLeastSteps = 20;  // for each worker
  static constexpr double kMostCellTimes = 12;
  static constexpr absl::Duration kLeastLimit = absl::Minutes(1);
  static constexpr absl::Duration kPlayedLimit = absl::Seconds(10);

  // `warmup`: steps of all `hosts` workers. `cell_time` 0: the job ends by
  // itself. `slowed`: it gets its shares of the cores with the first data.
  RunWindow(uint64_t warmup, int hosts, absl::Duration cell_time, bool slowed,
            double dilation);

  // Whether to stop the job, `trained` after its first data. Asked each time
  // that there are new figures.
  bool IsOver(uint64_t step, absl::Duration trained);

  // The steps before the shares, if they were too many.
  std::optional<uint64_t> early() const { return early_; }
  // ABORTED if they were; DEADLINE_EXCEEDED if there were too few after it.
  absl::Status status() const;

 private:
  const uint64_t warmup_;
  const uint64_t steps_;  // after the warm-up
  const absl::Duration cell_time_;
  const absl::Duration limit_;
  bool begun_;
  std::optional<uint64_t> early_;
  std::optional<uint64_t> too_few_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_RUN_WINDOW_H_
