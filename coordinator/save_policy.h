#ifndef SHOAL_COORDINATOR_SAVE_POLICY_H_
#define SHOAL_COORDINATOR_SAVE_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cluster/checkpoint_saver.h"
#include "cluster/job_report.h"
#include "coordinator/checkpoint_options.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_phase.h"

namespace shoal {

// Decides when a job saves a checkpoint, and what the outcome means to the job.
// Pure logic beside CheckpointSaver, which knows how a checkpoint is saved. The
// owner drives both.
//
// A checkpoint is due at every save_steps-th step, save_every after the last
// save ended, for a request, for a stop, and at the end of training. Requests
// that come while a save is under way wait for the next save. While training
// looks as if it diverges, only requests, stops and the end are saved.
//
//   the end:  open --everything is trained--> awaited --its save is over, or
//     a disk has had its time--> settled
//   a stop:   none --Stop--> saving --its save is over, or a disk has had its
//     time--> the job ends
//   in both:  --its save failed for want of space (RESOURCE_EXHAUSTED), and
//     there is time for another try--> retry_pause later another save is due
//
// A save is the save of the end, or of a stop, if nothing was trained since its
// cut. A disk that hangs voids no checkpoint (the saver's kSyncing), but a job
// does not wait for it for ever: at its end it waits for the checkpoints'
// deadline again, at a stop until the stop's deadline. Thread-compatible.
class SavePolicy {
 public:
  // The job, and the saver beside it, as they are now.
  struct View {
    JobPhase phase = JobPhase::kGathering;
    uint64_t step = 0;     // batches with all marks
    bool trained = false;  // every batch has all marks
    bool busy = false;     // CheckpointSaver::busy
    bool late = false;     // CheckpointSaver::late
    bool sound = true;     // LeasedWork::sound
  };

  explicit SavePolicy(const CheckpointOptions& options);

  // The job goes on from a checkpoint of `step`, with `samples` trained and
  // rejected.
  void GoOnFrom(uint64_t step, uint64_t samples);

  // A checkpoint is requested; `request` names the answer. The request is
  // refused with FAILED_PRECONDITION (the job saves no checkpoints, has not
  // begun to train, is ending, or a disk hangs) or RESOURCE_EXHAUSTED (too many
  // wait).
  JobEffects Request(uint64_t request, const View& view);
  // The job is to end with `reason`, after a save if it can make one, and with
  // ABORTED if its last checkpoint was not saved. `first`: the process that was
  // asked to stop (JobReport::first).
  JobEffects Stop(const absl::Status& reason, std::string first,
                  const View& view, absl::Time now);
  // When the job is to stop, or InfiniteFuture. Saves are hurried by this
  // deadline.
  absl::Time stop_deadline() const;

  // To be called after every event. True if a save has to begin now.
  bool Due(const View& view, absl::Time now);
  // Everything is trained. True if the save of the end has to begin now.
  bool EndDue(const View& view, absl::Time now);
  // True once the job may go on to its end: the end of training is saved, or is
  // not going to be.
  bool settled() const { return settled_; }
  // OK, or why the end is not saved. REQUIRES: settled().
  const absl::Status& end_status() const { return end_status_; }

  // A save begins. It will answer the requests that wait.
  void Begin();
  // The save's checkpoint is of this step. `sound`: training did not look as if
  // it diverged.
  void OnCut(uint64_t step, bool sound) {
    cut_step_ = step;
    cut_sound_ = sound;
  }
  // The disks of the save under way are late. `trains`: training goes on.
  JobEffects OnLate(const SaverLate& late, bool trains);
  // The save was given up because the workers change. It is due again, and
  // answers the same requests.
  JobEffects OnInterrupted(const SaverDone& done);
  // The save is over.
  JobEffects OnDone(const SaverDone& done, const View& view, absl::Time now);
  // Training diverged after this step: notes the newest checkpoint of that step
  // or before, of those that are kept, in the report. Only a checkpoint that
  // was sound when it was saved is named: of this job, or the one that the job
  // began from, or CheckpointOptions::sound_path while this job has saved none.
  void OnDiverged(uint64_t step);
  // To be called after every event while no save can begin, since the workers
  // of the job change: ends a job that was to stop by now.
  JobEffects StepWithoutSave(const View& view, absl::Time now);
  // To be called after every event while the disks are late: ends the wait of a
  // stop or of the end once it was long enough. REQUIRES: view.late.
  JobEffects Step(const View& view, absl::Time now);

  // The job is ending and gives up the save under way: why its checkpoint is
  // void.
  absl::Status Ending(const View& view) const;
  // Answers the requests that wait for a save that will not come.
  JobEffects RefuseAll();

  const CheckpointReport& report() const { return report_; }

 private:
  struct Stopping {
    absl::Status reason;
    std::string first;
    absl::Time deadline;
  };

  // A checkpoint, as far as it is in the model directory.
  struct Kept {
    std::string path;
    uint64_t step = 0;
    bool sound = true;
  };

  void Keep(Kept kept);
  void Count(const SaverDone& done, uint64_t step, const std::string& path,
             JobEffects* effects);
  // The last save of the job ended with this status. True if it is tried again.
  bool TriesAgain(const absl::Status& status, absl::Time now,
                  JobEffects* effects);
  // Ends the job that was asked to stop, with this status.
  void EndStopped(absl::Status status, JobEffects* effects) const;
  absl::Status Lost(absl::string_view why) const;
  // `reason`, or ABORTED if the end of training is not saved.
  absl::Status WithEndFailure(const absl::Status& reason) const;

  const bool saves_;
  const std::string model_dir_;
  const uint64_t every_;  // steps between checkpoints; 0: not counted
  const absl::Duration interval_;  // time between checkpoints; 0: not counted
  const absl::Duration deadline_;
  const absl::Duration stop_time_;
  const absl::Duration retry_for_;
  const absl::Duration retry_pause_;
  const size_t keep_;  // number of checkpoints that are kept

  uint64_t next_step_;                       // when the next checkpoint is due
  // When training began or the last save ended, whichever is later.
  std::optional<absl::Time> interval_began_;
  // When the first of the last save's failures for want of space came, and when
  // the next try is due.
  std::optional<absl::Time> full_since_;
  absl::Time retry_at_ = absl::InfinitePast();
  bool interrupted_ = false;                 // the last save: it is due again
  std::vector<uint64_t> requests_;           // for the next save
  std::vector<uint64_t> being_saved_;        // for the save under way
  std::optional<uint64_t> cut_step_;         // step of the save under way
  bool cut_sound_ = true;                    // OnCut
  std::string late_;                         // what the late save waits for
  std::optional<absl::Time> awaited_since_;  // since when the end is awaited
  bool settled_;
  absl::Status end_status_;
  std::optional<Stopping> stop_;
  std::vector<Kept> kept_;  // the newest that are kept, the oldest first
  Kept older_;              // sound_path and its step
  CheckpointReport report_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_SAVE_POLICY_H_
