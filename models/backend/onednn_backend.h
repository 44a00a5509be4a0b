#ifndef SHOAL_MODELS_BACKEND_ONEDNN_BACKEND_H_
#define SHOAL_MODELS_BACKEND_ONEDNN_BACKEND_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "models/backend/backend.h"
#include "models/backend/reference_backend.h"

namespace shoal {

// The fast CPU backend. Gemm is oneDNN's sgemm, which packs its operands itself
// and has kernels for every processor since SSE4.1, chosen at run time. The
// passes over memory are those of vector_passes.h. Dropout's mask and the loss
// are those of plain_passes.h.
//
// It uses one thread. Debian's oneDNN is built on OpenMP, and would spread each
// product over all processors with a pool of threads that spin between calls.
// OpenMP keeps its number of threads per calling thread, so each Gemm sets it
// to 1 for the thread that it runs on (omp_set_num_threads: one store). A
// parallel region of one thread starts no other thread, so the pool is never
// created. The setting stays in force; nothing else in Shoal uses OpenMP.
//
// On processors without AVX-512, oneDNN reads operands with rows of 512 floats
// down their columns. Rows that lie 2 KiB apart share few sets of the caches,
// so such a product takes a quarter to a half longer (LayerProduct of
// models_bench). The operand is copied first, into rows that lie a cache line
// farther apart.
class OneDnnBackend final : public Backend {
 public:
  // FAILED_PRECONDITION if the installed oneDNN uses a thread runtime other
  // than OpenMP, which cannot be limited to one thread in this way.
  static absl::Status Available();

  // True if the copies of operands (see above) pay on this processor.
  static bool PaddingPays();

  // `pad`: whether such operands are copied.
  // REQUIRES: Available() is OK.
  explicit OneDnnBackend(bool pad = PaddingPays());

  // For example "onednn 2.6.3, AVX-512 VNNI, passes AVX3, one thread".
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
  // An operand whose rows begin `stride` floats apart.
  struct Rows {
    const float* data;
    int stride;
  };
  // The operand, whose rows have `width` floats, or its padded copy in *copy if
  // that pays. `uses`: how often the product multiplies each of its floats.
  Rows Padded(absl::Span<const float> operand, int width, int uses,
              AlignedBuffer<float>* copy) const;

  const bool pad_;
  AlignedBuffer<float> padded_a_;
  AlignedBuffer<float> padded_b_;
  ReferenceBackend without_memory_;  // multiplies if oneDNN has no memory
};

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_ONEDNN_BACKEND_H_
