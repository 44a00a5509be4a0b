#include "models/deepfm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/factorization_machine.h"
#include "models/initializers.h"

namespace shoal {

ModelSpec DeepFmSpec(const ModelOptions& options) {
  ModelSpec spec = FactorizationMachineSpec(options);
  const DenseSpec bias = std::move(spec.dense[0]);
  spec.dense.clear();
  auto add_layer = [&](const std::string& name, int inputs, int units) {
    spec.dense.push_back({absl::StrCat(name, "/weights"),
                          {inputs, units},
                          options.dense_optimizer,
                          XavierUniform(inputs, units)});
    spec.dense.push_back(
        {absl::StrCat(name, "/biases"), {units}, options.dense_optimizer, {}});
  };
  int inputs = options.field_size * options.embedding_size;
  for (size_t i = 0; i < options.deep_layers.size(); ++i) {
    add_layer(absl::StrCat("deep_", i), inputs, options.deep_layers[i]);
    inputs = options.deep_layers[i];
  }
  add_layer("deep_out", inputs, 1);
  spec.dense.push_back(bias);
  return spec;
}

DeepFm::DeepFm(const ModelOptions& options, ModelSpec spec, Backend* backend)
    : spec_(std::move(spec)),
      dim_(options.embedding_size),
      fm_(backend),
      loss_(backend) {
  auto variable = spec_.dense.begin();
  size_t offset = 0;
  auto next_place = [&] {
    const Place place{offset, static_cast<size_t>((variable++)->size())};
    offset += place.size;
    return place;
  };
  int inputs = options.field_size * dim_;
  auto add_layer = [&](int units, Activation activation, float keep) {
    const int index = static_cast<int>(deep_.size());
    const Place weights = next_place();
    const Place biases = next_place();
    deep_.push_back({DenseLayer(inputs, units, activation, backend),
                     DropoutLayer(options.seed, index, keep, backend), weights,
                     biases});
    inputs = units;
  };
  for (size_t i = 0; i < options.deep_layers.size(); ++i) {
    add_layer(options.deep_layers[i], Activation::kRelu,
              options.dropout_keep.empty() ? 1 : options.dropout_keep[i]);
  }
  add_layer(1, Activation::kIdentity, 1);
  bias_ = next_place();
}

FmInput DeepFm::MakeFmInput(const ModelInput& input) const {
  return {input.batch_size, input.field_size, dim_,
          input.row_index,  input.values,     input.rows};
}

void DeepFm::Predict(const ModelInput& input, absl::Span<float> logits) {
  Forward(input, /*training=*/false, logits);
}

void DeepFm::ForwardBackward(const ModelInput& input, ModelOutput* output) {
  Forward(input, /*training=*/true, output->logits);
  output->loss_sum = loss_.Forward(output->logits, input.labels);
  Backward(input, loss_.Backward(output->logits, input.labels), output);
}

void DeepFm::Forward(const ModelInput& input, bool training,
                     absl::Span<float> logits) {
  std::fill(logits.begin(), logits.end(), bias_.In(input.dense)[0]);
  fm_.Forward(MakeFmInput(input), logits);
  absl::Span<const float> x = fm_.embeddings();  // B × (F · K)
  for (DeepLayer& layer : deep_) {
    const absl::Span<float> y =
        layer.dense.Forward(input.batch_size, x, layer.weights.In(input.dense),
                            layer.biases.In(input.dense));
    if (training) {
      layer.dropout.Forward(input.batch, layer.dense.outputs(), y);
    }
    x = y;
  }
  for (size_t b = 0; b < logits.size(); ++b) logits[b] += x[b];
}

void DeepFm::Backward(const ModelInput& input, absl::Span<float> d_logits,
                      ModelOutput* output) {
  // The linear output layer leaves d_logits as they are, in place.
  absl::Span<float> d_y = d_logits;
  for (size_t i = deep_.size(); i-- > 0;) {
    DeepLayer& layer = deep_[i];
    const absl::Span<const float> x =
        i == 0 ? fm_.embeddings() : deep_[i - 1].dense.y();
    d_x_.ResizeDiscard(x.size());
    layer.dropout.Backward(d_y);
    layer.dense.Backward(x, layer.weights.In(input.dense), d_y,
                         layer.weights.In(output->d_dense),
                         layer.biases.In(output->d_dense), d_x_.span());
    std::swap(d_x_, d_y_);
    d_y = d_y_.span();
  }
  fm_.Backward(MakeFmInput(input), d_logits, d_y, output->d_rows);
  // Both biases are added to the logit.
  bias_.In(output->d_dense)[0] = deep_.back().biases.In(output->d_dense)[0];
}

}  // namespace shoal
