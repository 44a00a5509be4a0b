#ifndef SHOAL_MODELS_LAYERS_DISTINCT_DENSE_H_
#define SHOAL_MODELS_LAYERS_DISTINCT_DENSE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/sample_work.h"
#include "models/backend/backend.h"
#include "models/layers/part_done.h"

namespace shoal {

// The fully connected layer with ReLU over the embeddings of B examples of F
// fields, y = relu(e · W + b) with e_bj = v[row_bj] x_bj and W: F·K × O in F
// blocks W_j of K × O. It is computed from the distinct pairs p of a field and
// a row:
//
//   e_b · W = Σ_j x_bj (v_p · W_j)              p = (j, row_bj)
//   S_p     = Σ_b x_bj d_z[b]                   over the examples with pair p
//   dv_p    = S_p · W_jᵀ,   dW_j = Σ_p v_pᵀ S_p
//
// whereas DenseLayer multiplies by W, Wᵀ and eᵀ once per occurrence. Rows of
// click data repeat: a batch of 1,024 examples of Criteo has 6,500 distinct
// pairs among 40,000 occurrences. The result equals DenseLayer's except for
// rounding. It does not depend on how the rows are numbered, and so not on the
// number of shards.
//
// The layer holds pairs × (K + O) and B × (F + 2 O) floats. The caller owns the
// weights. The calls for a set of examples are, in this order: Plan, Forward;
// to train, also BiasBackward once for each part of the examples, then Backward
// once. Thread-compatible.
class DistinctDenseLayer {
 public:
  // `backend` must outlive the layer.
  DistinctDenseLayer(int field_size, int dim, int outputs, Backend* backend);

  // The largest number of distinct pairs among `occurrences` occurrences for
  // which this layer costs clearly less than DenseLayer; negative if it never
  // does. The number is an estimate, fitted to oneDNN and layers of 8 to 64
  // inputs a field and 16 to 1,024 outputs.
  static int64_t MostPairs(size_t occurrences, int dim, int outputs);
  // The work of a sample by that estimate: `plain` is that of DenseLayer. An id
  // is taken for one pair.
  static SampleWork Work(int field_size, int dim, int outputs);

  // Finds the pairs of the input's examples, which are the examples of the
  // calls below. Stops and returns false if there are more than `most_pairs`
  // pairs.
  bool Plan(const FmInput& input, int64_t most_pairs);

  // REQUIRES: Plan returned true, with the same input.
  void Forward(const FmInput& input, absl::Span<const float> weights,
               absl::Span<const float> biases);

  // y of `count` examples from `first` on, count × O, kept until the next
  // Forward. The caller may change y in place (dropout), as long as no element
  // that was 0 becomes positive.
  absl::Span<float> y(int first, int count);

  // The memory, count × O, to which the caller writes the gradient of these
  // examples' y. It is valid after Forward and until the next Forward.
  absl::Span<float> d_y(int first, int count);

  // Changes d_y of these examples in place to the gradient before the
  // activation. d_biases (O) is overwritten, or with `accumulate` added to.
  void BiasBackward(int first, int count, bool accumulate,
                    absl::Span<float> d_biases);

  // d_weights (F·K × O) is overwritten, or with `accumulate` added to. The last
  // K columns of d_rows (U × (1 + K), the gradient of input.rows) are added to.
  // `done` learns of the block dW_j of each field j, in the order of fields.
  void Backward(const FmInput& input, absl::Span<const float> weights,
                bool accumulate, absl::Span<float> d_weights,
                absl::Span<float> d_rows, PartDone done = IgnorePart);

 private:
  size_t num_pairs() const { return rows_.size(); }
  int PairsOf(int field) const { return begin_[field + 1] - begin_[field]; }
  // The block of field j in F·K × O weights.
  template <typename T>
  absl::Span<T> Block(absl::Span<T> weights, int field) const;
  // The embeddings of the pairs of field j.
  absl::Span<float> Embeddings(int field);
  // The examples of each pair of field j, with their x, as bags of rows of d_z.
  BagInput ExamplesByPair(const FmInput& input, int field);

  const int field_size_;
  const int dim_;
  const int outputs_;
  Backend* const backend_;
  // The last pair that Plan found for a row of the input, in the field that had
  // this stamp. Each field of each plan has its own stamp, so that nothing has
  // to be cleared in between.
  struct Seen {
    uint32_t stamp;
    int32_t pair;
  };
  std::vector<Seen> seen_;  // as long as the largest U so far
  bool planned_ = false;    // true if the last Plan returned true
  uint32_t stamp_ = 0;
  AlignedBuffer<int32_t> pairs_;     // B × F; -1: padding
  std::vector<int32_t> rows_;        // by pair; pairs by field, and in a
                                     // field by first occurrence
  std::vector<int32_t> begin_;       // F + 1: the first pair of each field
  std::vector<int32_t> examples_;    // B + 1: where each example's pairs begin
  AlignedBuffer<float> embeddings_;  // pairs × K: v, then dv
  AlignedBuffer<float> products_;  // pairs × O: v · W_j; then of one field: S
  AlignedBuffer<float> y_;         // B × O
  AlignedBuffer<float> d_y_;       // B × O, once there is a backward pass
  // The result of ExamplesByPair for one field.
  std::vector<int32_t> bag_begin_;
  std::vector<int32_t> bag_examples_;
  std::vector<float> bag_values_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_DISTINCT_DENSE_H_
