#ifndef SHOAL_MODELS_BACKEND_ONEDNN_BACKEND_H_
#define SHOAL_MODELS_BACKEND_ONEDNN_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/backend/backend.h"
#include "models/backend/reference_backend.h"

namespace shoal {

// Gemm by oneDNN's sgemm, which packs its operands itself and has kernels for
// every processor since SSE4.1, chosen at run time; the passes over memory by
// vector_passes.h; dropout's mask and the loss by plain_passes.h.
//
// One thread: Debian's oneDNN is built on OpenMP, and would share each product
// among all processors by a pool that spins between calls. OpenMP keeps its
// number of threads per calling thread, so each Gemm sets it to 1 for the
// thread that it runs on (omp_set_num_threads: one store). A region of one
// thread starts no other, so the pool never comes to be. The setting stays;
// nothing else in Shoal uses OpenMP.
class OneDnnBackend final : public Backend {
 public:
  // FAILED_PRECONDITION where the installed oneDNN uses another thread runtime
  // than OpenMP or none, which could not be held to one thread in this way.
  static absl::StatusOr<std::unique_ptr<Backend>> Create();

  // Such as "onednn 2.6.3, AVX-512 VNNI, passes AVX3, one thread".
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
  OneDnnBackend() = default;

  ReferenceBackend without_memory_;  // multiplies where oneDNN has no memory
};

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_ONEDNN_BACKEND_H_
