#ifndef SHOAL_BENCH_COMPARE_CELL_FLAGS_H_
#define SHOAL_BENCH_COMPARE_CELL_FLAGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "bench/compare/cell.h"
#include "launch/flags/deadline_flags.h"

namespace shoal {

// Flags of `shoal run` by name, as they are typed.
using FlagMap = std::map<std::string, std::string>;

// INVALID_ARGUMENT if `job` has a flag that the comparison itself gives to each
// job, and what to use in its place.
absl::Status CheckJobFlags(const FlagMap& job);

// INVALID_ARGUMENT if the flags of one model have one that all models of a
// comparison must have in common, such as the data.
absl::Status CheckModelFlags(const FlagMap& model);

// The flags of a job of this model in the default mode, for what is the same in
// all modes.
FlagMap FlagsOfModel(const FlagMap& job);

// Flags of a job that do nothing in one that is stopped after a time: it has
// more epochs than there is time for, and no evaluation.
inline constexpr const char* kUnusedIfStopped[] = {
    "num_epochs", "val_data_dir", "val_data_scope", "eval_every_epochs"};

struct CellPlace {
  // --hosts of the job; empty: the processes run on this host.
  std::string hosts;
  std::string profile;  // path of --compute_profile of a replayed cell
  std::string record;   // path of --record_compute; empty: nothing is recorded
  // Epochs of a job that is stopped after a time, and so has no evaluation. 0:
  // the job runs to the end of the user's epochs.
  int epochs = 0;
  std::optional<uint64_t> seed;  // nullopt: that of the job
  double paused_speed = 1;       // of the hosts (ShareOf)
  // Least --warmup_steps of the job.
  uint64_t least_warmup_steps = 0;
};

// The flags of a cell's job: those of `job`, which are the user's for this
// model, but for those that the cell decides. Deadlines and --mark_interval are
// stretched by the cell's dilation. --heartbeat is not: figures come with the
// heartbeats, which cost next to nothing. Flags that the cell's mode does not
// take are left out. Pure.
FlagMap FlagsOfCell(const Cell& cell, const FlagMap& job,
                    const DeadlineFlags& deadlines, const CellPlace& place);

// "--name=value" of each.
std::vector<std::string> Arguments(const FlagMap& flags);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CELL_FLAGS_H_
