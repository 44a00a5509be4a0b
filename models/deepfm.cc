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

template <typename Visit>
void DeepFm::ForEachPart(const ModelInput& batch, const Visit& visit) const {
  const int parts = (batch.batch_size + kDeepFmPartMax - 1) / kDeepFmPartMax;
  for (int i = 0; i < parts; ++i) {
    const auto position = [&](int number) {
      return static_cast<int>(int64_t{batch.batch_size} * number / parts);
    };
    const int first = position(i);
    const int count = position(i + 1) - first;
    Part part = {batch, first, batch.batch_size};
    part.input.batch_size = count;
    const int64_t cells = int64_t{batch.field_size} * first;
    const int64_t num_cells = int64_t{batch.field_size} * count;
    part.input.row_index = batch.row_index.subspan(cells, num_cells);
    part.input.values = batch.values.subspan(cells, num_cells);
    if (!batch.labels.empty()) {
      part.input.labels = batch.labels.subspan(first, count);
    }
    visit(part);
  }
}

void DeepFm::Predict(const ModelInput& input, absl::Span<float> logits) {
  ForEachPart(input, [&](const Part& part) {
    Forward(part, /*training=*/false,
            logits.subspan(part.first, part.input.batch_size));
  });
}

void DeepFm::ForwardBackward(const ModelInput& input, ModelOutput* output) {
  output->loss_sum = 0;
  ForEachPart(input, [&](const Part& part) {
    const absl::Span<float> logits =
        output->logits.subspan(part.first, part.input.batch_size);
    Forward(part, /*training=*/true, logits);
    output->loss_sum += loss_.Forward(logits, part.input.labels);
    Backward(part, loss_.Backward(logits, part.input.labels, part.batch_size),
             output);
  });
}

void DeepFm::Forward(const Part& part, bool training,
                     absl::Span<float> logits) {
  const ModelInput& input = part.input;
  std::fill(logits.begin(), logits.end(), bias_.In(input.dense)[0]);
  fm_.Forward(MakeFmInput(input), logits);
  absl::Span<const float> x = fm_.embeddings();  // B × (F · K)
  for (DeepLayer& layer : deep_) {
    const absl::Span<float> y =
        layer.dense.Forward(input.batch_size, x, layer.weights.In(input.dense),
                            layer.biases.In(input.dense));
    if (training) {
      layer.dropout.Forward(input.batch, part.first, layer.dense.outputs(), y);
    }
    x = y;
  }
  for (size_t b = 0; b < logits.size(); ++b) logits[b] += x[b];
}

void DeepFm::Backward(const Part& part, absl::Span<float> d_logits,
                      ModelOutput* output) {
  const ModelInput& input = part.input;
  const bool accumulate = part.first > 0;
  // The linear output layer leaves d_logits as they are, in place.
  absl::Span<float> d_y = d_logits;
  for (size_t i = deep_.size(); i-- > 0;) {
    DeepLayer& layer = deep_[i];
    const absl::Span<const float> x =
        i == 0 ? fm_.embeddings() : deep_[i - 1].dense.y();
    // The largest gradient, of the embeddings, takes their place while they are
    // in the cache.
    absl::Span<float> d_x = fm_.embeddings();
    if (i > 0) {
      d_x_.ResizeDiscard(x.size());
      d_x = d_x_.span();
      std::swap(d_x_, d_y_);
    }
    layer.dropout.Backward(d_y);
    layer.dense.Backward(x, layer.weights.In(input.dense), d_y, accumulate,
                         layer.weights.In(output->d_dense),
                         layer.biases.In(output->d_dense), d_x);
    d_y = d_x;
  }
  fm_.Backward(MakeFmInput(input), d_logits, d_y, accumulate, output->d_rows);
  // Both biases are added to the logit.
  bias_.In(output->d_dense)[0] = deep_.back().biases.In(output->d_dense)[0];
}

}  // namespace shoal
