#ifndef SHOAL_CORE_AUC_HISTOGRAM_H_
#define SHOAL_CORE_AUC_HISTOGRAM_H_

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/metrics.h"

namespace shoal {

struct AucEstimate {
  double auc = 0.5;
  double error = 0;  // the exact AUC is at most this far from `auc`
};

// The AUC of many examples in bounded memory. The histogram counts the
// positives and negatives in each of 2^24 bins of equal width, 3.8e-6, over
// logits in [-32, 32); logits beyond fall into the outermost bins. Scores of
// one bin count as ties, and ties count half. With p_b positives and n_b
// negatives in bin b, and P and N in all:
//
//   auc    Σ_b p_b (Σ_{a < b} n_a + n_b / 2) / (P N)
//   error  ½ Σ_b p_b n_b / (P N)
//
// The error follows since the positives win between none and all of the pairs
// within a bin.
//
// Why bins of equal width in the logit: bins by the top 24 bits of a float are
// 3e-5 wide near 1 and -1, where scores are dense. Bins by 24 bits of the
// probability are narrow there, but only 16 of them are left for all scores
// below 1e-6. Bins in the logit are 3.8e-6 wide everywhere; at the far ends
// neighbouring floats are half as far apart.
//
// Memory: 128 MiB of address space, of which only the pages with a score are
// used. At most 2^32 - 1 examples. Thread-compatible.
class AucHistogram {
 public:
  static constexpr uint32_t kBins = 1u << 24;
  static constexpr uint64_t kMemoryBytes = uint64_t{kBins} * 8;

  AucHistogram();

  // Labels are 0 or 1. A score that is not a number counts as the lowest.
  // RESOURCE_EXHAUSTED, nothing added: too many examples.
  absl::Status Add(absl::Span<const ScoredExample> examples);

  // 0.5 with an error of 0 if one class is missing, as ExactAuc.
  AucEstimate Estimate() const;

  uint64_t examples() const { return examples_; }

  static uint32_t BinOf(float logit);

 private:
  struct Bin {
    uint32_t of_label[2];
  };
  static_assert(kMemoryBytes == kBins * sizeof(Bin));
  struct Free {
    void operator()(Bin* bins) const { std::free(bins); }
  };

  std::unique_ptr<Bin[], Free> bins_;  // from calloc: pages come when touched
  uint64_t examples_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CORE_AUC_HISTOGRAM_H_
