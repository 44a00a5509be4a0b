#ifndef SHOAL_BENCH_COMPARE_AWAKE_CORES_H_
#define SHOAL_BENCH_COMPARE_AWAKE_CORES_H_

#include <atomic>
#include <thread>
#include <vector>

namespace shoal {

// Keeps all cores that this process may use awake as long as it lives. Hosts
// that are played slowly leave the machine idle most of the time. An idle core
// clocks down or, if it is virtual, is given to others, and then whatever wakes
// it costs more processor time: 10 to 40 % more on the machine of
// docs/benchmarking.md, and another share in each run.
//
// A thread on each core does nothing at the lowest priority there is
// (SCHED_IDLE), so that any other thread of its control group that wakes up
// takes its core at once; to other groups it yields by their weights, and those
// of a lab's hosts are the largest (ControlGroup::PutFirst). It also offers its
// core every 20 us or so: a group whose quota has come back would get it at the
// kernel's next clock tick only, up to 4 ms later, and so lose up to a quarter
// of its quota. It takes no signals.
//
// Thread-compatible.
class AwakeCores {
 public:
  AwakeCores();
  ~AwakeCores();
  AwakeCores(const AwakeCores&) = delete;
  AwakeCores& operator=(const AwakeCores&) = delete;

 private:
  void StayOn(int core);

  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_AWAKE_CORES_H_
