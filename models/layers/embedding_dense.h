#ifndef SHOAL_MODELS_LAYERS_EMBEDDING_DENSE_H_
#define SHOAL_MODELS_LAYERS_EMBEDDING_DENSE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/first_layer.h"
#include "core/sample_work.h"
#include "models/backend/backend.h"
#include "models/layers/dense.h"
#include "models/layers/distinct_dense.h"
#include "models/layers/part_done.h"

namespace shoal {

struct EmbeddingDenseOptions {
  FirstLayer form = FirstLayer::kAuto;
  int field_size = 0;  // F
  int dim = 0;         // K
  int outputs = 0;     // O

  // The fewest examples that a stretch can have.
  static constexpr int kMinStretch = 256;
  // The most examples that are searched together for repeated embeddings. More
  // examples contain more repeats, but the products of the distinct embeddings,
  // 15 to 25 MB for 39 fields of data like Criteo's, should stay in the
  // third-level cache. Wide models get fewer examples, so that the products
  // take no more than 128 MiB even if no embedding repeats.
  int Stretch() const;
  // The largest number of distinct pairs of a field and a row for which
  // `examples` examples use the distinct form. Negative if they never use it.
  int64_t MostPairs(int examples) const;
  // The work of a sample. A batch of more examples than a stretch repeats its
  // ids in several of them, which is left out.
  SampleWork Work() const;
  // The most memory, in bytes, that the distinct form holds in addition to the
  // dense form, for batches of `batch_size` examples and `distinct_rows`
  // distinct rows.
  uint64_t MemoryBytes(int batch_size, uint64_t distinct_rows) const;
};

// The fully connected layer with ReLU over the embeddings of B examples of F
// fields, y = relu(e · W + b), e: B × F·K, W: F·K × O, b: O, in the form that
// the options and the examples select. A batch goes through the layer in
// stretches, and a stretch in parts. A part's `first` counts from the stretch's
// first example:
//
//   NewWeights()                 once per batch that is trained
//   Begin(stretch)               chooses the form
//     Forward(first, count)      of each part
//     Backward(first, count)     of each part, after its Forward
//   End(stretch)                 after the last Backward
//
// The caller owns weights and biases. Gradients are overwritten, or with
// `accumulate` added to. `done` learns of d_biases in Backward. It learns of
// d_weights there too, or field by field in End if reads_embeddings() is false.
// Thread-compatible.
class EmbeddingDenseLayer {
 public:
  // `backend` must outlive the layer.
  EmbeddingDenseLayer(const EmbeddingDenseOptions& options, Backend* backend);

  const EmbeddingDenseOptions& options() const { return options_; }

  // See DenseLayer::NewWeights.
  void NewWeights() { dense_.NewWeights(); }

  void Begin(const FmInput& stretch, absl::Span<const float> weights,
             absl::Span<const float> biases);
  // True if Forward and Backward use the embeddings of their part.
  bool reads_embeddings() const { return !on_distinct_; }

  // Returns y of the part, count × O, kept until the next Forward. It may be
  // changed in place (dropout), as long as no element that was 0 becomes
  // positive. e: count × F·K, or empty if reads_embeddings() is false.
  absl::Span<float> Forward(int first, int count, absl::Span<const float> e,
                            absl::Span<const float> weights,
                            absl::Span<const float> biases);
  // The result of this part's Forward.
  absl::Span<const float> y(int first, int count);
  // The memory, count × O, to which the caller writes the gradient of y before
  // Backward.
  absl::Span<float> d_y(int first, int count);

  // Overwrites d_y. Returns the gradient of e, which is written over e. The
  // result is empty if reads_embeddings() is false; End then adds this gradient
  // to the rows' gradient.
  absl::Span<float> Backward(int first, int count, absl::Span<float> e,
                             absl::Span<const float> weights, bool accumulate,
                             absl::Span<float> d_weights,
                             absl::Span<float> d_biases, PartDone done);
  // Completes the stretch. d_rows (U × (1 + K)) is added to.
  void End(const FmInput& stretch, absl::Span<const float> weights,
           bool accumulate, absl::Span<float> d_weights,
           absl::Span<float> d_rows, PartDone done);

 private:
  const EmbeddingDenseOptions options_;
  DenseLayer dense_;
  DistinctDenseLayer distinct_;
  bool on_distinct_ = false;  // the form of this stretch
  AlignedBuffer<float> d_y_;  // for one part, in the dense form
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_EMBEDDING_DENSE_H_
