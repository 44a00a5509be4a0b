#include "coordinator/divergence_watch.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace shoal {

void DivergenceWatch::OnBatch(bool rejected) {
  rejected_.push_back(rejected);
  num_rejected_ += rejected;
  if (rejected_.size() <= kBatches) return;
  num_rejected_ -= rejected_.front();
  rejected_.pop_front();
}

void DivergenceWatch::OnProgress(Life worker, const TrainProgress& progress) {
  Sums& before = reported_[worker];
  if (progress.batches <= before.batches ||
      progress.examples <= before.examples) {
    return;
  }
  const Sums fresh = {progress.batches - before.batches,
                      progress.examples - before.examples,
                      progress.loss_sum - before.loss};
  before = {progress.batches, progress.examples, progress.loss_sum};
  reports_.push_back(fresh);
  batches_ += fresh.batches;
  while (batches_ - reports_.front().batches >= kBatches) {
    batches_ -= reports_.front().batches;
    reports_.pop_front();
  }
}

std::optional<Divergence> DivergenceWatch::Judge(size_t fewest) const {
  if (rejected_.size() >= fewest && 2 * num_rejected_ >= rejected_.size()) {
    return Divergence{
        absl::StrCat(num_rejected_, " of its newest ", rejected_.size(),
                     " batches were rejected, because their loss or gradient "
                     "was not finite, or too large"),
        rejected_.size()};
  }
  if (batches_ < fewest) return std::nullopt;
  Sums sums;
  for (const Sums& report : reports_) {
    sums.examples += report.examples;
    sums.loss += report.loss;
  }
  const double mean = sums.loss / static_cast<double>(sums.examples);
  if (std::isfinite(mean) && mean <= kLossMax) return std::nullopt;
  return Divergence{
      absl::StrCat("the mean loss of its newest ", batches_, " batches is ",
                   mean,
                   std::isfinite(mean) ? absl::StrCat(", above ", kLossMax)
                                       : ""),
      batches_};
}

}  // namespace shoal
