#include "ps/shard/step_gather.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// The sum of the gradients is divided by the examples of the batches.
absl::Status CheckExamples(const PushedBatch& batch) {
  if (batch.rejected || batch.examples > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "batch ", ToString(batch.id), " of a step has no examples"));
}

}  // namespace

absl::Status StepGather::CheckWorker(Life worker) const {
  if (between_ || !workers_.has_value() || workers_->contains(worker)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the worker of life ", ToString(worker),
      " is not of this generation of the job: it was lost, and the job goes on "
      "without it"));
}

absl::StatusOr<StepGather::Arrival> StepGather::OnPush(
    uint64_t ticket, Life worker, uint64_t step, const PushedBatch& batch) {
  SHOAL_RETURN_IF_ERROR(CheckWorker(worker));
  SHOAL_RETURN_IF_ERROR(CheckExamples(batch));
  if (workers_.has_value() && batch.lease <= older_leases_) {
    return Arrival{Decision::kPast, std::nullopt};
  }
  // A push that comes now may be of the next generation already.
  if (!between_) newest_lease_ = std::max(newest_lease_, batch.lease);
  if (step <= applied_) return Arrival{Decision::kPast, std::nullopt};
  if (step > applied_ + 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch ", ToString(batch.id), " was pushed for step ",
                     step, ", but this shard has applied ", applied_,
                     " steps, so that the next one is ", applied_ + 1));
  }
  if (phase_ == Phase::kHeld || (phase_ == Phase::kOpen && between_)) {
    return Arrival{Decision::kHeld, std::nullopt};
  }
  if (Closed() && !set_.contains(batch.id)) {
    return Arrival{Decision::kPast, std::nullopt};
  }
  if (phase_ == Phase::kApplying) {
    return Arrival{Decision::kApplying, std::nullopt};
  }
  return Park(ticket, worker, batch);
}

absl::StatusOr<StepGather::Arrival> StepGather::Park(uint64_t ticket,
                                                     Life worker,
                                                     const PushedBatch& batch) {
  Arrival arrival;
  const auto it = parked_.find(worker);
  if (it != parked_.end()) {
    if (it->second.batch.id != batch.id) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the worker of life ", ToString(worker), " pushed batch ",
          ToString(batch.id), " for step ", applied_ + 1, " after batch ",
          ToString(it->second.batch.id), " for the same step"));
    }
    arrival.replaced = it->second.ticket;
    it->second = {ticket, batch};
    tickets_[batch.id] = ticket;
    return arrival;
  }
  if (tickets_.contains(batch.id)) {
    return absl::UnavailableError(
        absl::StrCat("batch ", ToString(batch.id),
                     " is parked for another worker; send it again"));
  }
  if (parked_.size() >= options_.parked_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        parked_.size(), " pushes are parked for step ", applied_ + 1,
        ", which is the limit; retry later"));
  }
  parked_.emplace(worker, Parked{ticket, batch});
  tickets_.emplace(batch.id, ticket);
  missing_.erase(batch.id);
  if (options_.reports && phase_ == Phase::kOpen) {
    reports_.push_back(StepParked{applied_ + 1, worker, batch});
  }
  return arrival;
}

bool StepGather::OnTimeout(uint64_t ticket) {
  for (auto it = parked_.begin(); it != parked_.end(); ++it) {
    if (it->second.ticket != ticket) continue;
    if (phase_ == Phase::kClosed) missing_.insert(it->second.batch.id);
    if (options_.reports && phase_ == Phase::kOpen) {
      reports_.push_back(StepTakenOut{applied_ + 1, it->first});
    }
    tickets_.erase(it->second.batch.id);
    parked_.erase(it);
    LeaveOut();
    return true;
  }
  return false;
}

absl::StatusOr<std::vector<uint64_t>> StepGather::Close(StepClosed step) {
  SHOAL_RETURN_IF_ERROR(CheckPushedBatches(step.batches));
  for (const PushedBatch& batch : step.batches) {
    SHOAL_RETURN_IF_ERROR(CheckExamples(batch));
  }
  if (between_ || phase_ != Phase::kOpen || step.step != applied_ + 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "step ", step.step, " was closed while this shard has applied ",
        applied_, " steps", Closed() ? " and has a closed one" : "",
        phase_ == Phase::kHeld ? " and holds" : "",
        between_ ? " and waits for the next generation" : ""));
  }
  phase_ = Phase::kClosed;
  closed_ = std::move(step);
  for (const PushedBatch& batch : closed_.batches) {
    set_.insert(batch.id);
    missing_.insert(batch.id);
    newest_lease_ = std::max(newest_lease_, batch.lease);
  }
  std::vector<uint64_t> dropped;
  for (auto it = parked_.begin(); it != parked_.end();) {
    if (missing_.erase(it->second.batch.id) > 0) {
      ++it;
      continue;
    }
    dropped.push_back(it->second.ticket);
    tickets_.erase(it->second.batch.id);
    it = parked_.erase(it);
  }
  return dropped;
}

std::optional<StepGather::Ready> StepGather::TakeReady() {
  if (phase_ != Phase::kClosed || !missing_.empty()) return std::nullopt;
  Ready ready;
  ready.step = closed_;
  for (const PushedBatch& batch : closed_.batches) {
    const auto it = tickets_.find(batch.id);
    ready.tickets.push_back(it == tickets_.end() ? std::nullopt
                                                 : std::optional(it->second));
  }
  phase_ = Phase::kApplying;
  parked_.clear();
  tickets_.clear();
  return ready;
}

void StepGather::OnApplied() {
  SHOAL_DCHECK(phase_ == Phase::kApplying);
  phase_ = closed_.hold ? Phase::kHeld : Phase::kOpen;
  ++applied_;
  set_.clear();
  ReportIfReady();
}

void StepGather::OnFailed() {
  SHOAL_DCHECK(phase_ == Phase::kApplying);
  phase_ = Phase::kClosed;
  missing_ = set_;
  LeaveOut();
}

void StepGather::Release() {
  closed_.hold = false;
  if (phase_ == Phase::kHeld) phase_ = Phase::kOpen;
}

// ---- Generations ------------------------------------------------------------

std::vector<uint64_t> StepGather::EndGeneration(const NewGeneration& message) {
  between_ = true;
  generation_ = message.number;
  lost_.insert(message.lost.begin(), message.lost.end());
  // What was parked for the open step is of no interest any more.
  reports_.clear();
  Release();
  std::vector<uint64_t> dropped;
  if (phase_ == Phase::kOpen) {
    for (const auto& [worker, push] : parked_) dropped.push_back(push.ticket);
    parked_.clear();
    tickets_.clear();
  }
  LeaveOut();
  ReportIfReady();
  return dropped;
}

void StepGather::GiveUp(uint64_t generation) {
  if (!between_ || generation != generation_) return;
  lost_.insert(set_.begin(), set_.end());
  LeaveOut();
}

void StepGather::LeaveOut() {
  if (!between_ || phase_ != Phase::kClosed) return;
  for (const BatchId& batch : lost_) {
    if (missing_.erase(batch) > 0) set_.erase(batch);
  }
}

void StepGather::ReportIfReady() {
  if (!between_ || phase_ != Phase::kOpen) return;
  reports_.push_back(GenerationReady{.number = generation_, .steps = applied_});
}

absl::Status StepGather::BeginGeneration(const GenerationBegan& message) {
  if (!between_ || phase_ != Phase::kOpen || message.number != generation_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "generation ", message.number, " of the job began, but this shard ",
        !between_ ? "has not ended the generation before it"
        : message.number != generation_
            ? absl::StrCat("was told of generation ", generation_)
            : "still has a closed step"));
  }
  between_ = false;
  older_leases_ = std::max(message.leases, newest_lease_);
  lost_.clear();
  workers_.emplace(message.workers.begin(), message.workers.end());
  return absl::OkStatus();
}

std::vector<StepReport> StepGather::TakeReports() {
  return std::exchange(reports_, {});
}

}  // namespace shoal
