#include "cluster/step_closer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {

StepCloser::StepCloser(StepCloserOptions options)
    : options_(std::move(options)) {
  SHOAL_DCHECK(options_.backup_workers < options_.ranks.size());
}

std::optional<int> StepCloser::RankOf(Life worker) const {
  const auto it =
      std::find(options_.ranks.begin(), options_.ranks.end(), worker);
  if (it == options_.ranks.end()) return std::nullopt;
  return static_cast<int>(it - options_.ranks.begin());
}

absl::Status StepCloser::Admit(Life worker) const {
  if (RankOf(worker).has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the worker of life ", ToString(worker), " is not one of the ",
      options_.ranks.size(), " ranks with which the job began"));
}

bool StepCloser::Ignores(Life worker) const {
  return between_ || (!first_ && !RankOf(worker).has_value());
}

absl::Status StepCloser::OnParked(Life from, uint64_t step, StepBatch batch) {
  if (Ignores(from)) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(Admit(from));
  batch.rank = *RankOf(from);
  if (step > step_) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", batch.rank, " pushed batch ",
                     ToString(batch.batch), " for step ", step,
                     ", but the open step is ", step_));
  }
  if (step < step_) return OnLate(step, batch);
  const auto [it, added] = parked_.try_emplace(batch.rank, batch);
  if (added || it->second.batch == batch.batch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", batch.rank, " pushed batch ", ToString(batch.batch),
                   " for step ", step, " after batch ",
                   ToString(it->second.batch), " for the same step"));
}

absl::Status StepCloser::OnLate(uint64_t step, const StepBatch& batch) {
  const std::pair<uint64_t, BatchId> push{step, batch.batch};
  // A push of a closed step that was taken out and is parked anew.
  const auto in_time = closed_.find(batch.rank);
  if (in_time != closed_.end() && in_time->second == push) {
    return absl::OkStatus();
  }
  const auto [it, added] = dropped_.try_emplace(batch.rank, push);
  if (!added && it->second == push) return absl::OkStatus();
  it->second = push;
  actions_.push_back(StepDropped{step, batch.rank, batch.batch});
  return absl::OkStatus();
}

void StepCloser::OnTakenOut(Life from, uint64_t step) {
  const std::optional<int> rank = RankOf(from);
  if (!between_ && rank.has_value() && step == step_) parked_.erase(*rank);
}

void StepCloser::Hold() {
  SHOAL_DCHECK(phase_ == Phase::kOpen);
  phase_ = Phase::kHolding;
}

void StepCloser::Release() { phase_ = Phase::kOpen; }

std::vector<BatchId> StepCloser::EndGeneration(absl::Span<const Life> lost) {
  between_ = true;
  parked_.clear();
  actions_.clear();
  std::vector<BatchId> batches;
  for (const auto& [rank, push] : closed_) {
    const auto& [step, batch] = push;
    const bool is_lost = std::find(lost.begin(), lost.end(),
                                   options_.ranks[rank]) != lost.end();
    if (is_lost && step + 1 == step_) batches.push_back(batch);
  }
  return batches;
}

void StepCloser::BeginGeneration(StepCloserOptions options, uint64_t steps) {
  SHOAL_DCHECK(between_);
  SHOAL_DCHECK(options.backup_workers < options.ranks.size());
  options_ = std::move(options);
  between_ = false;
  first_ = false;
  step_ = steps + 1;
  closed_.clear();
  dropped_.clear();
}

bool StepCloser::Enough(const View& view) const {
  if (view.open_lanes.empty()) return false;
  size_t there = 0;
  for (const int rank : view.open_lanes) there += parked_.count(rank);
  const size_t all = view.open_lanes.size();
  const size_t backup = std::min<size_t>(options_.backup_workers, all - 1);
  return there >= all - backup;
}

void StepCloser::Close() {
  CloseStep close;
  close.step = step_;
  close.hold = phase_ == Phase::kHolding;
  for (const auto& [rank, batch] : parked_) {
    close.batches.push_back(batch);
    if (!batch.rejected) close.examples += batch.examples;
    closed_[rank] = {step_, batch.batch};
  }
  parked_.clear();
  ++step_;
  actions_.push_back(std::move(close));
}

CloserActions StepCloser::Step(const View& view) {
  if (between_) return Take();
  const bool enough = phase_ != Phase::kHeld && Enough(view);
  if (enough) Close();
  if (phase_ == Phase::kHolding && (enough || view.open_lanes.empty())) {
    phase_ = Phase::kHeld;
    actions_.push_back(StepHeld{step_ - 1});
  }
  return Take();
}

std::string StepCloser::WaitingFor(const View& view) const {
  std::vector<int> missing;
  for (const int rank : view.open_lanes) {
    if (!parked_.contains(rank)) missing.push_back(rank);
  }
  if (missing.empty() || phase_ == Phase::kHeld || between_) return "";
  return absl::StrCat("step ", step_, " waits for ",
                      missing.size() == 1 ? "rank " : "ranks ",
                      absl::StrJoin(missing, ", "));
}

}  // namespace shoal
