#ifndef SHOAL_PS_SHARD_STEP_SHARD_H_
#define SHOAL_PS_SHARD_STEP_SHARD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "core/generation_messages.h"
#include "core/parameter_service.h"
#include "core/step_messages.h"
#include "ps/shard/parameter_shard.h"
#include "ps/shard/step_gather.h"
#include "ps/shard/step_sum.h"

namespace shoal {

// A shard of --mode=sync: a ParameterShard whose pushes are applied step by
// step. It parks each push until the coordinator has closed the push's step and
// all pushes of the step are there. It then makes one push of them
// (step_sum.h), which the shard takes on its usual way (check, reserve, marks,
// apply, mark), and answers all of them with the shard's verdict. step_gather.h
// decides; this class keeps the calls.
//
//   auto steps = std::make_shared<StepShard>(options, shard, executor, tell);
//   service = steps;                                // for the workers
//   steps->Close(closed);                           // from the coordinator
//   for (StepReport& report : steps->TakeReports()) Send(std::move(report));
//
// A push is checked when it comes, so that a step cannot fail for one of its
// pushes. Its spans are read when the step is applied, not copied. At its
// timeout a parked push is taken out whole and answered DEADLINE_EXCEEDED; a
// copy of it parks anew. If the step was closed with it meanwhile, the step
// waits for the copy. A newer copy of a parked push takes its place, and the
// older one is answered UNAVAILABLE. A push that came too late for its step is
// answered as PushReply::dropped, unless its batch has a mark: then it is a
// repeat. While the job holds, pushes of later steps are answered ABORTED.
//
// A batch may have a mark here and none on another shard, if its worker was
// lost between its pushes. When the batch is trained again, its push for the
// open step is parked here as any other, since the step is closed by what is
// parked. It adds nothing to the step, and is answered as a repeat when the
// step is applied. A step that has only such pushes here changes nothing and
// counts as applied.
//
// When the ranks of the job change, the shard applies the step that is closed,
// without the pushes of lost workers that it lacks (step_gather.h). The other
// pushes that it has parked are dropped, and those that come before the next
// generation begins are answered as in a hold. If a push of
// another worker has not come kSurvivorPatience later, the step does without
// it too: its call may have failed, and a worker does not send it again at the
// end of a generation. A batch that was left out has no mark here, and will be
// leased again.
//
// If the shard cannot apply the step (ParameterService: UNAVAILABLE,
// RESOURCE_EXHAUSTED and so on), all its pushes get that error, and the step
// waits until they have come again. A push without a step is refused
// (FAILED_PRECONDITION), because it would change weights within a step.
//
// A pull reply says how many steps were applied when its first value was read
// (PullReply::step). Stats are the shard's. In staleness and in the shard's
// counts of pushes, a step is one push, by the worker of its first batch.
//
// Thread-safe. A step is applied on the thread that brings its last push, or on
// the executor if the step was closed last.
class StepShard final : public ParameterService,
                        public std::enable_shared_from_this<StepShard> {
 public:
  // Called on any thread, under no lock, when there are reports to take.
  using TellReports = std::function<void()>;

  // Time for the pushes of a closed step after the end of its generation.
  static constexpr absl::Duration kSurvivorPatience = absl::Seconds(2);

  // `executor` runs completions and timers, and must outlive the shard; `model`
  // is the shard's. Held by shared_ptr.
  StepShard(StepGatherOptions options, ModelSpec model,
            std::shared_ptr<ParameterShard> shard, Executor* executor,
            TellReports tell_reports);

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override;
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override;
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override;

  // The coordinator's messages, in their order. An error of Close
  // (StepGather::Close) means that the job's parts disagree: end the job.
  absl::Status Close(StepClosed step);
  void Release();
  // The generation ends. A GenerationReady of this number is among the reports
  // once no closed step is left; then the shard has the marks of all steps.
  void EndGeneration(const NewGeneration& message);
  // An error (StepGather::BeginGeneration) means that the job's parts disagree:
  // end the job.
  absl::Status BeginGeneration(const GenerationBegan& message);

  // The reports since the last call, in order, to be sent to the coordinator.
  std::vector<StepReport> TakeReports();

  // Ends the shard's service: answers the parked pushes with UNAVAILABLE, and
  // parks no further one.
  void End();

 private:
  struct Parked {
    PushRequest request;
    Done<PushReply> done;
    absl::Time until;
    std::optional<PushReply> repeat;  // its answer, if the batch has a mark
  };
  // A step that is being applied, and its pushes, in the order of its batches;
  // nullopt: the batch is left out.
  struct Applying {
    PushedBatches batches;
    std::vector<std::optional<Parked>> parts;
  };
  // What is to be done when the lock is free.
  struct Todo {
    std::vector<std::pair<Done<PushReply>, absl::StatusOr<PushReply>>> answers;
    absl::Time timer = absl::InfiniteFuture();  // OnTimer is to run then
    bool tell_reports = false;
    std::shared_ptr<Applying> apply;
  };

  // Checks the push as the shard does. Returns the answer to a repeat.
  absl::StatusOr<std::optional<PushReply>> Check(const PushRequest& request,
                                                 absl::Duration timeout);
  // Returns the answer to a push that was checked, or nullopt if it is parked:
  // then `request` and `done` were moved from. `known` is the result of Check.
  absl::StatusOr<std::optional<PushReply>> Decide(
      const std::optional<PushReply>& known, PushRequest& request,
      absl::Time until, Done<PushReply>* done, Todo* todo)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves the parked push of this ticket out.
  Parked TakeParked(uint64_t ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Answers parked pushes that are in no step.
  void Drop(const std::vector<uint64_t>& tickets, Todo* todo)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetTimer(absl::Time until, Todo* todo)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds what follows from the gather's state. To be called after every event.
  void Follow(Todo* todo) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // With `post_apply` the step is applied on the executor.
  void Do(Todo todo, bool post_apply = false);
  void Apply(std::shared_ptr<Applying> step);
  // `applied` are the batches that were pushed to the shard, with the reply.
  void OnApplied(Applying* step, const PushedBatches& applied,
                 const absl::StatusOr<PushReply>& reply);
  void GiveUp(uint64_t generation);
  void OnTimer();

  const std::shared_ptr<ParameterShard> shard_;
  Executor* const executor_;
  const ModelSpec model_;
  const TellReports tell_reports_;
  StepSum sum_;  // used by the step that is being applied

  mutable Mutex mu_;
  StepGather gather_ ABSL_GUARDED_BY(mu_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Parked> parked_ ABSL_GUARDED_BY(mu_);  // by ticket
  bool told_ ABSL_GUARDED_BY(mu_) = false;  // of reports, since TakeReports
  // When OnTimer runs next; InfiniteFuture: it is not asked to.
  absl::Time timer_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_STEP_SHARD_H_
