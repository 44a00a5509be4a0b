#ifndef SHOAL_CLUSTER_SSP_CLOCKS_H_
#define SHOAL_CLUSTER_SSP_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ids.h"

namespace shoal {

struct SspClocksOptions {
  // Steps that a worker may be ahead of the slowest (--ssp_bound). 0: all
  // workers do their s-th step before a worker does its next one. Larger: less
  // waiting, and gradients of older parameters.
  uint32_t bound = 0;
  // Steps that a worker may have open beside the step that it is at
  // (--pipeline_depth).
  uint32_t depth = 0;
};

// Tells a worker how far it may go: the worker may do a step while it has
// finished fewer than `until` steps. A worker counts the steps of its life,
// from 0. `until` never falls.
struct SspPace {
  Life worker;
  uint64_t until = 0;

  friend bool operator==(const SspPace&, const SspPace&) = default;
};
using SspPaces = std::vector<SspPace>;

// Which workers may go on under a bound of staleness (stale synchronous
// parallel; Ho et al., NIPS 2013), as pure logic: an event goes in, and the
// paces that it changes come out, each to be sent to its worker.
//
//   SspClocks clocks({.bound = 2});
//   Send(clocks.OnLease(worker));               // may do steps 0, 1 and 2
//   Send(*clocks.OnFinished(worker, 1));        // so far one step
//
// Only a worker that holds a lease of training data has a clock. The clock
// counts the steps that the worker has finished, on a scale that all workers
// share: a worker that gets its first lease begins at the least clock, or, if
// no worker holds a lease, where the least clock was last. So a worker that
// joins late neither holds up the others nor is held up, and a worker without a
// lease holds up no other. With c clocks, a worker may do its next step if
//
//   c(worker) <= min over workers of c + bound
//
// The slowest worker always may. A worker that returns after it had no lease is
// a worker that joins.
//
// A pace says which steps may be done; it does not say when their parameters
// may be read. A worker reads the parameters of a step when it may do the step
// that is `depth` steps earlier. So prefetching adds its depth to the bound:
// the parameters of a step may lack steps of the slowest worker that are up to
// bound + depth steps old.
//
// A worker whose lease ended without its knowledge, because its time ran out,
// goes on with that lease. Such a worker never waits either.
//
// Memory: a few words for each worker that had a lease and lives. The time of a
// call grows with the number of workers if the least clock changes.
// Thread-compatible.
class SspClocks {
 public:
  explicit SspClocks(SspClocksOptions options) : options_(options) {}

  // The worker holds a lease of training data. Nothing happens if it held one
  // already, so this may be called at each grant.
  SspPaces OnLease(Life worker);
  // The worker holds no lease any more. A lease that settles is not held.
  SspPaces OnNoLease(Life worker);
  // The worker's life is over.
  SspPaces OnLost(Life worker);
  // The worker has finished `finished` steps of its life. Ignored if it never
  // held a lease, or if its life is over. INVALID_ARGUMENT: fewer steps than it
  // reported before, or more than bound and depth let it do.
  absl::StatusOr<SspPaces> OnFinished(Life worker, uint64_t finished);

  // The workers with the least clock, which others wait for, ascending.
  std::vector<Life> Slowest() const;
  // Workers that hold a lease.
  size_t num_holders() const { return holders_; }
  // Workers that are remembered: those that held a lease and live.
  size_t num_known() const { return workers_.size(); }

 private:
  struct Worker {
    bool holds = false;     // a lease
    uint64_t clock = 0;     // if it holds one
    uint64_t finished = 0;  // steps of its life
    uint64_t until = 0;     // the newest pace
  };

  uint64_t LeastClock() const;
  // Notes the least clock and returns the paces that changed.
  SspPaces Changes();
  // Adds the worker's pace to `paces` if it changed.
  void TellIfChanged(Life life, Worker* worker, SspPaces* paces) const;

  SspClocksOptions options_;
  std::map<Life, Worker> workers_;  // that had a lease and live
  size_t holders_ = 0;
  uint64_t least_ = 0;  // the least clock, which never falls
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_SSP_CLOCKS_H_
