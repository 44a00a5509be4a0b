#ifndef SHOAL_COORDINATOR_JOB_STEPS_H_
#define SHOAL_COORDINATOR_JOB_STEPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
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
  // `ranks` are the lives of the workers of the first generation, by rank.
  // REQUIRES: backup_workers < ranks.size().
  JobSteps(std::vector<Life> ranks, uint32_t backup_workers);

  // The job as it is now.
  struct View {
    const Membership& membership;
    std::vector<int> open_lanes;  // LaneTable::open_lanes
    uint64_t complete = 0;        // LedgerTotals::batches
  };
  static View ViewOf(const Membership& membership, const TrainingBook& book) {
    return {membership, book.open_lanes(), book.totals().batches};
  }

  // Messages of a PS. Errors: INVALID_ARGUMENT (the PS broke the protocol: it
  // is not PS 0, or a step or batch that cannot be). In the first generation, a
  // push of a worker that is no rank ends the job. Later it is ignored, and so
  // is every push between two generations.
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

  // The generation ends: no further step is closed. Returns the batches of the
  // newest closed step whose worker is among `lost` (NewGeneration::lost). May
  // be called again before the next generation begins.
  std::vector<BatchId> EndGeneration(absl::Span<const Life> lost);
  // Every PS has applied `steps` steps and sent all its marks: the next
  // generation begins, of these ranks. REQUIRES: EndGeneration was called;
  // backup_workers < ranks.size().
  void BeginGeneration(std::vector<Life> ranks, uint32_t backup_workers,
                       uint64_t steps);
  // The steps that were closed, all of which every PS applies.
  uint64_t steps() const { return closer_.open_step() - 1; }

  // Closes the steps that can be closed. To be called after every event.
  CoordinatorActions Step(const View& view);

  // Batches of the steps that were closed in this generation. Each of them will
  // have a mark of every PS, unless the generation ends before.
  uint64_t closed_batches() const { return closed_batches_; }
  // True if all of them have their marks in the book of the job, as for
  // LaneTable::NeedsDeal.
  bool Settled(const TrainingBook& book) const {
    return closed_batches_ == 0 ||
           complete_before_ + closed_batches_ == book.totals().batches;
  }
  // As StepCloser::WaitingFor.
  std::string WaitingFor(const View& view) const {
    return closer_.WaitingFor({view.open_lanes});
  }

 private:
  StepCloser closer_;
  uint64_t closed_batches_ = 0;
  // The complete batches of the job before the first of them was closed.
  uint64_t complete_before_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_STEPS_H_
