#ifndef SHOAL_MODELS_DEEPFM_H_
#define SHOAL_MODELS_DEEPFM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/aligned_buffer.h"
#include "models/batch_slices.h"
#include "models/layers/dense.h"
#include "models/layers/dropout.h"
#include "models/layers/embedding_dense.h"
#include "models/layers/fm.h"
#include "models/layers/loss.h"
#include "models/model.h"
#include "models/model_options.h"

namespace shoal {

// Examples that are computed together at most: the activations that a worker
// holds. Model B's net of 1248 → 256 → 128 → 64 keeps 1.8 MB of them. Products
// over more examples are no faster, and the gradient of the weights over 4,096
// is a tenth slower.
inline constexpr int kDeepFmPartMax = 256;
static_assert(kDeepFmPartMax <= EmbeddingDenseOptions::kMinStretch);

// The first deep layer that the options ask for. REQUIRES: valid options.
EmbeddingDenseOptions DeepFmFirstLayerOptions(const ModelOptions& options);

// What the model holds at most, in bytes, for batches of so many examples and
// so many distinct rows. REQUIRES: valid options.
uint64_t DeepFmMemoryBytes(const ModelOptions& options, int batch_size,
                           uint64_t distinct_rows);

// What is wrong with the options that deepfm alone has: INVALID_ARGUMENT,
// naming the flag.
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
// Missing fields of short examples enter the MLP as zeros. No L2: it is added
// where gradients are applied.
class DeepFm final : public Model {
 public:
  // `spec` is DeepFmSpec(options); the objective is of one score, y. It and
  // `backend` must outlive the model.
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
  // Of every layer of the network beside its products.
  struct Variables {
    Place weights;
    Place biases;
  };
  struct DeepLayer {
    DenseLayer dense;
    DropoutLayer dropout;  // keeps all on the output layer
    Variables variables;
  };

  // A batch goes through the network in stretches, over which the first layer
  // looks for repeats, and these in parts of at most kDeepFmPartMax examples,
  // whose activations stay in the cache. Parts add up their gradients.
  FmInput MakeFmInput(const ModelInput& input) const;
  void Begin(const BatchSlice& stretch);
  void Forward(const BatchSlice& stretch, const BatchSlice& part, bool training,
               absl::Span<float> logits);
  void Backward(const BatchSlice& stretch, const BatchSlice& part,
                absl::Span<float> d_logits, ModelOutput* output);
  // What is left to do when all parts have gone backward.
  void End(const BatchSlice& stretch, ModelOutput* output);

  const ModelSpec spec_;
  const int dim_;  // K
  FmLayer fm_;
  EmbeddingDenseLayer first_;  // deep_0
  Variables first_variables_;
  DropoutLayer first_dropout_;
  std::vector<DeepLayer> deep_;  // from deep_1 on; the last one is deep_out
  Place bias_;
  LossLayer loss_;
  // Of a part: examples × outputs of the layer in its backward pass, and ×
  // inputs of that layer.
  AlignedBuffer<float> d_y_;
  AlignedBuffer<float> d_x_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_DEEPFM_H_
