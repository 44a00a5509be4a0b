#ifndef SHOAL_COORDINATOR_COORDINATOR_OPTIONS_H_
#define SHOAL_COORDINATOR_COORDINATOR_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/checkpoint_options.h"
#include "core/binary_metrics.h"
#include "core/ids.h"

namespace shoal {

// What a job is for. To evaluate and to infer, it trains nothing: it scores the
// evaluation files with the parameters that the shards start with.
enum class JobTask { kTrain, kEvaluate, kInfer };

struct CoordinatorOptions {
  JobTask task = JobTask::kTrain;
  std::string job;
  std::string config;  // canonical text; see RegisterRequest::config
  StartNumber start = 1;
  // The process that holds the coordinator, as in "ps 0", which Stop and
  // SaveAndStop speak for; empty: all of the job is in it.
  std::string process;
  int num_ps = 1;
  // Where each PS should be, by index: said of those that are missing. May be
  // empty.
  std::vector<std::string> ps_addresses;
  int num_workers = 1;  // expected; more may join, fewer do not stop the job
  uint32_t batch_size = 1024;
  uint32_t num_epochs = 1;
  uint64_t seed = 1;
  bool shuffle = true;  // order of pieces = f(seed, epoch); false: as listed
  // Bytes of a piece: clamp(total / 32, 64 KiB, 64 MiB) if unset (-1); 0: each
  // file is one piece.
  int64_t piece_bytes = -1;
  // Each worker's files are its own, to be read by it alone, and the job waits
  // for all num_workers; false: every worker can read all files.
  bool host_files = false;
  int64_t warmup_steps = 0;  // job steps before the steady window starts
  // Rows that fail to parse, over the job, before it ends with an error naming
  // the first; -1: no limit.
  int64_t max_bad_rows = 0;
  // Evaluate after every so many epochs, and at the end; 0: only at the end.
  // Epochs between which there is an evaluation have a barrier. Without
  // evaluation files there is neither.
  uint32_t eval_every_epochs = 1;
  // Examples of an evaluation whose scores are kept for the exact AUC, up to 13
  // bytes each; of one with more, the AUC comes from a histogram of up to 128
  // MiB, with a bound on its error (evaluation.h).
  uint64_t auc_exact_rows = 20'000'000;

  // How the scores of evaluations are judged: the metrics of the model's
  // objective, constants.
  const ScoreMetrics* metrics = &kBinaryMetrics;

  CheckpointOptions checkpoints;

  absl::Duration heartbeat_interval = absl::Seconds(1);
  absl::Duration silent_after = absl::Seconds(5);
  absl::Duration worker_lease = absl::Seconds(10);
  // How long to wait for the PSs at first, and for a worker at any time.
  absl::Duration start_deadline = absl::Seconds(120);
  // Once all PSs are there and one worker is, how long the first lease waits
  // for the other expected workers.
  absl::Duration worker_grace = absl::Seconds(3);
  // A lease held so long without a new mark may be copied to an idle worker
  // once nothing else is left to lease.
  absl::Duration speculate_after = absl::Seconds(2);
  // Live workers, but no mark, no piece read and no score for so long: the job
  // ends and names who holds what. Longer than the largest piece takes to open.
  absl::Duration progress_deadline = absl::Minutes(10);
  // How long the shards may take for their last report.
  absl::Duration report_deadline = absl::Seconds(120);
  // After the job's end: how long to wait for Byes.
  absl::Duration linger = absl::Seconds(2);
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_COORDINATOR_OPTIONS_H_
