#ifndef SHOAL_MODELS_LOGISTIC_REGRESSION_H_
#define SHOAL_MODELS_LOGISTIC_REGRESSION_H_

#include "models/layers/fm.h"
#include "models/layers/sigmoid_cross_entropy.h"
#include "models/model.h"
#include "models/model_options.h"

namespace shoal {

// Table "lr" with the column "lr_w" (1), initialised as DeepFM's w; dense
// "lr_b" [1], zero. REQUIRES: valid options.
ModelSpec LogisticRegressionSpec(const ModelOptions& options);

// y = b + Σ_j w[id_j] x_j: DeepFM without vectors and network.
class LogisticRegression final : public Model {
 public:
  // `spec` is LogisticRegressionSpec(…). `backend` must outlive the model.
  LogisticRegression(ModelSpec spec, Backend* backend);

  const ModelSpec& spec() const override { return spec_; }
  void Predict(const ModelInput& input, absl::Span<float> logits) override;
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override;

 private:
  const ModelSpec spec_;
  Backend* const backend_;
  FmLayer linear_;
  SigmoidCrossEntropy loss_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LOGISTIC_REGRESSION_H_
