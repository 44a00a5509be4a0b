#ifndef SHOAL_PS_SHARD_STEP_SUM_H_
#define SHOAL_PS_SHARD_STEP_SUM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/gradient_sum.h"
#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "core/pushed_batch.h"
#include "core/row_merge.h"

namespace shoal {

// Makes one push of the pushes of a step, by the arithmetic of
// core/gradient_sum.h: rows are merged by id and dense blocks are added up,
// both in the order of the step's batches, and each sum is divided once by the
// examples of the step. The canaries and the gradients of a model of sums are
// not divided. Keeps its memory for the next step. Thread-compatible.
//
//   StepSum sum(&model);
//   shard->Push(sum.Build(step.batches, pushes), timeout, done);
class StepSum {
 public:
  // `model` must outlive the sum.
  explicit StepSum(const ModelSpec* model) : model_(*model) {}

  // The push of those `batches` that have a push in `parts`, which is in the
  // same order. A batch whose part is null adds nothing and is not in the
  // result, but its examples count, so that all shards divide alike. A batch is
  // left out of the sums and of the examples if `batches` or its own push
  // calls it rejected, or if its gradient is not sound; the result then calls
  // it rejected. The result bears the identity of the first part, the highest
  // colour, and the oldest pulled version of this shard's life. Its spans lie
  // in this object until the next Build; those of the parts are read during the
  // call only. REQUIRES: there is a part; each part is a valid push of
  // one batch (CheckPush); a batch that is not rejected has examples.
  PushRequest Build(const PushedBatches& batches,
                    absl::Span<const PushRequest* const> parts);

 private:
  // The sums of the parts that are left in.
  void AddTables(uint64_t examples, absl::Span<const PushRequest* const> parts,
                 PushRequest* sum);
  void AddBlocks(uint64_t examples, absl::Span<const PushRequest* const> parts,
                 PushRequest* sum);

  const ModelSpec& model_;
  std::vector<RowMerge> merges_;             // by table
  std::vector<AlignedBuffer<float>> dense_;  // by block
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_STEP_SUM_H_
