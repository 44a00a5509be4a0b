#ifndef SHOAL_MODELS_MODEL_H_
#define SHOAL_MODELS_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "core/ids.h"
#include "core/model_spec.h"
#include "models/objective.h"

namespace shoal {

// The rows that a batch reads from one table: U distinct rows of D = row_dim
// floats.
struct TableInput {
  absl::Span<const int32_t> row_index;  // B × F: position in `rows`; -1 where
                                        // a short example has no such field
  absl::Span<const float> rows;         // U × D
};

// One batch as a model sees it, without ids and without a network: B examples
// of up to F fields. The caller owns the memory of the spans. C is the number
// of scores of an example, which the model's objective decides: 1 for clicks,
// the logit.
struct ModelInput {
  int batch_size = 0;  // B
  int field_size = 0;  // F
  // One entry for each table of the model's spec, in the spec's order. May be
  // empty.
  absl::InlinedVector<TableInput, 1> tables;
  absl::Span<const float> values;    // B × F: x; 0 where there is no field
  absl::Span<const uint8_t> labels;  // B, in the range that the objective says
  // The number by which the loss, a sum over the batch, is divided before it is
  // differentiated. B makes the gradient that of the batch's mean loss. 1 makes
  // it that of the sum, for a mode of training that adds up the gradients of
  // several batches and divides once, by the examples of all of them. The
  // divisor enters as a factor 1 / loss_divisor, in float32, of the gradient of
  // the scores. Predict does not read it, and neither does the linear probe,
  // whose gradient is a sum that is never divided.
  double loss_divisor = 0;
  absl::Span<const float> dense;     // all dense variables, one after another
                                     // in the order of the spec
  // Selects the random numbers of dropout. Masks are functions of (seed, epoch,
  // piece, index, position in the batch), never of the worker.
  BatchId batch;

  // True if the spans have the sizes given above for a model of the variables
  // in `spec`, and `logits` is B × C.
  bool SizesAgree(const ModelSpec& spec, int num_scores, size_t logits) const {
    const size_t cells = static_cast<size_t>(batch_size) * field_size;
    if (tables.size() != spec.tables.size()) return false;
    for (size_t t = 0; t < tables.size(); ++t) {
      if (tables[t].row_index.size() != cells ||
          tables[t].rows.size() % spec.tables[t].row_dim() != 0) {
        return false;
      }
    }
    return values.size() == cells &&
           dense.size() == static_cast<size_t>(spec.dense_size()) &&
           logits == static_cast<size_t>(batch_size) * num_scores;
  }
};

// A range [begin, end) of the elements of ModelOutput::d_dense.
struct DenseRange {
  size_t begin = 0;
  size_t end = 0;
};

// The results of a training step, in the caller's memory. Gradients are those
// of the loss's sum over the batch, divided by ModelInput::loss_divisor.
struct ModelOutput {
  double loss_sum = 0;       // sum over the batch, with the weights before the
                             // update
  absl::Span<float> logits;  // B × C, the scores; overwritten
  // U × D, overwritten: the gradient of each table's rows, in the order of
  // ModelInput::tables.
  absl::InlinedVector<absl::Span<float>, 1> d_rows;
  absl::Span<float> d_dense;  // shaped as `dense`; overwritten
  // Empty, or a function that learns which ranges of d_dense are final.
  // ForwardBackward calls it on its own thread with each range as soon as the
  // rest of the step does not change the range. By the return, the ranges have
  // covered d_dense, each element once, in any order; in a network the last
  // layer comes first. The function may read final ranges, and may hand them to
  // another thread. It must not wait, because the model computes on this
  // thread, and must not use the model.
  std::function<void(DenseRange)> on_final;

  // For models: calls on_final with the range of `part`, unless it is empty.
  // REQUIRES: `part` lies in d_dense and is final.
  void TellFinal(absl::Span<const float> part) const {
    if (!on_final || part.empty()) return;
    const size_t begin = static_cast<size_t>(part.data() - d_dense.data());
    SHOAL_DCHECK(begin + part.size() <= d_dense.size());
    on_final({begin, begin + part.size()});
  }
};

// SEAM: DeepFM, the factorisation machine with logistic regression, and the
// linear probe of the exact tests. Thread-compatible: a model owns scratch
// memory, so each tower has one of its own. Equal inputs give equal bits.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelSpec& spec() const = 0;
  // The quantity that the model is trained to predict; it also decides C.
  virtual const Objective& objective() const = 0;

  // Forward pass without dropout. logits: B × C, overwritten. REQUIRES: spans
  // have the sizes given above.
  virtual void Predict(const ModelInput& input, absl::Span<float> logits) = 0;

  // Forward with dropout, loss, backward. REQUIRES: batch_size >= 1,
  // loss_divisor is finite and greater than 0, and spans have the sizes given
  // above.
  virtual void ForwardBackward(const ModelInput& input,
                               ModelOutput* output) = 0;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_MODEL_H_
