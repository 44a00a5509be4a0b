#include "coordinator/divergence_watch.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace shoal {

bool DivergenceWatch::Sums::Bad() const {
  const double mean = loss / static_cast<double>(examples);
  return !std::isfinite(mean) || mean > kLossMax;
}

void DivergenceWatch::OnBatch(uint64_t step, bool rejected) {
  step_ = step;
  rejected_.push_back(rejected);
  num_rejected_ += rejected;
  if (rejected_.size() <= kBatches) return;
  num_rejected_ -= rejected_.front();
  rejected_.pop_front();
}

void DivergenceWatch::OnProgress(Life worker, const TrainProgress& progress,
                                 uint64_t step) {
  Reported& before = reported_[worker];
  if (progress.batches <= before.sums.batches ||
      progress.examples <= before.sums.examples) {
    return;
  }
  const Sums fresh = {progress.batches - before.sums.batches,
                      progress.examples - before.sums.examples,
                      progress.loss_sum - before.sums.loss};
  reports_.push_back({fresh, before.step});
  before = {{progress.batches, progress.examples, progress.loss_sum}, step};
  uint64_t batches = window_.batches + fresh.batches;
  while (batches - reports_.front().sums.batches >= kBatches) {
    batches -= reports_.front().sums.batches;
    reports_.pop_front();
  }
  // Added anew: a loss that is not finite cannot be taken away again.
  window_ = {};
  for (const Reported& report : reports_) {
    window_.batches += report.sums.batches;
    window_.examples += report.sums.examples;
    window_.loss += report.sums.loss;
  }
}

bool DivergenceWatch::Sound() const {
  const size_t newest = std::min(kFewestAtEnd, rejected_.size());
  const auto rejected = static_cast<size_t>(
      std::count(rejected_.end() - newest, rejected_.end(), true));
  if (newest != 0 && (2 * rejected >= newest ||
                      2 * num_rejected_ >= rejected_.size())) {
    return false;
  }
  return reports_.empty() || !(reports_.back().sums.Bad() || window_.Bad());
}

uint64_t DivergenceWatch::StepBeforeBad() const {
  const auto rejected = std::find(rejected_.begin(), rejected_.end(), true);
  uint64_t step = step_ - static_cast<uint64_t>(rejected_.end() - rejected);
  for (const Reported& report : reports_) {
    if (report.sums.Bad()) step = std::min(step, report.step);
  }
  return step;
}

std::optional<Divergence> DivergenceWatch::Judge(size_t fewest) const {
  if (rejected_.size() >= fewest && 2 * num_rejected_ >= rejected_.size()) {
    return Divergence{
        absl::StrCat(num_rejected_, " of its newest ", rejected_.size(),
                     " batches were rejected, because their loss or gradient "
                     "was not finite, or too large"),
        StepBeforeBad()};
  }
  if (window_.batches < fewest || !window_.Bad()) return std::nullopt;
  const double mean = window_.loss / static_cast<double>(window_.examples);
  return Divergence{
      absl::StrCat("the mean loss of its newest ", window_.batches,
                   " batches is ", mean,
                   std::isfinite(mean) ? absl::StrCat(", above ", kLossMax)
                                       : ""),
      StepBeforeBad()};
}

}  // namespace shoal
