#ifndef SHOAL_CLUSTER_RUNNING_AUC_H_
#define SHOAL_CLUSTER_RUNNING_AUC_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/metrics.h"

namespace shoal {

// The AUC of the examples so far, for people who watch an evaluation: cheap at
// any time, and near the exact one. It counts both labels in bins of 1/128 of a
// logit over [-16, 16); scores of one bin count as ties. 64 KiB.
// Thread-compatible.
class RunningAuc {
 public:
  void Add(absl::Span<const ScoredExample> examples);
  // NaN while a label is missing.
  double Auc() const;

 private:
  static constexpr size_t kBins = 4096;
  struct Bin {
    uint64_t of_label[2] = {0, 0};
  };

  std::vector<Bin> bins_;  // empty before the first example
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_RUNNING_AUC_H_
