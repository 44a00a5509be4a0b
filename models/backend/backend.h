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

// Looked-up rows of one batch: B examples of F fields over U distinct rows of
// 1 + K floats, the weight w of the first order and then the vector v.
struct FmInput {
  int batch_size = 0;                   // B
  int field_size = 0;                   // F
  int dim = 0;                          // K; 0: the first order alone
  absl::Span<const int32_t> row_index;  // B × F, in [0, U); -1: padding, which
                                        // adds nothing anywhere
  absl::Span<const float> values;       // B × F, x
  absl::Span<const float> rows;         // U × (1 + K)
};

// Bags of rows of N floats, each row with a factor. Entries: fewer than 2^31.
struct BagInput {
  int dim = 0;                      // N
  absl::Span<const int32_t> begin;  // bags + 1, ascending: where in `index` and
                                    // `factors` each one's entries begin, and
                                    // where the last one's end
  absl::Span<const int32_t> index;  // of a row; -1: the entry adds nothing
  absl::Span<const float> factors;  // as many as index, or more
};

// SEAM: the arithmetic of the models, one method an operation. The reference
// loops are the oracle; oneDNN is the fast one. Every span has exactly the
// number of elements that its shape says, in host memory, and outputs overlap
// no input unless an operation says "in place". Operations cannot fail.
//
// Thread-compatible: an object owns scratch memory, so one a tower. It computes
// on the calling thread alone and starts no other. Equal inputs give equal
// bits, call after call and run after run on one processor type.
class Backend {
 public:
  virtual ~Backend() = default;

  // For the start-up line: the name, and what was chosen for this processor.
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

  // The backward pass of BiasForward, y being its result: d_y is multiplied by
  // the activation's slope (in place; ReLU: 0 where y is not above 0) and
  // d_bias (N, overwritten, or with `accumulate` added to) is its sum over the
  // examples. y and d_y: B × N.
  virtual void BiasBackward(Activation activation, absl::Span<const float> y,
                            absl::Span<float> d_y, bool accumulate,
                            absl::Span<float> d_bias) = 0;

  // x[i] = x[i] · scale where mask[i] is 1 and 0 where it is 0, in place:
  // dropout's forward pass, and its backward pass on the gradient.
  virtual void ScaleByMask(absl::Span<const uint8_t> mask, float scale,
                           absl::Span<float> x) = 0;

  // The factorisation machine (Rendle, ICDM 2010) over e = v · x:
  //   logits[b] += Σ_j w_j x_j + ½ Σ_k ((Σ_j e_jk)² − Σ_j e_jk²)
  // logits (B) accumulates; embeddings (B × F × K: e, zeros where padded;
  // empty: not wanted) and sums (B × K: Σ_j e_jk, kept for the backward pass)
  // are overwritten.
  virtual void FmForward(const FmInput& input, absl::Span<float> embeddings,
                         absl::Span<float> sums, absl::Span<float> logits) = 0;

  // Gradient of the rows, d_rows (U × (1 + K)), overwritten, or with
  // `accumulate` added to: the sum over the occurrences (b, j) of each row, in
  // the order of the batch, of
  //   dw += d_logits[b] · x
  //   dv += x · (d_embeddings[b][j] + d_logits[b] · (sums[b] − v · x))
  // sums are FmForward's. d_logits: B. d_embeddings: B × F × K, what came back
  // through other users of the embeddings; empty for none.
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

  // d_logits = (σ(z) − y) · scale, overwritten; scale 1/B is the mean loss.
  virtual void SigmoidCrossEntropyBackward(absl::Span<const float> logits,
                                           absl::Span<const uint8_t> labels,
                                           float scale,
                                           absl::Span<float> d_logits) = 0;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_BACKEND_H_
