#ifndef SHOAL_COORDINATOR_JOB_START_H_
#define SHOAL_COORDINATOR_JOB_START_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cluster/job_files.h"
#include "cluster/loaded_marks.h"
#include "cluster/membership.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_phase.h"
#include "coordinator/training_book.h"
#include "core/ps_members.h"
#include "core/registration.h"
#include "core/session_messages.h"

namespace shoal {

// The start of a job: it brings every PS to its first state, tells the
// processes which PSs there are, and restores the book of a job that goes on
// from a checkpoint. Pure logic.
//
//   a PS:   loading --ShardLoaded, or the initial values--> has its state
//   marks:  missing --a PS has its state: MarkRunsRequest--> asked
//     --MarkRuns, the last part--> whole     (only where the job goes on)
//   book:   empty --StartRestoring--> restoring --Restore, one part an
//     event--> restored
//
// The marks of all PSs must be equal, so one PS sends them. If that PS goes
// before its marks are whole, another PS is asked. Thread-compatible.
class JobStart {
 public:
  // The job as it is now.
  struct View {
    const Membership& membership;
    JobPhase phase;
    uint64_t generation = 1;  // of the ranks; 1 in a job without ranks
  };

  explicit JobStart(const CoordinatorOptions& options);

  // Writes into the answer to a PS's registration where its state comes from.
  void Direct(RegisterReply* reply) const;

  // Every PS has a session and its state, and the marks are there if the job
  // goes on from them.
  bool AllPs(const Membership& membership) const;
  // AllPs, and every rank has a session if the workers are a ring: the view of
  // a ring has the addresses of all ranks.
  bool ViewIsDue(const Membership& membership) const;
  // The PSs that have their state.
  const LoadedMarks& loaded() const { return loaded_; }

  // A process has opened its session. Once ViewIsDue, the processes are told
  // the addresses.
  CoordinatorActions OnOpen(const Member& member, const View& view);
  // A PS is not in the job any more, and `view` is without it.
  CoordinatorActions OnGone(const Member& ps, const View& view);
  // A PS, a replica, was lost after the job had begun: the job goes on without
  // it.
  void OnReplicaLost(int member);
  // Sends the present view to all workers: a generation begins.
  CoordinatorActions SendViewToWorkers(const View& view) const;
  // Messages of a PS. Errors: INVALID_ARGUMENT (the PS broke the protocol). A
  // shard whose marks differ from another's ends the job.
  absl::StatusOr<JobEffects> OnLoaded(const Member& from,
                                      const ShardLoaded& message,
                                      const View& view);
  absl::StatusOr<JobEffects> OnMarks(const Member& from, MarkRuns message,
                                     const View& view);

  // The job goes on where a checkpoint left it, and does not merely begin with
  // the weights of one.
  bool goes_on() const { return goes_on_; }
  // Begins to restore the book. Errors: those of TrainingBook::StartRestoring.
  // REQUIRES: goes_on() and loaded().all().
  absl::Status StartRestoring(const FileList& files, TrainingBook* book);
  // Restores as much as one event may take. True: the book is restored.
  // Otherwise a ContinueAction asks for the next event. Errors: those of
  // TrainingBook::Restore.
  absl::StatusOr<bool> Restore(TrainingBook* book, CoordinatorActions* actions);
  // The answer to a ContinueAction has come.
  void OnContinue() { continues_ = false; }

 private:
  void AskForMarks(const View& view, CoordinatorActions* actions);
  ClusterView ViewOf(const View& view) const;
  void SendViews(const View& view, CoordinatorActions* actions);

  const PsMembers ps_;
  int num_ps_;  // those that are not lost
  const int ring_ranks_;  // 0: the workers are no ring
  const uint32_t num_epochs_;
  const CheckpointOptions checkpoints_;
  const bool goes_on_;
  const std::string mode_change_;  // for the log
  LoadedMarks loaded_;
  bool continues_ = false;  // a ContinueAction has no answer yet
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_START_H_
