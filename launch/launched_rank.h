#ifndef SHOAL_LAUNCH_LAUNCHED_RANK_H_
#define SHOAL_LAUNCH_LAUNCHED_RANK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace shoal {

// A number that a launcher has set, and the environment variable that has it.
struct LauncherNumber {
  int value = 0;
  std::string variable;

  // "OMPI_COMM_WORLD_RANK=2".
  std::string Text() const;
};

// The place of this process among the processes that a launcher, such as mpirun
// or srun, has started together.
struct LaunchedRank {
  LauncherNumber rank;                       // from 0, less than `size`
  std::optional<LauncherNumber> size;        // number of the processes
  std::optional<LauncherNumber> local_rank;  // rank among those of this host
  std::optional<LauncherNumber> local_size;  // number of those of this host
  // The variables of all launchers that say a rank here, for messages.
  std::vector<std::string> rank_variables;
};

// The flags that say the same as a LaunchedRank in a mode without parameter
// servers, in which the index of a worker is its rank.
struct PlaceFlags {
  int task_index = 0;
  std::string worker_hosts;  // entries separated by commas; "": not given
  std::string coordinator;   // host:port of worker 0; "": not given
};

// Compares what a launcher and the flags say about one process.
// INVALID_ARGUMENT: they contradict each other. The message has both, as in
// "--task_index=1 and OMPI_COMM_WORLD_RANK=2 contradict each other".
absl::Status CheckLaunchedRank(const LaunchedRank& launched,
                               const PlaceFlags& flags);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_LAUNCHED_RANK_H_
