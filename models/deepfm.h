#ifndef SHOAL_MODELS_DEEPFM_H_
#define SHOAL_MODELS_DEEPFM_H_

#include <cstddef>
#include <vector>

#include "base/aligned_buffer.h"
#include "models/layers/dense.h"
#include "models/layers/distinct_dense.h"
#include "models/layers/dropout.h"
#include "models/layers/fm.h"
#include "models/layers/sigmoid_cross_entropy.h"
#include "models/model.h"
#include "models/model_options.h"

namespace shoal {

// Examples that are computed together at most: the activations that a worker
// holds. Model B's net of 1248 → 256 → 128 → 64 keeps 1.8 MB of them. Products
// over more examples are no faster, and the gradient of the weights over 4,096
// is a tenth slower.
inline constexpr int kDeepFmPartMax = 256;

// Examples whose embeddings are searched for repeats together at most. The
// more, the more repeat; but products of the distinct ones, 15 to 25 MB for 39
// fields of such data as Criteo's, should stay in the third-level cache. Fewer
// for wide models, so that these products have no more than 128 MiB if nothing
// repeats, but never fewer than a part's. REQUIRES: valid options.
int DeepFmStretch(const ModelOptions& options);

// The largest number of distinct pairs of a field and a row with which the
// first layer of so many examples is computed from them (DistinctDenseLayer),
// by options.first_layer; below 0: never, whatever they are.
int64_t DeepFmMostPairs(const ModelOptions& options, int examples);

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
  // `spec` is DeepFmSpec(options). `backend` must outlive the model.
  DeepFm(const ModelOptions& options, ModelSpec spec, Backend* backend);

  const ModelSpec& spec() const override { return spec_; }
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
  struct DeepLayer {
    DenseLayer dense;
    DropoutLayer dropout;  // keeps all on the output layer
    Place weights;
    Place biases;
  };

  // Examples of a batch that follow one another.
  struct Slice {
    ModelInput input;  // of these examples alone
    int first = 0;     // position of the first of them in the batch
  };
  // A batch goes through the network in stretches of at most DeepFmStretch
  // examples, and these in parts of at most kDeepFmPartMax, whose activations
  // stay in the cache. Parts add up their gradients.
  struct Stretch {
    Slice slice;
    // The first layer is that of distinct embeddings, computed for all parts.
    bool distinct = false;
  };

  template <typename Visit>
  static void ForEachSlice(const Slice& whole, int most, const Visit& visit);
  FmInput MakeFmInput(const ModelInput& input) const;
  // Chooses the first layer, and computes it where it is of distinct
  // embeddings.
  Stretch Begin(const Slice& slice);
  void Forward(const Stretch& stretch, const Slice& part, bool training,
               absl::Span<float> logits);
  void Backward(const Stretch& stretch, const Slice& part,
                absl::Span<float> d_logits, ModelOutput* output);
  // What is left to do when all parts have gone backward.
  void End(const Stretch& stretch, ModelOutput* output);

  const ModelOptions options_;
  const ModelSpec spec_;
  const int dim_;  // K
  FmLayer fm_;
  DistinctDenseLayer distinct_;  // in place of deep_[0].dense
  std::vector<DeepLayer> deep_;  // the last one is deep_out
  Place bias_;
  SigmoidCrossEntropy loss_;
  // Of a part: examples × outputs of the layer in its backward pass, and ×
  // inputs of that layer.
  AlignedBuffer<float> d_y_;
  AlignedBuffer<float> d_x_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_DEEPFM_H_
