#ifndef SHOAL_COORDINATOR_JOB_GENERATIONS_H_
#define SHOAL_COORDINATOR_JOB_GENERATIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cluster/job_report.h"
#include "cluster/membership.h"
#include "coordinator/coordinator_actions.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_start.h"
#include "coordinator/job_steps.h"
#include "coordinator/training_book.h"
#include "core/generation_messages.h"
#include "core/ids.h"
#include "core/session_messages.h"

namespace shoal {

// A rank of the present generation; its number is its place in the list.
struct JobRank {
  int index = 0;  // of the worker
  Life life;
};

// The generations of a job whose workers are the ranks of a synchronous mode
// (docs/decisions/0032-generations.md): when the ranks change, and what every
// process has to answer before the job goes on. Pure logic.
//
//   steady --a rank is lost, a worker has joined, the ring broke: End--> ending
//   ending --all workers, and all PSs that apply steps, are ready--> settling
//     in a ring: ending --every worker is ready--> levelling
//       levelling --every replica is level--> settling
//   settling --every mark is in the job's books--> steady
//     beside a ring: and every server has ended the leases that there were,
//     which it is told after ending. So it has told the marks of all of them
//   any of them --a rank is lost, or a worker has joined: End--> ending
//
// Each End has a higher number, and answers to an earlier number count for
// nothing. Only in the steady state the owner deals batches and grants leases.
//
//   generations.OnLost(worker);  // or OnJoined, OnBroken
//   if (generations.EndIsDue(now, holds)) {
//     ... give up the save, drop all leases ...
//     Perform(generations.End(view));
//   }
//   Perform(generations.Step(view));
//
// A process that does not answer is lost when it is silent. One that is alive
// and does not answer holds up the job until its deadline for progress, whose
// error says what is waited for (WaitingFor). Without a worker the job waits
// for one. Thread-compatible.
class JobGenerations {
 public:
  // The job as it is now.
  struct View {
    const Membership& membership;
    const TrainingBook& book;
    const JobStart& start;
    JobPhase phase;
    absl::Time now;  // patient time, as all deadlines
    JobSteps* steps = nullptr;  // null: PSs apply each push on its own
    uint64_t newest_lease = 0;  // GenerationBegan::leases
  };

  // The time in which a loss may be noticed that explains a broken ring, and
  // the number of breaks in a row after which the job ends.
  static constexpr absl::Duration kBreakPause = absl::Seconds(1);
  static constexpr int kMostBreaks = 3;

  // The first generation: its ranks are the workers of the job, and it is
  // steady.
  JobGenerations(const CoordinatorOptions& options,
                 const Membership& membership);

  // Of the newest generation, which may not have begun yet.
  uint64_t number() const { return number_; }
  const std::vector<JobRank>& ranks() const { return ranks_; }
  bool steady() const { return state_ == State::kSteady; }

  // The worker's life is over, and the worker has opened its session.
  void OnLost(const Member& worker);
  void OnJoined(const Member& worker);
  // Messages. A message of an earlier generation is ignored. Errors:
  // INVALID_ARGUMENT (the process broke the protocol).
  absl::StatusOr<JobEffects> OnReady(const Member& from,
                                     const GenerationReady& message);
  absl::StatusOr<JobEffects> OnLevel(const Member& from,
                                     const ReplicaLevel& message);
  // The job ends (FAILED_PRECONDITION) if the ring broke so often in a row
  // though no rank was lost.
  absl::StatusOr<JobEffects> OnBroken(const Member& from,
                                      const RingBroken& message,
                                      const View& view);
  // True if the process has not answered the newest NewGeneration.
  bool Awaits(Life life) const { return pending_.count(life) != 0; }
  // True if the message is about leases of the last generation, which are over.
  bool Ignores(const Member& from, const ProcessMessage& message) const;

  // True if the generation has to end now. `holds`: the workers stand still for
  // a save, which a worker that has joined need not spoil.
  bool EndIsDue(absl::Time now, bool holds) const;
  // Ends the generation: its ranks from now on are the workers with an open
  // session. REQUIRES: all leases are dropped, and no save holds a process.
  CoordinatorActions End(const View& view);
  // Goes on as far as possible. To be called after every event. The job ends
  // (DATA_LOSS) if PSs or replicas do not have the same steps.
  JobEffects Step(const View& view);

  // The answers that the change of ranks waits for, for people; "" if there is
  // none: "worker 1, ps 0 to end the step that was open".
  std::string WaitingFor(const View& view) const;
  // Fills in generations and ranks_lost.
  void Fill(JobReport* report) const;

 private:
  enum class State { kSteady, kEnding, kLevelling, kSettling };
  struct Broken {
    absl::Time since;
    std::string what;
  };

  bool IsRank(Life life) const;
  // The number of backup workers that fits the ranks.
  uint32_t BackupWorkers(CoordinatorActions* actions);
  void BeginNext(const View& view, JobEffects* effects);
  void BeginSteps(const View& view, JobEffects* effects);
  // The servers beside a ring end the leases of the generations before.
  void EndLeases(const View& view, JobEffects* effects);
  absl::Status CheckLevels() const;
  // The marks of the worker's replica are in the book.
  bool HasMarks(const JobRank& rank, const View& view) const;
  bool Settled(const View& view) const;

  const PsMembers ps_;
  const bool ring_;
  const uint32_t backup_workers_;
  uint32_t newest_backup_;  // BackupWorkers of the newest generation
  State state_ = State::kSteady;
  uint64_t number_ = 1;
  std::vector<JobRank> ranks_;

  uint64_t ranks_lost_ = 0;

  // The change that is due.
  bool lost_due_ = false;
  bool join_due_ = false;
  std::optional<Broken> broken_;

  // The change under way.
  std::optional<absl::Time> changing_since_;
  std::vector<Life> lost_;           // since the newest generation that began
  // Not ready: those of the ending, and after it the servers beside a ring.
  std::set<Life> pending_;
  std::map<int, uint64_t> steps_;    // GenerationReady::steps, by PS
  std::map<Life, uint64_t> levels_;  // ReplicaLevel::batches

  // The ring's breaks in a row, and the job's step at the newest one.
  int breaks_ = 0;
  uint64_t broken_at_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_GENERATIONS_H_
