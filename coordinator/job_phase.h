#ifndef SHOAL_COORDINATOR_JOB_PHASE_H_
#define SHOAL_COORDINATOR_JOB_PHASE_H_

namespace shoal {

// Where a job is, in this order but for the way from an evaluation back to
// training; see coordinator_state.h.
enum class JobPhase {
  kGathering,  // processes come and go, and nothing depends on them yet
  kRestoring,  // what a checkpoint says is read, some of it at an event
  kTraining,
  kEvaluating,
  kReporting,
  kEnding,
  kFinished
};

// Workers are given leases.
inline bool Leases(JobPhase phase) {
  return phase == JobPhase::kTraining || phase == JobPhase::kEvaluating;
}

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_PHASE_H_
