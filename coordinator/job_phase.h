#ifndef SHOAL_COORDINATOR_JOB_PHASE_H_
#define SHOAL_COORDINATOR_JOB_PHASE_H_

namespace shoal {

// The phases of a job, in this order, except that an evaluation may go back to
// training; see coordinator_state.h.
enum class JobPhase {
  kGathering,  // processes come and go, and nothing depends on them yet
  kRestoring,  // the pieces and marks of a checkpoint are read, in parts
  kTraining,
  kEvaluating,
  kReporting,
  kEnding,
  kFinished
};

// True if workers are given leases in this phase.
inline bool Leases(JobPhase phase) {
  return phase == JobPhase::kTraining || phase == JobPhase::kEvaluating;
}

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_PHASE_H_
