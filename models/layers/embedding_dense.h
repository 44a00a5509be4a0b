#ifndef SHOAL_MODELS_LAYERS_EMBEDDING_DENSE_H_
#define SHOAL_MODELS_LAYERS_EMBEDDING_DENSE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"
#include "models/layers/dense.h"
#include "models/layers/distinct_dense.h"
#include "models/layers/first_layer.h"

namespace shoal {

struct EmbeddingDenseOptions {
  FirstLayer form = FirstLayer::kAuto;
  int field_size = 0;  // F
  int dim = 0;         // K
  int outputs = 0;     // O

  // A stretch has as many examples as this at least.
  static constexpr int kMinStretch = 256;
  // Examples whose embeddings are searched for repeats together at most. The
  // more, the more repeat; but products of the distinct ones, 15 to 25 MB for
  // 39 fields of such data as Criteo's, should stay in the third-level cache.
  // Fewer for wide models, so that these products have no more than 128 MiB if
  // nothing repeats.
  int Stretch() const;
  // The largest number of distinct pairs of a field and a row with which the
  // layer of so many examples is computed from them; below 0: never, whatever
  // they are.
  int64_t MostPairs(int examples) const;
  // What the distinct form holds at most, beside what the dense one does, for
  // batches of so many examples and so many distinct rows.
  uint64_t MemoryBytes(int batch_size, uint64_t distinct_rows) const;
};

// The fully connected layer with ReLU over the embeddings of B examples of F
// fields, y = relu(e · W + b), e: B × F·K, W: F·K × O, b: O, in the form that
// the options and the examples ask for. A batch goes through in stretches, and
// these in parts, whose `first` counts from the stretch's first example:
//
//   NewWeights()                 once a batch that is trained
//   Begin(stretch)               chooses the form
//     Forward(first, count)      of each part
//     Backward(first, count)     of each part, after its Forward
//   End(stretch)                 after the last Backward
//
// Weights and biases are the caller's. Gradients are overwritten, or with
// `accumulate` added to. Thread-compatible.
class EmbeddingDenseLayer {
 public:
  // `backend` must outlive the layer.
  EmbeddingDenseLayer(const EmbeddingDenseOptions& options, Backend* backend);

  const EmbeddingDenseOptions& options() const { return options_; }

  // As of DenseLayer.
  void NewWeights() { dense_.NewWeights(); }

  void Begin(const FmInput& stretch, absl::Span<const float> weights,
             absl::Span<const float> biases);
  // Whether Forward and Backward use the embeddings of their part.
  bool reads_embeddings() const { return !on_distinct_; }

  // Returns y of the part, count × O, kept until the next Forward. It may be
  // changed in place (dropout), so long as no element that was 0 becomes
  // positive. e: count × F·K, or empty where it is not read.
  absl::Span<float> Forward(int first, int count, absl::Span<const float> e,
                            absl::Span<const float> weights,
                            absl::Span<const float> biases);
  // What Forward of this part returned.
  absl::Span<const float> y(int first, int count);
  // Where the gradient of y is to be put before Backward, count × O.
  absl::Span<float> d_y(int first, int count);

  // Uses up d_y. Returns the gradient of e, which takes its place; empty where
  // e is not read: then End adds it to the rows' gradient.
  absl::Span<float> Backward(int first, int count, absl::Span<float> e,
                             absl::Span<const float> weights, bool accumulate,
                             absl::Span<float> d_weights,
                             absl::Span<float> d_biases);
  // What is left to do for the stretch; d_rows (U × (1 + K)) is added to.
  void End(const FmInput& stretch, absl::Span<const float> weights,
           bool accumulate, absl::Span<float> d_weights,
           absl::Span<float> d_rows);

 private:
  const EmbeddingDenseOptions options_;
  DenseLayer dense_;
  DistinctDenseLayer distinct_;
  bool on_distinct_ = false;  // the form of this stretch
  AlignedBuffer<float> d_y_;  // of a part, in the dense form
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_EMBEDDING_DENSE_H_
