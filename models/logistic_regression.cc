#include "models/logistic_regression.h"

#include <algorithm>
#include <utility>

#include "models/initializers.h"

namespace shoal {
namespace {

FmInput FirstOrder(const ModelInput& input) {
  return {input.batch_size, input.field_size, /*dim=*/0,
          input.row_index,  input.values,     input.rows};
}

}  // namespace

ModelSpec LogisticRegressionSpec(const ModelOptions& options) {
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

LogisticRegression::LogisticRegression(ModelSpec spec, Backend* backend)
    : spec_(std::move(spec)),
      backend_(backend),
      linear_(backend),
      loss_(backend) {}

void LogisticRegression::Predict(const ModelInput& input,
                                 absl::Span<float> logits) {
  std::fill(logits.begin(), logits.end(), input.dense[0]);
  linear_.Forward(FirstOrder(input), logits);
}

void LogisticRegression::ForwardBackward(const ModelInput& input,
                                         ModelOutput* output) {
  Predict(input, output->logits);
  output->loss_sum = loss_.Forward(output->logits, input.labels);
  const absl::Span<float> d_logits =
      loss_.Backward(output->logits, input.labels);
  linear_.Backward(FirstOrder(input), d_logits, /*d_embeddings=*/{},
                   output->d_rows);
  backend_->BiasBackward(Activation::kIdentity, output->logits, d_logits,
                         output->d_dense);
}

}  // namespace shoal
