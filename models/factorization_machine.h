#ifndef SHOAL_MODELS_FACTORIZATION_MACHINE_H_
#define SHOAL_MODELS_FACTORIZATION_MACHINE_H_

#include <cstdint>

#include "models/layers/fm.h"
#include "models/layers/loss.h"
#include "models/model.h"
#include "models/model_options.h"

namespace shoal {

// The variables of fm, which is DeepFM without its network: table "fm" with
// columns "fm_w" (1) and "fm_v" (K), and dense "fm_b" [1]. Initial values are
// DeepFM's. REQUIRES: valid options.
ModelSpec FactorizationMachineSpec(const ModelOptions& options);

// The variables of lr, which is fm without the vectors: table "lr" with the
// column "lr_w" (1), and dense "lr_b" [1]. REQUIRES: valid options.
ModelSpec LogisticRegressionSpec(const ModelOptions& options);

// As DeepFmMemoryBytes (models/deepfm.h).
uint64_t FactorizationMachineMemoryBytes(const ModelOptions& options,
                                         int batch_size,
                                         uint64_t distinct_rows);
uint64_t LogisticRegressionMemoryBytes(const ModelOptions& options,
                                       int batch_size, uint64_t distinct_rows);

// A factorisation machine (Rendle, ICDM 2010) of the second order,
//   e_j = v[id_j] x_j
//   y = b + Σ_j w[id_j] x_j + ½ Σ_k ((Σ_j e_jk)² − Σ_j e_jk²)
// which is logistic regression if rows have no vector.
class FactorizationMachine final : public Model {
 public:
  // `spec` is one of the two above. The objective takes one score per example,
  // y. `objective` and `backend` must outlive the model.
  FactorizationMachine(ModelSpec spec, const Objective* objective,
                       Backend* backend);

  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return loss_.objective(); }
  void Predict(const ModelInput& input, absl::Span<float> logits) override;
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override;

 private:
  FmInput MakeFmInput(const ModelInput& input) const;

  const ModelSpec spec_;
  const int dim_;  // K; 0: logistic regression
  Backend* const backend_;
  FmLayer fm_;
  LossLayer loss_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_FACTORIZATION_MACHINE_H_
