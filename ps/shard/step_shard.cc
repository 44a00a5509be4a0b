#include "ps/shard/step_shard.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Timeout of the push of a whole step. The shard answers at once, because no
// other push has the batches.
constexpr absl::Duration kApplyTimeout = absl::Seconds(10);

absl::Status CheckStepPush(const PushRequest& request) {
  if (request.step == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the push of ", ToString(request.batches),
                     " names no step, but this job trains in steps"));
  }
  if (request.batches.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a push for a step has one batch, not ",
                     request.batches.size()));
  }
  return absl::OkStatus();
}

absl::Status HeldError(uint64_t step) {
  return absl::AbortedError(
      absl::StrCat("the job stands still before step ", step));
}

absl::Status ApplyingError(const PushedBatch& batch) {
  return absl::UnavailableError(
      absl::StrCat("another copy of batch ", ToString(batch.id),
                   " is being applied; send it again"));
}

}  // namespace

StepShard::StepShard(StepGatherOptions options, ModelSpec model,
                     std::shared_ptr<ParameterShard> shard, Executor* executor,
                     TellReports tell_reports)
    : shard_(std::move(shard)),
      executor_(executor),
      model_(std::move(model)),
      tell_reports_(std::move(tell_reports)),
      sum_(&model_),
      gather_(options) {}

void StepShard::Pull(PullRequest request, absl::Duration timeout,
                     Done<PullReply> done) {
  uint64_t step;
  {
    MutexLock lock(&mu_);
    step = gather_.applied();
  }
  shard_->Pull(std::move(request), timeout,
               [step, done = std::move(done)](
                   absl::StatusOr<PullReply> reply) mutable {
                 if (reply.ok()) reply->step = step;
                 std::move(done)(std::move(reply));
               });
}

void StepShard::Stats(StatsRequest request, absl::Duration timeout,
                      Done<StatsReply> done) {
  shard_->Stats(std::move(request), timeout, std::move(done));
}

// ---- Pushes -----------------------------------------------------------------

absl::StatusOr<std::optional<PushReply>> StepShard::Check(
    const PushRequest& request, absl::Duration timeout) {
  SHOAL_ASSIGN_OR_RETURN(const std::optional<PushReply> known,
                         shard_->Check(request, timeout));
  SHOAL_RETURN_IF_ERROR(CheckStepPush(request));
  return known;
}

void StepShard::Push(PushRequest request, absl::Duration timeout,
                     Done<PushReply> done) {
  const absl::Time until = executor_->Now() + timeout;
  auto answer = Check(request, timeout);
  Todo todo;
  if (answer.ok()) {
    MutexLock lock(&mu_);
    answer = Decide(*answer, request, until, &done, &todo);
    if (answer.ok() && !answer->has_value()) Follow(&todo);
  }
  if (!answer.ok()) {
    todo.answers.emplace_back(std::move(done), answer.status());
  } else if (answer->has_value()) {
    todo.answers.emplace_back(std::move(done), **answer);
  }
  Do(std::move(todo));
}

absl::StatusOr<std::optional<PushReply>> StepShard::Decide(
    const std::optional<PushReply>& known, PushRequest& request,
    absl::Time until, Done<PushReply>* done, Todo* todo) {
  const PushedBatch& batch = request.batches[0];
  if (ended_) {
    return absl::UnavailableError("this server has left the job");
  }
  // The marks know a batch a moment before the gather knows that its step is
  // applied. A repeat that was answered then would let the worker begin its
  // next step too early.
  if (gather_.Applies(batch.id)) return ApplyingError(batch);
  const uint64_t ticket = next_ticket_++;
  SHOAL_ASSIGN_OR_RETURN(
      const StepGather::Arrival arrival,
      gather_.OnPush(ticket, request.identity.worker, request.step, batch));
  switch (arrival.decision) {
    case StepGather::Decision::kHeld:
      return HeldError(request.step);
    case StepGather::Decision::kApplying:
      return ApplyingError(batch);
    case StepGather::Decision::kPast: {
      if (known.has_value()) return known;
      // The step may have been applied since the marks were asked.
      SHOAL_ASSIGN_OR_RETURN(
          const std::optional<PushReply> repeat,
          shard_->Check(request, absl::InfiniteDuration()));
      return repeat.has_value() ? *repeat : shard_->Dropped();
    }
    case StepGather::Decision::kParked:
      break;
  }
  if (arrival.replaced.has_value()) {
    todo->answers.emplace_back(
        TakeParked(*arrival.replaced).done,
        absl::UnavailableError("a newer copy of this push has come"));
  }
  parked_.emplace(ticket,
                  Parked{std::move(request), std::move(*done), until, known});
  SetTimer(until, todo);
  return std::nullopt;
}

StepShard::Parked StepShard::TakeParked(uint64_t ticket) {
  const auto it = parked_.find(ticket);
  SHOAL_DCHECK(it != parked_.end());
  Parked parked = std::move(it->second);
  parked_.erase(it);
  return parked;
}

void StepShard::Drop(const std::vector<uint64_t>& tickets, Todo* todo) {
  for (const uint64_t ticket : tickets) {
    Parked parked = TakeParked(ticket);
    todo->answers.emplace_back(
        std::move(parked.done),
        parked.repeat.has_value() ? *parked.repeat : shard_->Dropped());
  }
}

void StepShard::SetTimer(absl::Time until, Todo* todo) {
  if (until >= timer_) return;
  timer_ = until;
  todo->timer = until;
}

void StepShard::Follow(Todo* todo) {
  if (gather_.has_reports() && !std::exchange(told_, true)) {
    todo->tell_reports = true;
  }
  std::optional<StepGather::Ready> ready = gather_.TakeReady();
  if (!ready.has_value()) return;
  todo->apply = std::make_shared<Applying>();
  todo->apply->batches = std::move(ready->step.batches);
  for (const std::optional<uint64_t>& ticket : ready->tickets) {
    todo->apply->parts.push_back(
        ticket.has_value() ? std::optional(TakeParked(*ticket)) : std::nullopt);
  }
}

void StepShard::Do(Todo todo, bool post_apply) {
  for (auto& [done, answer] : todo.answers) {
    executor_->Post(
        [done = std::move(done), answer = std::move(answer)]() mutable {
          std::move(done)(std::move(answer));
        });
  }
  if (todo.timer != absl::InfiniteFuture()) {
    executor_->PostAt(todo.timer, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->OnTimer();
    });
  }
  if (todo.tell_reports) tell_reports_();
  if (todo.apply == nullptr) return;
  if (!post_apply) {
    Apply(std::move(todo.apply));
    return;
  }
  executor_->Post(
      [self = shared_from_this(), step = std::move(todo.apply)]() mutable {
        self->Apply(std::move(step));
      });
}

void StepShard::OnTimer() {
  Todo todo;
  {
    MutexLock lock(&mu_);
    const absl::Time now = executor_->Now();
    if (now < timer_) return;  // an earlier timer has taken its place
    timer_ = absl::InfiniteFuture();
    absl::Time next = absl::InfiniteFuture();
    for (auto it = parked_.begin(); it != parked_.end();) {
      if (it->second.until > now) {
        next = std::min(next, it->second.until);
        ++it;
        continue;
      }
      gather_.OnTimeout(it->first);
      todo.answers.emplace_back(
          std::move(it->second.done),
          absl::DeadlineExceededError(absl::StrCat(
              "step ", it->second.request.step, " waits for other ranks")));
      it = parked_.erase(it);
    }
    SetTimer(next, &todo);
    Follow(&todo);
  }
  Do(std::move(todo));
}

// ---- Steps ------------------------------------------------------------------

absl::Status StepShard::Close(StepClosed step) {
  Todo todo;
  {
    MutexLock lock(&mu_);
    SHOAL_ASSIGN_OR_RETURN(const std::vector<uint64_t> dropped,
                           gather_.Close(std::move(step)));
    Drop(dropped, &todo);
    Follow(&todo);
  }
  Do(std::move(todo), /*post_apply=*/true);
  return absl::OkStatus();
}

void StepShard::Apply(std::shared_ptr<Applying> step) {
  std::vector<const PushRequest*> parts;
  bool adds = false;
  for (const std::optional<Parked>& part : step->parts) {
    const bool of_sum = part.has_value() && !part->repeat.has_value();
    parts.push_back(of_sum ? &part->request : nullptr);
    adds |= of_sum;
  }
  if (!adds) {
    OnApplied(step.get(), {}, PushReply());
    return;
  }
  PushRequest sum = sum_.Build(step->batches, parts);
  PushedBatches applied = sum.batches;
  shard_->Push(std::move(sum), kApplyTimeout,
               [self = shared_from_this(), step = std::move(step),
                applied = std::move(applied)](absl::StatusOr<PushReply> reply) {
                 self->OnApplied(step.get(), applied, reply);
               });
}

void StepShard::OnApplied(Applying* step, const PushedBatches& applied,
                          const absl::StatusOr<PushReply>& reply) {
  Todo todo;
  size_t next = 0;  // in `applied`
  for (std::optional<Parked>& part : step->parts) {
    if (!part.has_value()) continue;
    absl::StatusOr<PushReply> answer = reply;
    if (part->repeat.has_value()) {
      if (answer.ok()) answer = *part->repeat;
    } else if (applied[next++].rejected && answer.ok()) {
      answer->verdict = Verdict::kRejected;
    }
    todo.answers.emplace_back(std::move(part->done), std::move(answer));
  }
  {
    MutexLock lock(&mu_);
    reply.ok() ? gather_.OnApplied() : gather_.OnFailed();
    Follow(&todo);
  }
  Do(std::move(todo));
}

void StepShard::Release() {
  MutexLock lock(&mu_);
  gather_.Release();
}

// ---- Generations ------------------------------------------------------------

void StepShard::EndGeneration(const NewGeneration& message) {
  Todo todo;
  bool settling;
  {
    MutexLock lock(&mu_);
    Drop(gather_.EndGeneration(message), &todo);
    Follow(&todo);
    settling = gather_.settling();
  }
  Do(std::move(todo), /*post_apply=*/true);
  if (!settling) return;
  executor_->PostAfter(kSurvivorPatience,
                       [weak = weak_from_this(), number = message.number] {
                         if (const auto self = weak.lock()) {
                           self->GiveUp(number);
                         }
                       });
}

void StepShard::GiveUp(uint64_t generation) {
  Todo todo;
  {
    MutexLock lock(&mu_);
    gather_.GiveUp(generation);
    Follow(&todo);
  }
  Do(std::move(todo));
}

absl::Status StepShard::BeginGeneration(const GenerationBegan& message) {
  MutexLock lock(&mu_);
  return gather_.BeginGeneration(message);
}

std::vector<StepReport> StepShard::TakeReports() {
  MutexLock lock(&mu_);
  told_ = false;
  return gather_.TakeReports();
}

void StepShard::End() {
  Todo todo;
  {
    MutexLock lock(&mu_);
    ended_ = true;
    for (auto& [ticket, push] : parked_) {
      gather_.OnTimeout(ticket);
      todo.answers.emplace_back(
          std::move(push.done),
          absl::UnavailableError("this server has left the job"));
    }
    parked_.clear();
  }
  Do(std::move(todo));
}

}  // namespace shoal
