#ifndef SHOAL_MODELS_BACKEND_BACKEND_H_
#define SHOAL_MODELS_BACKEND_BACKEND_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace shoal {

// c = op(a) · op(b), all row-major and dense. op(a) is m × k and op(b) k × n;
// a transposed operand is stored the other way round (a as k × m, b as n × k).
struct GemmShape {
  int m = 0;
  int n = 0;
  int k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  // Adds the product to c instead of overwriting c.
  bool accumulate = false;
};

enum class Activation { kIdentity, kRelu };

// Looked-up rows of one batch: B examples of F fields over U distinct rows. A
// row has 1 + K floats: the weight w of the first order, then the vector v.
struct FmInput {
  int batch_size = 0;                   // B
  int field_size = 0;                   // F
  int dim = 0;                          // K; 0: only the first order
  absl::Span<const int32_t> row_index;  // B × F, in [0, U); -1: padding, which
                                        // adds nothing anywhere
  absl::Span<const float> values;       // B × F, x
  absl::Span<const float> rows;         // U × (1 + K)
};

// Bags of rows of N floats. Each entry of a bag is a row and a factor. There
// are fewer than 2^31 entries.
struct BagInput {
  int dim = 0;                      // N
  absl::Span<const int32_t> begin;  // bags + 1, ascending: bag s has the
                                    // entries [begin[s], begin[s + 1]) of
                                    // `index` and `factors`
  absl::Span<const int32_t> index;  // row; -1: the entry adds nothing
  absl::Span<const float> factors;  // as many as index, or more
};

// SEAM: the arithmetic of the models, one method per operation. The reference
// loops are the oracle; oneDNN is the fast implementation. Every span lies in
// host memory and has exactly the number of elements that its shape says.
// Outputs overlap no input unless an operation says "in place". Operations
// cannot fail.
//
// Thread-compatible: an object owns scratch memory, so each tower has one of
// its own. It computes only on the calling thread and starts no other thread.
// Equal inputs give equal bits, call after call and run after run on one
// processor type.
class Backend {
 public:
  virtual ~Backend() = default;

  // The text of the start-up line: the backend's name, and what it chose for
  // this processor.
  virtual std::string description() const = 0;

  // See GemmShape. a: m × k, b: k × n, c: m × n, overwritten or accumulated.
  virtual void Gemm(const GemmShape& shape, absl::Span<const float> a,
                    absl::Span<const float> b, absl::Span<float> c) = 0;

  // to (cols × rows) = the transpose of from (rows × cols).
  virtual void Transpose(int rows, int cols, absl::Span<const float> from,
                         absl::Span<float> to) = 0;

  // y = activation(y + bias), in place. bias: N; y: B × N.
  virtual void BiasForward(Activation activation, absl::Span<const float> bias,
                           absl::Span<float> y) = 0;

  // The backward pass of BiasForward, where y is BiasForward's result. d_y is
  // multiplied by the activation's slope, in place (ReLU: 0 where y is not
  // above 0). d_bias (N) is overwritten by the sum of d_y over the examples, or
  // with `accumulate` the sum is added to it. y and d_y: B × N.
  virtual void BiasBackward(Activation activation, absl::Span<const float> y,
                            absl::Span<float> d_y, bool accumulate,
                            absl::Span<float> d_bias) = 0;

  // x[i] = x[i] · scale where mask[i] is 1 and 0 where it is 0, in place:
  // dropout's forward pass, and its backward pass on the gradient.
  virtual void ScaleByMask(absl::Span<const uint8_t> mask, float scale,
                           absl::Span<float> x) = 0;

  // The factorisation machine (Rendle, ICDM 2010) over e = v · x:
  //   logits[b] += Σ_j w_j x_j + ½ Σ_k ((Σ_j e_jk)² − Σ_j e_jk²)
  // logits (B) accumulates. embeddings (B × F × K) is overwritten by e, with
  // zeros where padded; an empty span means that the caller does not want it.
  // sums (B × K) is overwritten by Σ_j e_jk, which the backward pass needs.
  virtual void FmForward(const FmInput& input, absl::Span<float> embeddings,
                         absl::Span<float> sums, absl::Span<float> logits) = 0;

  // The gradient of the rows. d_rows (U × (1 + K)) is overwritten; with
  // `accumulate` the gradient is added to it. The gradient is the sum over the
  // occurrences (b, j) of each row, in the order of the batch, of
  //   dw += d_logits[b] · x
  //   dv += x · (d_embeddings[b][j] + d_logits[b] · (sums[b] − v · x))
  // sums are FmForward's. d_logits: B. d_embeddings: B × F × K, the gradient
  // from the other users of the embeddings; empty if there are no others.
  virtual void FmBackward(const FmInput& input, absl::Span<const float> sums,
                          absl::Span<const float> d_logits,
                          absl::Span<const float> d_embeddings, bool accumulate,
                          absl::Span<float> d_rows) = 0;

  // The sum of each bag's rows, in the order of its entries:
  //   sums[s] = Σ_i factors_i · rows[index_i], i in [begin_s, begin_s+1)
  // rows: any number × N. sums: bags × N, overwritten.
  virtual void BagSum(const BagInput& bags, absl::Span<const float> rows,
                      absl::Span<float> sums) = 0;

  // Returns the sum over the batch, in double, of
  //   −y log σ(z) − (1 − y) log(1 − σ(z)) = max(z, 0) − z y + log(1 + e^−|z|).
  // logits (z) and labels (y, 0 or 1): B.
  virtual double SigmoidCrossEntropyForward(
      absl::Span<const float> logits, absl::Span<const uint8_t> labels) = 0;

  // d_logits = (σ(z) − y) · scale, overwritten. With scale 1/B it is the
  // gradient of the mean loss.
  virtual void SigmoidCrossEntropyBackward(absl::Span<const float> logits,
                                           absl::Span<const uint8_t> labels,
                                           float scale,
                                           absl::Span<float> d_logits) = 0;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_BACKEND_H_
