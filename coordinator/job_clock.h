#ifndef SHOAL_COORDINATOR_JOB_CLOCK_H_
#define SHOAL_COORDINATOR_JOB_CLOCK_H_

#include <cstddef>
#include <optional>

#include "absl/time/time.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_phase.h"
#include "core/patient_time.h"

namespace shoal {

// What a job has waited for too long.
enum class Overdue {
  kServers,   // all PSs, with their state
  kHosts,     // the workers whose files no other worker has
  kWorker,    // any worker
  kProgress,  // a mark, a piece read or a score
  kReport     // the shards' reports
};

// The time of a job, and all that it waits for with a deadline, but for a
// checkpoint's (save_policy.h, checkpoint_saver.h). Pure logic: the owner says
// what has happened, and asks what is overdue.
//
// Deadlines go by a patient time (core/patient_time.h): a coordinator that was
// itself frozen takes no process for late. Thread-compatible.
class JobClock {
 public:
  // It is `now`, and the job begins to gather its processes.
  JobClock(const CoordinatorOptions& options, absl::Time now);

  // Before every event.
  void Advance(absl::Time clock) { patience_.Advance(clock); }
  // What the clock said last: for people and rates.
  absl::Time clock() const { return patience_.clock(); }
  // The patient time: for deadlines.
  absl::Time now() const { return patience_.now(); }

  // A phase begins, which counts as progress.
  void BeginPhase() { phase_began_ = progress_seen_ = now(); }
  // There is a new mark, a piece was read, a row was scored, or training stood
  // still for a reason that is over.
  void SeeProgress() { progress_seen_ = now(); }
  // A worker's session is open.
  void SeeWorker() { worker_seen_ = now(); }

  // While the job gathers, after every event: whether all PSs are there with
  // their state, and how many workers. True: the job may begin, since all
  // workers are there that it expects, or one has waited for the others for
  // worker_grace. Where files are the workers' own, all must be there.
  bool Gather(bool all_ps, size_t workers);
  // As of the last Gather, all PSs and a worker are there.
  bool gathered() const { return gathered_since_.has_value(); }
  // How long a PS may take to come, from now.
  absl::Duration LeftToStart() const;

  // The first thing that the job waits for in this phase and that has not come
  // in time, if any. `all_ps` is as in Gather.
  std::optional<Overdue> Check(JobPhase phase, bool all_ps) const;
  // In kEnding: Byes have had their time.
  bool LingerOver() const { return now() - phase_began_ >= linger_; }

 private:
  const size_t num_workers_;
  const bool host_files_;
  const absl::Duration start_deadline_;
  const absl::Duration worker_grace_;
  const absl::Duration progress_deadline_;
  const absl::Duration report_deadline_;
  const absl::Duration linger_;

  PatientTime patience_;
  // What follows is in patient time.
  const absl::Time start_;
  absl::Time worker_seen_;
  absl::Time progress_seen_;
  absl::Time phase_began_;
  std::optional<absl::Time> gathered_since_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_CLOCK_H_
