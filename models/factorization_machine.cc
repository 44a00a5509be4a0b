#include "models/factorization_machine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "models/initializers.h"

namespace shoal {

ModelSpec FactorizationMachineSpec(const ModelOptions& options) {
  SHOAL_DCHECK(options.Validate().ok());
  const double N = options.InitialRows();
  const int K = options.embedding_size;
  ModelSpec spec;
  spec.model = options.model;
  spec.seed = options.seed;
  spec.tables = {{"fm",
                  options.feature_size,
                  {{"fm_w", 1, options.WideOptimizer(), GlorotNormal(N, N)},
                   {"fm_v", K, options.table_optimizer, GlorotNormal(N, K)}}}};
  spec.dense = {{"fm_b", {1}, options.dense_optimizer, {}}};
  return spec;
}

ModelSpec LogisticRegressionSpec(const ModelOptions& options) {
  SHOAL_DCHECK(options.Validate().ok());
  const double N = options.InitialRows();
  ModelSpec spec;
  spec.model = options.model;
  spec.seed = options.seed;
  spec.tables = {{"lr",
                  options.feature_size,
                  {{"lr_w", 1, options.WideOptimizer(), GlorotNormal(N, N)}}}};
  spec.dense = {{"lr_b", {1}, options.dense_optimizer, {}}};
  return spec;
}

uint64_t FactorizationMachineMemoryBytes(const ModelOptions& options,
                                         int batch_size, uint64_t) {
  // The sums of each example's embeddings, and the gradient of its logit.
  return uint64_t(batch_size) * (uint64_t(options.embedding_size) + 1) *
         sizeof(float);
}

uint64_t LogisticRegressionMemoryBytes(const ModelOptions&, int batch_size,
                                       uint64_t) {
  return uint64_t(batch_size) * sizeof(float);
}

FactorizationMachine::FactorizationMachine(ModelSpec spec,
                                           const Objective* objective,
                                           Backend* backend)
    : spec_(std::move(spec)),
      dim_(spec_.tables[0].row_dim() - 1),
      backend_(backend),
      fm_(backend),
      loss_(objective, backend) {
  SHOAL_DCHECK(objective->num_scores() == 1);
}

FmInput FactorizationMachine::MakeFmInput(const ModelInput& input) const {
  const TableInput& table = input.tables[0];
  return {input.batch_size, input.field_size, dim_,
          table.row_index,  input.values,     table.rows};
}

void FactorizationMachine::Predict(const ModelInput& input,
                                   absl::Span<float> logits) {
  SHOAL_DCHECK(input.SizesAgree(spec_, 1, logits.size()));
  std::fill(logits.begin(), logits.end(), input.dense[0]);
  fm_.Forward(MakeFmInput(input), /*keep_embeddings=*/false, logits);
}

void FactorizationMachine::ForwardBackward(const ModelInput& input,
                                           ModelOutput* output) {
  SHOAL_DCHECK(input.batch_size >= 1);
  Predict(input, output->logits);
  output->loss_sum = loss_.Forward(output->logits, input.labels);
  const absl::Span<float> d_logits =
      loss_.Backward(output->logits, input.labels, input.loss_divisor);
  fm_.Backward(MakeFmInput(input), d_logits, /*d_embeddings=*/{},
               /*accumulate=*/false, output->d_rows[0]);
  backend_->BiasBackward(Activation::kIdentity, output->logits, d_logits,
                         /*accumulate=*/false, output->d_dense);
  output->TellFinal(output->d_dense);
}

}  // namespace shoal
