#ifndef SHOAL_BENCH_COMPARE_RANK_PROCESSES_H_
#define SHOAL_BENCH_COMPARE_RANK_PROCESSES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace shoal {

struct RankProcessesOptions {
  // The command line of each rank; the first word is a path.
  std::vector<std::vector<std::string>> commands;
  // The first bytes of each process's stdin, which then stays open.
  std::string input;
  // Time after which processes that still run are stopped.
  absl::Duration timeout;
};

// Runs a process for each rank to its end, and returns what rank 0 printed on
// stdout. If one fails, the others are stopped. Errors: CANCELLED (a signal
// asked for the end), DEADLINE_EXCEEDED, ABORTED (names the first rank that
// failed, with the last line that it printed on stderr), those of StartChild.
// Thread-hostile, as ProcessLauncher.
absl::StatusOr<std::string> RunRankProcesses(
    const RankProcessesOptions& options);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_RANK_PROCESSES_H_
