#ifndef SHOAL_COORDINATOR_JOB_CLOCK_H_
#define SHOAL_COORDINATOR_JOB_CLOCK_H_

#include <cstddef>
#include <optional>

#include "absl/time/time.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_phase.h"
#include "core/patient_time.h"

namespace shoal {

// A wait that has passed its deadline.
enum class Overdue {
  kServers,   // for all PSs, with their state
  kHosts,     // for workers, where files are by host or there are lanes
  kWorker,    // for any worker
  kProgress,  // for a mark, a piece read or a score
  kReport     // for the shards' reports
};

// The time of a job, and all its deadlines but those of checkpoints
// (save_policy.h, cluster/checkpoint_saver.h). Pure logic: the owner tells what
// has happened, and asks what is overdue.
//
// Deadlines go by a patient time (core/patient_time.h), in which the span
// between two events counts as one heartbeat interval at most: a coordinator
// that was itself frozen takes no process for late or dead. Thread-compatible.
class JobClock {
 public:
  // At `now` the job begins to gather its processes.
  JobClock(const CoordinatorOptions& options, absl::Time now);

  // To be called before every event.
  void Advance(absl::Time clock) { patience_.Advance(clock); }
  // The clock's time at the newest Advance: for people and rates.
  absl::Time clock() const { return patience_.clock(); }
  // The patient time: for deadlines.
  absl::Time now() const { return patience_.now(); }

  // A phase begins, which counts as progress.
  void BeginPhase() { phase_began_ = progress_seen_ = now(); }
  // There is a new mark, a piece was read, a row was scored, or training goes
  // on after a checkpoint.
  void SeeProgress() { progress_seen_ = now(); }
  // A PS fetches the files of the checkpoint and is not done yet: the time in
  // which all PSs must come begins anew.
  void SeeFetch() { start_seen_ = now(); }
  // A worker's session is open.
  void SeeWorker() { worker_seen_ = now(); }

  // To be called after every event while the job gathers. `all_ps`: all PSs are
  // there with their state. True: the job may begin, since all expected workers
  // are there, or a worker has waited for the others for worker_grace. If files
  // are by host, or the job has lanes, all expected workers must be there.
  bool Gather(bool all_ps, size_t workers);
  // As of the newest Gather, all PSs and a worker are there.
  bool gathered() const { return gathered_since_.has_value(); }
  // The time left for PSs to come.
  absl::Duration LeftToStart() const;

  // The first overdue wait of this phase, if any. `all_ps` is as in Gather.
  std::optional<Overdue> Check(JobPhase phase, bool all_ps) const;
  // In kEnding: the time for Byes is over.
  bool LingerOver() const { return now() - phase_began_ >= linger_; }

 private:
  const size_t num_workers_;
  const bool all_must_come_;  // some files are by host, or there are lanes
  const absl::Duration start_deadline_;
  const absl::Duration worker_grace_;
  const absl::Duration progress_deadline_;
  const absl::Duration report_deadline_;
  const absl::Duration linger_;

  PatientTime patience_;
  // The times below are patient.
  absl::Time start_seen_;  // the job's start, or the newest SeeFetch
  absl::Time worker_seen_;
  absl::Time progress_seen_;
  absl::Time phase_began_;
  std::optional<absl::Time> gathered_since_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_CLOCK_H_
