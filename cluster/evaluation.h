#ifndef SHOAL_CLUSTER_EVALUATION_H_
#define SHOAL_CLUSTER_EVALUATION_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "cluster/job_report.h"
#include "core/cluster_service.h"

namespace shoal {

// The scores of one evaluation, by piece: a second result of a piece replaces
// the first and is never added to it, so that an evaluation counts each example
// once whoever dies in it. Keeps 5 bytes an example, and takes 15
// more while it reports. Thread-compatible.
class Evaluation {
 public:
  Evaluation() = default;
  // At most `max_examples` scores are kept.
  Evaluation(uint32_t number, uint32_t num_pieces, uint64_t max_examples);

  // INVALID_ARGUMENT: another evaluation's or piece's result, or one that is
  // none (lengths differ, a label is not 0 or 1). DATA_LOSS: a score is not
  // finite. RESOURCE_EXHAUSTED: more than max_examples: an AUC over a part of
  // the data would be the wrong figure, so there is none.
  absl::Status Add(EvalResult result);

  bool has(uint32_t piece) const { return results_.count(piece) != 0; }
  // REQUIRES: has(piece).
  uint64_t examples(uint32_t piece) const {
    return results_.at(piece).labels.size();
  }
  bool complete() const { return results_.size() == num_pieces_; }

  // Exact AUC and mean logloss over all results.
  EvalReport Report() const;

 private:
  uint32_t number_ = 0;
  uint32_t num_pieces_ = 0;
  uint64_t max_examples_ = 0;
  uint64_t examples_ = 0;
  std::map<uint32_t, EvalResult> results_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_EVALUATION_H_
