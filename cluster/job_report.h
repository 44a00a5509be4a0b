#ifndef SHOAL_CLUSTER_JOB_REPORT_H_
#define SHOAL_CLUSTER_JOB_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/histogram.h"
#include "core/parameter_service.h"

namespace shoal {

struct WorkerReport {
  int index = 0;
  bool alive = false;
  // Acknowledged by all shards, over its lives; of a killed life, as of its
  // last heartbeat. The workers' sum counts recomputed batches each time, so
  // it can differ from `trained`.
  uint64_t samples = 0;
  double cpu_seconds = 0;
  uint64_t peak_rss_bytes = 0;
  // Rows that it was the first to score, over all evaluations or in an
  // inference: over the workers each row counts once an evaluation.
  uint64_t scored = 0;
};

struct PsReport {
  int index = 0;
  std::string address;
  double cpu_seconds = 0;
  uint64_t peak_rss_bytes = 0;
  StatsReply stats;  // at the job's end
};

struct EvalReport {
  double auc = 0.5;
  double logloss = 0;
  uint64_t examples = 0;  // 0: no evaluation
  // Mean predicted probability over mean label; 0: no label is 1.
  double calibration = 0;
  bool exact_auc = true;
  double auc_error = 0;  // the exact one is at most this far from `auc`
  // What had been trained: epochs, and batches with all marks.
  uint32_t epoch = 0;
  uint64_t step = 0;
  // By worker's index; their sum is `examples`.
  std::map<int, uint64_t> examples_of_worker;
};

// The checkpoints of a job.
struct CheckpointReport {
  std::string path;   // of the newest that this job has saved; empty: none
  uint64_t step = 0;  // of it
  // That training stood still for it, and for all together.
  double seconds = 0;
  double all_seconds = 0;
  uint64_t saved = 0;            // checkpoints
  uint64_t voided = 0;           // attempts that became none
  std::string last_error;        // why the newest of those was void
  std::string resumed_from;      // path of the one that the job began from
  uint64_t resumed_step = 0;     // of it
  uint64_t resumed_samples = 0;  // trained and rejected by then
};

// "AUC 0.76249, logloss 0.50001, calibration 1.002 on 2000 examples"; of an AUC
// from a histogram "AUC 0.76249 ± 0.00001 (histogram), …", its error rounded
// up.
std::string EvalText(const EvalReport& eval);

// A job in figures: what the progress line, the closing lines and the summary
// file (docs/summary.md) are made of. Samples are examples × epochs.
struct JobReport {
  // False: the job evaluates or predicts alone. It has no ledger, no steps and
  // no staleness.
  bool trains = true;
  bool started = false;  // all PSs and a worker were there
  // Before the first lease: whom the job waits for, as in "ps 1, worker 0".
  std::string waiting_for;
  bool over = false;      // `status` is decided; processes may still be leaving
  bool finished = false;  // they have left
  absl::Status status;    // OK, or the first failure, which names its process
  // Of a job that did not end well: the process that failed first, or that was
  // asked to stop, as in "ps 1"; empty: no single one.
  std::string first;
  bool stopped = false;  // the job ended because a process was asked to stop

  uint64_t samples = 0;      // to be trained, as far as is known (total_known)
  bool total_known = false;  // every piece of the data was read once
  double fraction_done = 0;  // of the bytes of all epochs, for the ETA
  double fraction_before = 0;  // of it, that a checkpoint brought
  uint64_t trained = 0;
  uint64_t rejected = 0;
  uint64_t lost = 0;
  // Could not be parsed; in no batch. Each row counts once, however many
  // epochs; of training and evaluation data.
  uint64_t bad_rows = 0;
  std::string first_bad_row;  // file, place and reason; empty: there is none

  uint32_t epoch = 0;   // of the oldest piece that is leased, from 0
  uint64_t leases = 0;  // held by workers now
  int ps_alive = 0;

  uint64_t batches = 0;          // with all marks set: the job's step
  uint64_t mended = 0;           // parts on two shards from two forward passes
  uint64_t recomputed = 0;       // batches that more than one pass pushed
  uint64_t repeats_refused = 0;  // pushes refused as repeats, all shards

  // Mean over the examples that each worker's newest heartbeat told of.
  double loss = 0;
  // The workers' recent AUCs, weighted by their examples; 0: none yet.
  double progressive_auc = 0;
  double samples_per_second = 0;  // over the newest 5 seconds
  // From the first lease to the job's end; to now while it runs.
  absl::Duration wall;

  // From the job's step warmup_steps to its last; processor time at these two
  // moments is interpolated between heartbeats.
  uint64_t steady_samples = 0;
  double steady_wall_seconds = 0;
  double steady_worker_cpu_seconds = 0;
  double steady_ps_cpu_seconds = 0;

  Histogram staleness;
  std::vector<EvalReport> evals;  // in the order in which they were made
  EvalReport eval;                // the last of them
  uint64_t predicted = 0;         // rows whose predictions were written
  uint64_t predicted_nan = 0;     // of them, rows that could not be parsed
  std::vector<WorkerReport> workers;
  std::vector<PsReport> ps;
  CheckpointReport checkpoint;
  uint64_t digest = 0;  // of the final model, sum of the shards'
};

// `samples N = trained + rejected + lost; batches mended, recomputed, repeats
// refused`, with the numbers; of a job that failed before all of its data was
// read once, N is of what was.
std::string LedgerLine(const JobReport& report);

// Samples a second from the first lease to the job's end, or to now: trained
// and rejected by this run, or scored if there are none of these.
double MeanSpeed(const JobReport& report);

// The ledger's line if the job trains, then a line each for what is known of
// speed, staleness and evaluation. Ends with a newline. For people: not stable.
std::string SummaryLines(const JobReport& report);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_JOB_REPORT_H_
