#ifndef SHOAL_BENCH_ALLREDUCE_TURN_PLAN_H_
#define SHOAL_BENCH_ALLREDUCE_TURN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace shoal {

// A turn: AllReduces of one size, one after the other, made by all ranks.
struct AllReduceTurn {
  uint64_t bytes = 0;  // of the values, a multiple of 4
  uint64_t calls = 0;  // 0: the measurement is over
  // The ranks give values whose sums they know, and look at the sums. The time
  // of the turn does not count.
  bool check = false;

  friend bool operator==(const AllReduceTurn&, const AllReduceTurn&) = default;
};

// The time of an AllReduce of one size.
struct AllReducePoint {
  uint64_t bytes = 0;
  // Seconds of one AllReduce: the mean of a turn, of which the median over the
  // turns, the least and the largest.
  double seconds = 0;
  double least = 0;
  double most = 0;
  uint64_t calls = 0;  // of all turns that count
};

struct TurnPlanOptions {
  std::vector<int> sizes;  // bytes, in the order in which they are measured
  int repeats = 5;         // turns of each size; at least 1
  // About how long a turn takes. A turn has one call at least.
  absl::Duration turn_time = absl::Milliseconds(100);
  // Once the turns of a size have taken so long together, no further turn of
  // this size begins. One turn counts in any case.
  absl::Duration size_time = absl::Seconds(2);
};

// Decides which turns are made, as pure logic: rank 0 has one, and tells the
// other ranks each turn. Each size begins with a call that is checked and does
// not count; its time says how many calls make a turn, and later the turn
// before does. Thread-compatible.
//
//   TurnPlan plan(options);
//   while (plan.Next().calls > 0) plan.OnTurn(time of the turn plan.Next());
//   use(plan.points());
class TurnPlan {
 public:
  // Most calls of a turn.
  static constexpr uint64_t kMostCalls = 100'000;

  explicit TurnPlan(TurnPlanOptions options);

  // The turn to make now.
  const AllReduceTurn& Next() const { return next_; }
  // The turn was made, and took so long. REQUIRES: there was one to make.
  void OnTurn(absl::Duration spent);

  // One for each size that is over, in their order.
  const std::vector<AllReducePoint>& points() const { return points_; }

 private:
  void BeginSize();
  void EndSize();

  const TurnPlanOptions options_;
  size_t size_ = 0;  // index of the size that is being measured
  AllReduceTurn next_;
  std::vector<double> means_;  // seconds of a call, by turn of this size
  uint64_t calls_ = 0;         // of these turns
  absl::Duration spent_;       // in these turns
  std::vector<AllReducePoint> points_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_ALLREDUCE_TURN_PLAN_H_
