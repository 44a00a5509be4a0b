#ifndef SHOAL_MODELS_BACKEND_REFERENCE_BACKEND_H_
#define SHOAL_MODELS_BACKEND_REFERENCE_BACKEND_H_

#include <string>

#include "base/aligned_buffer.h"
#include "models/backend/backend.h"

namespace shoal {

// The oracle that other backends are tested against: plain loops, ordered so
// that the compiler vectorises the innermost loop. The shape alone decides the
// order of every sum.
class ReferenceBackend : public Backend {
 public:
  std::string description() const override;

  void Gemm(const GemmShape& shape, absl::Span<const float> a,
            absl::Span<const float> b, absl::Span<float> c) override;
  void Transpose(int rows, int cols, absl::Span<const float> from,
                 absl::Span<float> to) override;
  void BiasForward(Activation activation, absl::Span<const float> bias,
                   absl::Span<float> y) override;
  void BiasBackward(Activation activation, absl::Span<const float> y,
                    absl::Span<float> d_y, bool accumulate,
                    absl::Span<float> d_bias) override;
  void ScaleByMask(absl::Span<const uint8_t> mask, float scale,
                   absl::Span<float> x) override;
  void FmForward(const FmInput& input, absl::Span<float> embeddings,
                 absl::Span<float> sums, absl::Span<float> logits) override;
  void FmBackward(const FmInput& input, absl::Span<const float> sums,
                  absl::Span<const float> d_logits,
                  absl::Span<const float> d_embeddings, bool accumulate,
                  absl::Span<float> d_rows) override;
  void BagSum(const BagInput& bags, absl::Span<const float> rows,
              absl::Span<float> sums) override;
  double SigmoidCrossEntropyForward(absl::Span<const float> logits,
                                    absl::Span<const uint8_t> labels) override;
  void SigmoidCrossEntropyBackward(absl::Span<const float> logits,
                                   absl::Span<const uint8_t> labels,
                                   float scale,
                                   absl::Span<float> d_logits) override;

 private:
  // Copies of Gemm's transposed operands, in the plain order.
  AlignedBuffer<float> a_;
  AlignedBuffer<float> b_;
  AlignedBuffer<float> squares_;   // K
  AlignedBuffer<float> unwanted_;  // K; FmForward writes embeddings here that
                                   // no caller wants
};

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_REFERENCE_BACKEND_H_
