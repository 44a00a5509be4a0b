#include "core/auc_histogram.h"

#include <limits>
#include <new>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

constexpr double kLimit = 32;
constexpr double kBinsPerUnit = AucHistogram::kBins / (2 * kLimit);
constexpr uint64_t kMaxExamples = std::numeric_limits<uint32_t>::max();

}  // namespace

AucHistogram::AucHistogram()
    : bins_(static_cast<Bin*>(std::calloc(kBins, sizeof(Bin)))) {
  if (bins_ == nullptr) throw std::bad_alloc();
}

uint32_t AucHistogram::BinOf(float logit) {
  // Written so that NaN goes to the lowest.
  if (!(logit >= -kLimit)) return 0;
  if (logit >= kLimit) return kBins - 1;
  return static_cast<uint32_t>((static_cast<double>(logit) + kLimit) *
                               kBinsPerUnit);
}

absl::Status AucHistogram::Add(absl::Span<const ScoredExample> examples) {
  if (examples.size() > kMaxExamples - examples_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("an evaluation takes at most ", kMaxExamples,
                     " examples; evaluate on fewer"));
  }
  for (const ScoredExample& example : examples) {
    ++bins_[BinOf(example.score)].of_label[example.label != 0];
  }
  examples_ += examples.size();
  return absl::OkStatus();
}

AucEstimate AucHistogram::Estimate() const {
  double won = 0;
  double tied = 0;
  double positives = 0;
  double negatives = 0;
  for (uint32_t b = 0; b < kBins; ++b) {
    const double n = bins_[b].of_label[0];
    const double p = bins_[b].of_label[1];
    won += p * negatives;
    tied += p * n;
    positives += p;
    negatives += n;
  }
  if (positives == 0 || negatives == 0) return {};
  const double pairs = positives * negatives;
  return {(won + tied / 2) / pairs, tied / 2 / pairs};
}

}  // namespace shoal
