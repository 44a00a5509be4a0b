#ifndef SHOAL_COORDINATOR_COORDINATOR_OPTIONS_H_
#define SHOAL_COORDINATOR_COORDINATOR_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cluster/job_files.h"
#include "cluster/ssp_clocks.h"
#include "coordinator/checkpoint_options.h"
#include "core/binary_metrics.h"
#include "core/ids.h"
#include "core/job_task.h"
#include "core/ps_members.h"

namespace shoal {

// The struct has many members, because the whole job is configured here: each
// part of the coordinator takes its own few options out of it.
struct CoordinatorOptions {
  JobTask task = JobTask::kTrain;
  std::string job;        // label of the job
  std::string config;     // canonical text; see RegisterRequest::config
  StartNumber start = 1;  // start number of the job
  // The process that holds the coordinator, as in "ps 0". Stop and SaveAndStop
  // are requests of this process. Empty: the whole job is in one process.
  std::string process;
  PsMembers ps;  // the PSs of the job, and their shards
  // The expected address of each PS, by index, for messages about missing PSs.
  // May be empty.
  std::vector<std::string> ps_addresses;
  int num_workers = 1;  // expected; more may join, and the job runs with fewer
  // True: the workers are the ranks of a synchronous mode, and the batches of
  // an epoch are dealt to their lanes (cluster/lane_table.h). The job begins
  // when all num_workers are there, and no other worker may join. If a worker
  // is lost, the others go on without it (job_generations.h); unless the job
  // has a ring, the worker may come back.
  bool lanes = false;
  // Set: the PSs apply a step of all lanes as one push, and the coordinator
  // closes the steps (coordinator/job_steps.h). A step does not wait for so
  // many ranks; larger: slow ranks hold up the others less, and more batches
  // are dropped from their step and trained later. While fewer workers are
  // there, the value is below their number. REQUIRES: lanes, and a value below
  // num_workers.
  std::optional<uint32_t> backup_workers;
  // True: the workers are the ranks of a ring, each with a PS of its own in its
  // process. Every worker gives a ring_address, and the view of the job, which
  // has all of them, is sent when all num_workers are there.
  bool ring = false;
  uint32_t batch_size = 1024;
  uint32_t num_epochs = 1;
  uint64_t seed = 1;
  bool shuffle = true;  // order of pieces = f(seed, epoch); false: as listed
  // Bytes of a piece. -1: those of a checkpoint from which the job goes on,
  // otherwise PieceBytesForBatches (core/piece_table.h); 0: each file is one
  // piece.
  int64_t piece_bytes = -1;
  // The files that each host has for itself; every worker can read the others.
  // If there are files by host, the job waits for all num_workers.
  FileScopes scopes;
  int64_t warmup_steps = 0;  // job steps before the steady window starts
  // Rows of the job that may fail to parse; with more, the job ends with an
  // error that names the first. -1: no limit.
  int64_t max_bad_rows = 0;
  // True: the job ends if its training diverges (DivergenceWatch). False for a
  // model whose loss says nothing about its training.
  bool watch_divergence = true;
  // Epochs between evaluations; 0: evaluate only at the end. There is always an
  // evaluation at the end. An evaluation between two epochs is a barrier
  // between them. Without evaluation files there is neither.
  uint32_t eval_every_epochs = 1;
  // Examples of an evaluation whose scores are kept for the exact AUC, of up to
  // 13 bytes each. With more examples the AUC comes from a histogram of up to
  // 128 MiB, with a bound on its error (cluster/evaluation.h).
  uint64_t auc_exact_rows = 20'000'000;

  // Facts of the mode of training (job/training_mode.h).
  // Set: workers keep within a bound of the slowest, and their pipelines have
  // this depth. Not set: no worker waits for another one.
  std::optional<SspClocksOptions> ssp;

  // The metrics of the model's objective, which judge the scores of
  // evaluations. Constants.
  const ScoreMetrics* metrics = &kBinaryMetrics;

  CheckpointOptions checkpoints;

  absl::Duration heartbeat_interval = absl::Seconds(1);
  // A process that sends nothing for this time is taken for dead.
  absl::Duration silent_after = absl::Seconds(5);
  // A worker's lease that is not renewed for this time is over.
  absl::Duration worker_lease = absl::Seconds(10);
  // Longest wait for the PSs at the start, and for a worker at any time.
  absl::Duration start_deadline = absl::Seconds(120);
  // Once all PSs and one worker are there: longest wait of the first lease for
  // the other expected workers.
  absl::Duration worker_grace = absl::Seconds(3);
  // A lease without a new mark for this time may be copied to an idle worker
  // once nothing else is left to lease.
  absl::Duration speculate_after = absl::Seconds(2);
  // Longest time with live workers but without a new mark, a piece read or a
  // score; then the job ends and names the leases that are held. Longer than
  // the largest piece takes to open.
  absl::Duration progress_deadline = absl::Minutes(10);
  // With lanes: a job that trains no batch for this time logs a warning that
  // says where each rank stands, and again whenever the time has doubled. 0: it
  // logs none.
  absl::Duration stall_after = absl::Seconds(10);
  // Longest wait for the shards' last reports.
  absl::Duration report_deadline = absl::Seconds(120);
  // Longest wait for Byes after the job's end.
  absl::Duration linger = absl::Seconds(2);
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_COORDINATOR_OPTIONS_H_
