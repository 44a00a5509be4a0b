#ifndef SHOAL_COORDINATOR_JOB_STEPS_H_
#define SHOAL_COORDINATOR_JOB_STEPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cluster/membership.h"
#include "cluster/step_closer.h"
#include "coordinator/coordinator_actions.h"
#include "coordinator/job_effects.h"
#include "coordinator/training_book.h"
#include "core/ids.h"
#include "core/step_messages.h"

namespace shoal {

// The steps of a job whose PSs apply the pushes of a step as one: turns the
// messages of PS 0 into events of the StepCloser, and the closer's actions into
// messages to every PS. Pure logic; the states are those of StepCloser. A job
// has this part only if CoordinatorOptions::backup_workers is set.
//
//   JobSteps steps(ranks, backup_workers);
//   steps.OnParked(ps0, message);
//   Perform(steps.Step({membership, open_lanes}));
//
// A batch that came too late for its step has no mark, so the lanes' table
// deals it again. Thread-compatible.
class JobSteps {
 public:
  // `ranks` are the lives of the workers, by rank; they stay the same.
  // REQUIRES: backup_workers < ranks.size().
  JobSteps(std::vector<Life> ranks, uint32_t backup_workers);

  // The job as it is now.
  struct View {
    const Membership& membership;
    std::vector<int> open_lanes;  // LaneTable::open_lanes
  };
  static View ViewOf(const Membership& membership, const TrainingBook& book) {
    return {membership, book.open_lanes()};
  }

  // Messages of a PS. Errors: INVALID_ARGUMENT (the PS broke the protocol: it
  // is not PS 0, or a step or batch that cannot be). A push of a worker that is
  // no rank ends the job.
  absl::StatusOr<JobEffects> OnParked(const Member& from,
                                      const StepParked& message);
  absl::StatusOr<JobEffects> OnTakenOut(const Member& from,
                                        const StepTakenOut& message);

  // Asks for a hold: no step is closed after the next one, and no push is in
  // flight once the workers stand still. REQUIRES: no hold is asked for.
  CoordinatorActions Hold(const View& view);
  // The hold is reached: no step is closed until Release.
  bool held() const { return closer_.held(); }
  // Ends the hold, whether it was reached or not, and goes on as Step does.
  CoordinatorActions Release(const View& view);

  // Closes the steps that can be closed. To be called after every event.
  CoordinatorActions Step(const View& view);

  // Batches of the steps that were closed. Each of them will have a mark of
  // every PS.
  uint64_t closed_batches() const { return closed_batches_; }
  // True if all of them have their marks in the book of the job, as for
  // LaneTable::NeedsDeal.
  bool Settled(const TrainingBook& book) const {
    return book.restored_batches() + closed_batches_ == book.totals().batches;
  }
  // As StepCloser::WaitingFor.
  std::string WaitingFor(const View& view) const {
    return closer_.WaitingFor({view.open_lanes});
  }

 private:
  StepCloser closer_;
  uint64_t closed_batches_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_STEPS_H_
