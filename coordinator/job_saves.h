#ifndef SHOAL_COORDINATOR_JOB_SAVES_H_
#define SHOAL_COORDINATOR_JOB_SAVES_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cluster/checkpoint_saver.h"
#include "cluster/membership.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_manifests.h"
#include "coordinator/job_phase.h"
#include "coordinator/job_steps.h"
#include "coordinator/lease_desk.h"
#include "coordinator/save_policy.h"
#include "coordinator/training_book.h"

namespace shoal {

// The checkpoints of a job: SavePolicy decides when a checkpoint is saved,
// CheckpointSaver how, and JobManifests what the manifest says. JobSaves gives
// the three their views, and turns what they want into effects. Pure logic; the
// states are those of the three. Thread-compatible.
class JobSaves {
 public:
  // The job as it is now.
  struct View {
    const Membership& membership;
    const TrainingBook& book;
    LeaseDesk& desk;  // numbers the leases that a save needs
    JobPhase phase;
    absl::Time now;    // patient time, as all deadlines
    absl::Time clock;  // for people
    bool sound = true;  // LeasedWork::sound
    // The steps of the job, which come to a hold before its workers; null: PSs
    // apply each push on its own.
    JobSteps* steps = nullptr;
    // The workers of the job change: no save begins before they have changed.
    bool changing = false;
  };

  explicit JobSaves(const CoordinatorOptions& options);

  // The job goes on from its checkpoint, and `book` is restored.
  void GoOnFrom(const TrainingBook& book);

  // As in SavePolicy.
  JobEffects Request(uint64_t request, const View& view);
  JobEffects Stop(const absl::Status& reason, std::string first,
                  const View& view);
  // Everything is trained: saves the checkpoint of the end, unless it is
  // settled or an earlier save is under way.
  JobEffects SaveEnd(const View& view);
  // As in SavePolicy.
  void OnDiverged(uint64_t step) { policy_.OnDiverged(step); }
  bool settled() const { return policy_.settled(); }
  const absl::Status& end_status() const { return policy_.end_status(); }

  // To be called after every event.
  JobEffects Step(const View& view);
  // The workers of the job change, as CheckpointSaver::Interrupt. A save that
  // is given up for that is due again.
  JobEffects Interrupt(const View& view);
  // True if the workers stand still, or are to stand still, for a save.
  bool holds() const { return saver_.holds(); }
  // The job is ending: gives up the save under way and answers all requests.
  JobEffects End(const View& view);

  // As in CheckpointSaver.
  bool withholds() const { return saver_.withholds(); }
  void OnHeld(const Member& from, const Held& m) { saver_.OnHeld(from, m); }
  void OnWritten(const Member& from, const ShardWritten& written) {
    saver_.OnWritten(from, written);
  }
  void OnSaved(const Member& from, ShardSaved& saved) {
    saver_.OnSaved(from, saved);
  }
  void OnLeaseEnd(uint64_t lease, const absl::Status& status) {
    saver_.OnLeaseEnd(lease, status);
  }
  // The answer to a CommitAction.
  void OnCommitted(uint64_t number, absl::StatusOr<ManifestText> manifest);

  ManifestPart Answer(const ManifestRequest& request) const {
    return manifests_.Answer(request);
  }
  const CheckpointReport& report() const { return policy_.report(); }
  // As in CheckpointSaver.
  std::string writing() const { return saver_.writing(); }

 private:
  SavePolicy::View PolicyView(const View& view) const;
  void Begin(const View& view, JobEffects* effects);
  // Calls `use` with the saver's view, and performs the actions it returns.
  void Drive(const View& view, JobEffects* effects,
             absl::FunctionRef<SaverActions(const CheckpointSaver::View&)> use);
  void Perform(SaverActions actions, const View& view, JobEffects* effects);
  // One for each action of the saver.
  void Do(SaverHoldSteps& hold, const View& view, JobEffects* effects);
  void Do(SaverSend& send, const View& view, JobEffects* effects);
  void Do(SaverMend& mend, const View& view, JobEffects* effects);
  void Do(SaverCut& cut, const View& view, JobEffects* effects);
  void Do(SaverReleased& released, const View& view, JobEffects* effects);
  void Do(SaverLate& late, const View& view, JobEffects* effects);
  void Do(SaverCommit& commit, const View& view, JobEffects* effects);
  void Do(SaverDone& done, const View& view, JobEffects* effects);

  const CoordinatorOptions options_;
  CheckpointSaver saver_;
  SavePolicy policy_;
  JobManifests manifests_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_SAVES_H_
