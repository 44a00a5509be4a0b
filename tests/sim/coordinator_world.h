#ifndef SHOAL_TESTS_SIM_COORDINATOR_WORLD_H_
#define SHOAL_TESTS_SIM_COORDINATOR_WORLD_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "cluster/job_report.h"
#include "tests/sim/simulated_shard.h"

namespace shoal {

struct CoordinatorWorldOptions {
  uint64_t seed = 1;  // of all random numbers
  int ps = 3;
  int workers = 3;
  int pieces = 12;
  int epochs = 2;
  bool evaluate = true;
  int eval_every_epochs = 1;
  ShardKind shard_kind = ShardKind::kByBatch;
  bool done_too_early = false;
  // Probabilities for each push, and the longest delay of one direction.
  double push_drop = 0.02;
  double push_duplicate = 0.1;
  absl::Duration push_delay = absl::Milliseconds(60);
  // The number of faults of each kind for the workers.
  int kills = 12;         // SIGKILL; restarted within 2 s
  int freezes = 4;        // 0.5 to 15 s
  int session_drops = 4;  // a connection breaks
  int slowdowns = 2;      // twenty times slower, from then on
  // A PS is killed at some moment of the training.
  bool kill_ps = false;
};

struct CoordinatorWorldResult {
  bool finished = false;  // within a day of simulated time
  JobReport report;
  std::vector<ShardBook> books;
  // The content of the data, in the simulator's records.
  uint64_t samples = 0;
  uint64_t rejected = 0;
  uint64_t batches = 0;
  uint64_t eval_examples = 0;
  int kills = 0;            // of workers that were training
  absl::Duration took;      // simulated
  absl::Duration end_took;  // from the kill of a PS to the job's end
  int left_behind = 0;      // processes alive that never heard of the end
};

// The real coordinator with simulated workers and shards. The network delays,
// loses and repeats pushes; faults kill, freeze, slow and disconnect workers.
CoordinatorWorldResult RunCoordinatorWorld(
    const CoordinatorWorldOptions& options);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_COORDINATOR_WORLD_H_
