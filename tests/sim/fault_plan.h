#ifndef SHOAL_TESTS_SIM_FAULT_PLAN_H_
#define SHOAL_TESTS_SIM_FAULT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/harness/keyed_draw.h"

namespace shoal {

// The number of faults of each kind for the processes of a job.
struct FaultCounts {
  int worker_kills = 0;  // SIGKILL
  int ps_kills = 0;      // of any PS but 0
  int ps0_kills = 0;     // with its coordinator
  int host_kills = 0;    // the PS and the worker of one host lose their power
  int all_kills = 0;     // every host does
  int breaks = 0;        // a session's connection breaks, of any process
  int worker_freezes = 0;
  // A worker stands still until the launcher takes it for dead and starts a
  // successor; then the worker wakes up beside the successor.
  int replaced_workers = 0;
  int stalls = 0;  // one strand of any process stands still
  // While the job trains, all processes stand still for so long; and PS 0 does.
  absl::Duration freeze_all;
  absl::Duration freeze_ps0;
};

struct Fault {
  enum class Kind { kKill, kBreak, kFreeze, kReplace, kStall };

  Kind kind = Kind::kKill;
  absl::Duration at;    // after training began
  std::string victim;   // "worker 1", "ps 0", "host 2", "all"
  absl::Duration span;  // of a freeze or stall
  uint64_t strand = 0;  // for a stall: modulo the number of strands
  KeyedDraw draw{0};    // for what else there is to draw about this fault
};

// "12.5 ms: kill worker 1".
std::string ToString(const Fault& fault);

// All faults in the order of time. The n-th fault of a kind is a function of
// the seed, the kind, n, `ps` and `workers`: it stays the same without the
// other faults.
std::vector<Fault> PlanFaults(uint64_t seed, const FaultCounts& counts, int ps,
                              int workers);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_FAULT_PLAN_H_
