#include "ps/shard/step_gather.h"

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

absl::StatusOr<StepGather::Arrival> StepGather::OnPush(
    uint64_t ticket, Life worker, uint64_t step, const PushedBatch& batch) {
  SHOAL_RETURN_IF_ERROR(CheckExamples(batch));
  if (step <= applied_) return Arrival{Decision::kPast, std::nullopt};
  if (step > applied_ + 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch ", ToString(batch.id), " was pushed for step ",
                     step, ", but this shard has applied ", applied_,
                     " steps, so that the next one is ", applied_ + 1));
  }
  if (phase_ == Phase::kHeld) return Arrival{Decision::kHeld, std::nullopt};
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
    return true;
  }
  return false;
}

absl::StatusOr<std::vector<uint64_t>> StepGather::Close(StepClosed step) {
  SHOAL_RETURN_IF_ERROR(CheckPushedBatches(step.batches));
  for (const PushedBatch& batch : step.batches) {
    SHOAL_RETURN_IF_ERROR(CheckExamples(batch));
  }
  if (phase_ != Phase::kOpen || step.step != applied_ + 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "step ", step.step, " was closed while this shard has applied ",
        applied_, " steps", Closed() ? " and has a closed one" : "",
        phase_ == Phase::kHeld ? " and holds" : ""));
  }
  phase_ = Phase::kClosed;
  closed_ = std::move(step);
  for (const PushedBatch& batch : closed_.batches) {
    set_.insert(batch.id);
    missing_.insert(batch.id);
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
    ready.tickets.push_back(tickets_.at(batch.id));
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
}

void StepGather::OnFailed() {
  SHOAL_DCHECK(phase_ == Phase::kApplying);
  phase_ = Phase::kClosed;
  missing_ = set_;
}

void StepGather::Release() {
  closed_.hold = false;
  if (phase_ == Phase::kHeld) phase_ = Phase::kOpen;
}

std::vector<StepReport> StepGather::TakeReports() {
  return std::exchange(reports_, {});
}

}  // namespace shoal
