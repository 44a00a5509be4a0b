#ifndef SHOAL_CLUSTER_JOB_REPORT_H_
#define SHOAL_CLUSTER_JOB_REPORT_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/histogram.h"
#include "cluster/job_curve.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "core/worker_time.h"

namespace shoal {

struct WorkerReport {
  int index = 0;
  bool alive = false;
  // Samples that all shards acknowledged, over the worker's lives; a killed
  // life counts as of its last heartbeat. The sum over workers counts
  // recomputed batches each time, so it can differ from `trained`.
  uint64_t samples = 0;
  double cpu_seconds = 0;
  uint64_t peak_rss_bytes = 0;
  // Rows that this worker was the first to score, over all evaluations or in an
  // inference. Summed over workers, each row counts once an evaluation.
  uint64_t scored = 0;
  std::string host;  // name of its host; empty: not known
  StateSeconds seconds = {};  // of its train thread, by state
};

// A PS member (core/ps_members.h). Its resources and canaries are its own, and
// so are the look-ups of a replica; its rows, bytes and digest are those of its
// shard, which replicas share.
struct PsReport {
  int index = 0;
  int shard = 0;
  // It speaks for its shard: the first member of the shard that is not lost.
  bool first_of_shard = true;
  bool lost = false;  // a replica that was lost; the job went on without it
  std::string address;  // empty: it is in the process of a rank
  double cpu_seconds = 0;
  uint64_t peak_rss_bytes = 0;
  StatsReply stats;  // at the job's end
};

struct EvalReport {
  double auc = 0.5;  // NaN: the examples have one label only
  double logloss = 0;
  uint64_t examples = 0;  // 0: no evaluation
  // Mean predicted probability over mean label; 0: no label is 1.
  double calibration = 0;
  bool exact_auc = true;
  double auc_error = 0;  // the exact AUC is at most this far from `auc`
  // Progress of training at the evaluation: epochs, and batches with all marks.
  uint32_t epoch = 0;
  uint64_t step = 0;
  // By worker's index; their sum is `examples`.
  std::map<int, uint64_t> examples_of_worker;
};

// An evaluation that is under way.
struct RunningEvaluation {
  double scored = 0;  // share of the bytes whose pieces are scored
  // AUC of the rows that are scored so far, near enough for a live line; NaN:
  // both labels are needed, and the rows so far have only one.
  double auc = std::numeric_limits<double>::quiet_NaN();
};

// The checkpoints of a job.
struct CheckpointReport {
  std::string model_dir;  // where the job saves them; empty: it saves none
  // Path of the newest checkpoint that this job has saved; empty: none.
  std::string path;
  uint64_t step = 0;  // step of that checkpoint
  // Time for which training stood still: for the newest, and for all.
  double seconds = 0;
  double all_seconds = 0;
  uint64_t saved = 0;         // checkpoints
  uint64_t voided = 0;        // attempts that gave no checkpoint
  std::string last_error;     // why the newest of those attempts failed
  // If training diverged: path and step of the newest checkpoint from before
  // that; empty: there is none.
  std::string before_divergence;
  uint64_t before_divergence_step = 0;
  std::string resumed_from;   // path of the checkpoint that the job began from
  uint64_t resumed_step = 0;  // step of that checkpoint
  uint64_t resumed_samples = 0;  // trained and rejected by then
  // Name of the directory of a save that is under way; empty: none is.
  std::string unfinished;
  // False: the same command refuses the newest checkpoint (--resume=never).
  bool same_command_resumes = true;
};

// "AUC 0.76249, logloss 0.50001, calibration 1.002 on 2000 examples". If the
// AUC comes from a histogram: "AUC 0.76249 ± 0.00001 (histogram), …", with the
// error rounded up.
std::string EvalText(const EvalReport& eval);

// The files of one purpose. Rows and batches are those of one pass over the
// pieces that were read to their end.
struct DataReport {
  uint64_t files = 0;  // 0: the job reads none, or it has not begun yet
  uint64_t bytes = 0;
  bool all_read = false;  // every piece was read: the counts below are final
  uint64_t rows = 0;      // in batches, so without bad rows
  uint64_t batches = 0;
  // Batches with fewer than batch_size rows: a piece ended. No batch spans
  // pieces.
  uint64_t short_batches = 0;
  uint32_t batch_size = 0;
  uint64_t read_bytes = 0;  // bytes of the pieces that were read
};

// A job in figures. The progress line, the closing lines and the summary file
// (docs/summary.md) are made of them. Samples are examples × epochs.
//
// The struct has many members, because each is a figure of its own that these
// outputs print; the parts of the coordinator fill them in (Fill).
struct JobReport {
  // False: the job only evaluates or predicts. Then it has no ledger, no steps
  // and no staleness.
  bool trains = true;
  bool started = false;  // all PSs and a worker were there
  // Before the first lease: the missing processes, as in "ps 1, worker 0".
  std::string waiting_for;
  bool over = false;      // `status` is decided; processes may still be leaving
  bool finished = false;  // all processes have left
  absl::Status status;    // OK, or the first failure, which names its process
  // If the job did not end well: the process that failed first, or that was
  // asked to stop, as in "ps 1"; empty: no single process.
  std::string first;
  bool stopped = false;  // the job ended because a process was asked to stop
  bool diverged = false;  // the job ended because training diverged

  DataReport train_data;
  DataReport eval_data;

  uint64_t samples = 0;      // to be trained, as far as is known (total_known)
  bool total_known = false;  // every piece of the data was read once
  double fraction_done = 0;  // share of the bytes of all epochs, for the ETA
  double fraction_before = 0;  // the part of fraction_done from a checkpoint
  uint64_t trained = 0;
  uint64_t rejected = 0;
  uint64_t lost = 0;
  // Rows of training and evaluation data that could not be parsed and are in no
  // batch. Each row counts once, however many epochs there are.
  uint64_t bad_rows = 0;
  // The first of them that were told: file, place and reason. At most
  // kNamedBadRows (core/session_messages.h).
  std::vector<std::string> named_bad_rows;

  uint32_t epoch = 0;   // the oldest epoch that is not complete, from 0
  uint32_t num_epochs = 1;
  uint64_t leases = 0;  // held by workers now
  int ps_alive = 0;
  // In a synchronous mode: the number of the present generation of workers, and
  // workers that were lost once the job had begun. 0 in other modes.
  uint64_t generations = 0;
  uint64_t ranks_lost = 0;
  int workers_planned = 0;

  uint64_t batches = 0;          // with all marks set: the job's step
  uint64_t mended = 0;           // parts on two shards from two forward passes
  uint64_t recomputed = 0;       // batches that more than one pass pushed
  uint64_t repeats_refused = 0;  // copies of batches, over all shards

  // Mean over the examples that each worker's newest heartbeat added.
  double loss = 0;
  // The workers' recent AUCs, weighted by their examples; 0: none yet.
  double progressive_auc = 0;
  double samples_per_second = 0;  // over the newest 5 seconds
  // From the first lease to the job's end, or to now while the job runs.
  absl::Duration wall;

  // The steady window, from the job's step warmup_steps to its last step.
  // Processor time at its two edges is interpolated between heartbeats.
  uint64_t steady_samples = 0;
  double steady_wall_seconds = 0;
  double steady_worker_cpu_seconds = 0;
  double steady_ps_cpu_seconds = 0;
  StateSeconds steady_seconds = {};  // of all workers
  PayloadBytes steady_worker_bytes;  // of all workers
  PayloadBytes steady_ps_bytes;      // of all PSs

  PayloadBytes worker_bytes;
  PayloadBytes ps_bytes;
  // Of all workers, after the warm-up; empty before the job is over.
  StepTimes step_times;
  // Empty before the job is over, and if it trained nothing.
  std::vector<CurvePoint> curve;

  Histogram staleness;
  std::vector<EvalReport> evals;  // in the order in which they were made
  EvalReport eval;                // the last of them
  std::optional<RunningEvaluation> evaluating;
  uint64_t predicted = 0;         // rows whose predictions were written
  uint64_t predicted_nan = 0;     // those of them that could not be parsed
  std::vector<WorkerReport> workers;
  std::vector<PsReport> ps;  // by member; ShardReports has each shard once
  CheckpointReport checkpoint;
  // Digest of the final model: the sum of the shards' digests, each shard once.
  uint64_t digest = 0;
};

// The members that speak for the shards, by shard: the first member of each. A
// replicated shard is there once. Valid as long as report.ps.
std::vector<const PsReport*> ShardReports(const JobReport& report);

// Ids of the shard that pulls were served, over all members that hold it.
uint64_t LookupsOfShard(const JobReport& report, int shard);

// "40 an epoch, 8 of them short (…); 812.0 rows in the mean". Empty if no batch
// is short.
std::string ShortBatchesText(const DataReport& data);
// A warning with the mean batch and what to do, such as which --piece_bytes
// holds 16 batches; empty unless many batches are short: the mean batch is
// below three quarters of the batch size.
std::string ShortBatchesWarning(const DataReport& data);

// The line `samples N = trained + rejected + lost; batches mended, recomputed,
// repeats refused`, with the numbers. If the job failed before all of its data
// was read once, N counts only the data that was read.
std::string LedgerLine(const JobReport& report);

// Samples a second from the first lease to the job's end, or to now: samples
// trained and rejected by this run, or scored if the job does not train.
double MeanSpeed(const JobReport& report);

// LedgerLine if the job trains, then a line each on speed, staleness and
// evaluation, as far as they are known. Ends with a newline. For people: the
// format is not stable.
std::string SummaryLines(const JobReport& report);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_JOB_REPORT_H_
