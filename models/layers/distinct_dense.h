#ifndef SHOAL_MODELS_LAYERS_DISTINCT_DENSE_H_
#define SHOAL_MODELS_LAYERS_DISTINCT_DENSE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"

namespace shoal {

// The fully connected layer with ReLU over the embeddings of B examples of F
// fields, y = relu(e · W + b) with e_bj = v[row_bj] x_bj, W: F·K × O in F
// blocks W_j of K × O, by the distinct pairs p of a field and a row:
//
//   e_b · W = Σ_j x_bj (v_p · W_j)              p = (j, row_bj)
//   S_p     = Σ_b x_bj d_z[b]                   over the examples with pair p
//   dv_p    = S_p · W_jᵀ,   dW_j = Σ_p v_pᵀ S_p
//
// where DenseLayer multiplies by W, Wᵀ and eᵀ once an occurrence. Rows of click
// data repeat: a batch of 1,024 of Criteo's has 6,500 distinct pairs among its
// 40,000. The result is DenseLayer's but for rounding. It does not depend on
// how the rows are numbered, so neither on the number of shards.
//
// Holds pairs × (K + O) and B × (F + 2 O) floats. Thread-compatible. The
// weights are the caller's. For some examples, in this order: Plan, Forward; to
// train also BiasBackward for all parts of them and Backward, each once.
class DistinctDenseLayer {
 public:
  // `backend` must outlive the layer.
  DistinctDenseLayer(int field_size, int dim, int outputs, Backend* backend);

  // Of so many occurrences, the largest number of distinct pairs with which
  // this layer costs clearly less than DenseLayer; below 0 where it never does.
  // An estimate, fitted to oneDNN and layers of 8 to 64 → 16 to 1,024.
  static int64_t MostPairs(size_t occurrences, int dim, int outputs);

  // Finds the pairs of some examples, which the calls below are about. Gives
  // up, and returns false, when there are more than `most_pairs`.
  bool Plan(const FmInput& input, int64_t most_pairs);

  // REQUIRES: Plan returned true, with the same input.
  void Forward(const FmInput& input, absl::Span<const float> weights,
               absl::Span<const float> biases);

  // y of `count` examples from `first` on, count × O, kept until the next
  // Forward. It may be changed in place (dropout), so long as no element that
  // was 0 becomes positive.
  absl::Span<float> y(int first, int count);

  // Where the gradient of those examples' y is to be put, count × O, after
  // Forward and until the next.
  absl::Span<float> d_y(int first, int count);

  // Changes d_y of those examples in place to the gradient before the
  // activation. d_biases (O) is overwritten, or with `accumulate`
  // added to.
  void BiasBackward(int first, int count, bool accumulate,
                    absl::Span<float> d_biases);

  // d_weights (F·K × O) is overwritten, or with `accumulate` added to. The last
  // K columns of d_rows (U × (1 + K), the gradient of input.rows) are added to.
  void Backward(const FmInput& input, absl::Span<const float> weights,
                bool accumulate, absl::Span<float> d_weights,
                absl::Span<float> d_rows);

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
  // What Plan last found for a row of the input: the pair of the field that had
  // this stamp. Each field of each plan has one of its own, so that nothing has
  // to be cleared in between.
  struct Seen {
    uint32_t stamp;
    int32_t pair;
  };
  std::vector<Seen> seen_;  // the most U there was
  bool planned_ = false;    // the last Plan returned true
  uint32_t stamp_ = 0;
  AlignedBuffer<int32_t> pairs_;     // B × F; -1: padding
  std::vector<int32_t> rows_;        // of each pair; pairs by field, and in a
                                     // field by first occurrence
  std::vector<int32_t> begin_;       // F + 1: the first pair of each field
  std::vector<int32_t> examples_;    // B + 1: where each one's pairs begin
  AlignedBuffer<float> embeddings_;  // pairs × K: v, then dv
  AlignedBuffer<float> products_;  // pairs × O: v · W_j; then of one field: S
  AlignedBuffer<float> y_;         // B × O
  AlignedBuffer<float> d_y_;       // B × O, once there is a backward pass
  // Of one field: ExamplesByPair.
  std::vector<int32_t> bag_begin_;
  std::vector<int32_t> bag_examples_;
  std::vector<float> bag_values_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_DISTINCT_DENSE_H_
