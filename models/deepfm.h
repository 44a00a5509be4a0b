#ifndef SHOAL_MODELS_DEEPFM_H_
#define SHOAL_MODELS_DEEPFM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/aligned_buffer.h"
#include "core/sample_work.h"
#include "models/batch_slices.h"
#include "models/layers/dense.h"
#include "models/layers/dropout.h"
#include "models/layers/embedding_dense.h"
#include "models/layers/fm.h"
#include "models/layers/loss.h"
#include "models/model.h"
#include "models/model_options.h"

namespace shoal {

// The most examples that are computed together. This number decides the memory
// of a worker's activations: a network of 1248 → 256 → 128 → 64 keeps 1.8 MB of
// them. Products over more examples are no faster, and the gradient of the
// weights over 4,096 examples is a tenth slower.
inline constexpr int kDeepFmPartMax = 256;
static_assert(kDeepFmPartMax <= EmbeddingDenseOptions::kMinStretch);

// The options of the first deep layer. REQUIRES: valid options.
EmbeddingDenseOptions DeepFmFirstLayerOptions(const ModelOptions& options);

// The most memory, in bytes, that the model holds for batches of `batch_size`
// examples and `distinct_rows` distinct rows. REQUIRES: valid options.
uint64_t DeepFmMemoryBytes(const ModelOptions& options, int batch_size,
                           uint64_t distinct_rows);

// The work of the deep layers. REQUIRES: valid options.
SampleWork DeepFmWork(const ModelOptions& options);

// Checks the options that only deepfm has. INVALID_ARGUMENT names the flag.
absl::Status ValidateDeepFm(const ModelOptions& options);

// The variables of DeepFM. Table "fm": columns "fm_w" (1) and "fm_v" (K).
// Dense, in this order: for each deep layer i from 0 "deep_i/weights"
// [inputs, units] and "deep_i/biases" [units]; "deep_out/weights" [last, 1];
// "deep_out/biases" [1]; "fm_b" [1]. The scalars come last so that layers of a
// multiple of 16 units start on 64-byte boundaries in an aligned vector.
// Initial values: w and v Glorot normal (the fans of w are both feature_size),
// the layers' weights Xavier uniform, biases 0. REQUIRES: valid options.
ModelSpec DeepFmSpec(const ModelOptions& options);

// DeepFM (Guo et al., IJCAI 2017):
//   e_j = v[id_j] x_j
//   y = b + Σ_j w[id_j] x_j + ½ Σ_k ((Σ_j e_jk)² − Σ_j e_jk²) + MLP(e_1 … e_F)
// where the MLP has ReLU layers with dropout after them and a linear output.
// Missing fields of short examples enter the MLP as zeros. The model adds no
// L2: the optimizer adds it where gradients are applied.
class DeepFm final : public Model {
 public:
  // `spec` is DeepFmSpec(options). The objective takes one score per example,
  // y. `objective` and `backend` must outlive the model.
  DeepFm(const ModelOptions& options, ModelSpec spec,
         const Objective* objective, Backend* backend);

  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return loss_.objective(); }
  void Predict(const ModelInput& input, absl::Span<float> logits) override;
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override;

 private:
  // A dense variable's place in ModelInput::dense and ModelOutput::d_dense.
  struct Place {
    size_t offset = 0;
    size_t size = 0;

    template <typename T>
    absl::Span<T> In(absl::Span<T> dense) const {
      return dense.subspan(offset, size);
    }
  };
  // The variables of one layer of the network.
  struct Variables {
    Place weights;
    Place biases;
  };
  struct DeepLayer {
    DenseLayer dense;
    DropoutLayer dropout;  // keeps all units on the output layer
    Variables variables;
  };

  // A batch goes through the network in stretches. The first layer looks for
  // repeated rows within a stretch. A stretch goes through in parts of at most
  // kDeepFmPartMax examples, whose activations stay in the cache. The gradients
  // of the parts are added up.
  FmInput MakeFmInput(const ModelInput& input) const;
  void Begin(const BatchSlice& stretch);
  void Forward(const BatchSlice& stretch, const BatchSlice& part, bool training,
               absl::Span<float> logits);
  void Backward(const BatchSlice& stretch, const BatchSlice& part,
                absl::Span<float> d_logits, ModelOutput* output);
  // Completes the stretch after Backward of all its parts.
  void End(const BatchSlice& stretch, ModelOutput* output);

  const ModelSpec spec_;
  const int dim_;  // K
  FmLayer fm_;
  EmbeddingDenseLayer first_;  // deep_0
  Variables first_variables_;
  DropoutLayer first_dropout_;
  std::vector<DeepLayer> deep_;  // from deep_1 on; the last layer is deep_out
  Place bias_;
  LossLayer loss_;
  // Gradients of one part in a layer's backward pass: examples × outputs of the
  // layer, and examples × inputs of the layer.
  AlignedBuffer<float> d_y_;
  AlignedBuffer<float> d_x_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_DEEPFM_H_
