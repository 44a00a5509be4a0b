#include "models/deepfm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "models/factorization_machine.h"
#include "models/initializers.h"

namespace shoal {
namespace {

constexpr int kMostStretch = 2048;
constexpr int64_t kStretchBytes = int64_t{128} << 20;

// As many examples as have no more than kStretchBytes of products.
int64_t ExamplesThatFit(const ModelOptions& options) {
  return kStretchBytes /
         (int64_t{4} * options.field_size *
          (int64_t{options.embedding_size} + options.deep_layers[0]));
}

}  // namespace

int DeepFmStretch(const ModelOptions& options) {
  SHOAL_DCHECK(options.field_size >= 1);
  return static_cast<int>(std::clamp<int64_t>(ExamplesThatFit(options),
                                              kDeepFmPartMax, kMostStretch));
}

int64_t DeepFmMostPairs(const ModelOptions& options, int examples) {
  const size_t occurrences = size_t(examples) * options.field_size;
  switch (options.first_layer) {
    case FirstLayer::kDense:
      return -1;
    case FirstLayer::kDistinct:
      return static_cast<int64_t>(occurrences);
    case FirstLayer::kAuto:
      break;
  }
  if (ExamplesThatFit(options) < kDeepFmPartMax) return -1;
  return DistinctDenseLayer::MostPairs(occurrences, options.embedding_size,
                                       options.deep_layers[0]);
}

ModelSpec DeepFmSpec(const ModelOptions& options) {
  SHOAL_DCHECK(options.Validate().ok());
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
    : options_(options),
      spec_(std::move(spec)),
      dim_(options.embedding_size),
      fm_(backend),
      distinct_(options.field_size, dim_, options.deep_layers[0], backend),
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

// Calls visit(slice) for slices of at most so many examples, about equal, that
// make up the whole one.
template <typename Visit>
void DeepFm::ForEachSlice(const Slice& whole, int most, const Visit& visit) {
  const ModelInput& all = whole.input;
  const int slices = (all.batch_size + most - 1) / most;
  for (int i = 0; i < slices; ++i) {
    const auto position = [&](int number) {
      return static_cast<int>(int64_t{all.batch_size} * number / slices);
    };
    const int begin = position(i);
    const int count = position(i + 1) - begin;
    Slice slice = {all, whole.first + begin};
    slice.input.batch_size = count;
    const int64_t cells = int64_t{all.field_size} * begin;
    const int64_t num_cells = int64_t{all.field_size} * count;
    slice.input.row_index = all.row_index.subspan(cells, num_cells);
    slice.input.values = all.values.subspan(cells, num_cells);
    if (!all.labels.empty()) {
      slice.input.labels = all.labels.subspan(begin, count);
    }
    visit(slice);
  }
}

void DeepFm::Predict(const ModelInput& input, absl::Span<float> logits) {
  SHOAL_DCHECK(input.SizesAgree(logits.size()));
  ForEachSlice({input}, DeepFmStretch(options_), [&](const Slice& slice) {
    const Stretch stretch = Begin(slice);
    ForEachSlice(slice, kDeepFmPartMax, [&](const Slice& part) {
      Forward(stretch, part, /*training=*/false,
              logits.subspan(part.first, part.input.batch_size));
    });
  });
}

void DeepFm::ForwardBackward(const ModelInput& input, ModelOutput* output) {
  SHOAL_DCHECK(input.batch_size >= 1);
  SHOAL_DCHECK(input.SizesAgree(output->logits.size()));
  output->loss_sum = 0;
  for (DeepLayer& layer : deep_) layer.dense.NewWeights();
  ForEachSlice({input}, DeepFmStretch(options_), [&](const Slice& slice) {
    const Stretch stretch = Begin(slice);
    ForEachSlice(slice, kDeepFmPartMax, [&](const Slice& part) {
      const absl::Span<const uint8_t> labels = part.input.labels;
      const absl::Span<float> logits =
          output->logits.subspan(part.first, labels.size());
      Forward(stretch, part, /*training=*/true, logits);
      output->loss_sum += loss_.Forward(logits, labels);
      Backward(stretch, part, loss_.Backward(logits, labels, input.batch_size),
               output);
    });
    End(stretch, output);
  });
}

DeepFm::Stretch DeepFm::Begin(const Slice& slice) {
  Stretch stretch = {slice};
  const int64_t most_pairs = DeepFmMostPairs(options_, slice.input.batch_size);
  const FmInput input = MakeFmInput(slice.input);
  stretch.distinct = most_pairs >= 0 && distinct_.Plan(input, most_pairs);
  if (stretch.distinct) {
    distinct_.Forward(input, deep_[0].weights.In(slice.input.dense),
                      deep_[0].biases.In(slice.input.dense));
  }
  return stretch;
}

void DeepFm::Forward(const Stretch& stretch, const Slice& part, bool training,
                     absl::Span<float> logits) {
  const ModelInput& input = part.input;
  std::fill(logits.begin(), logits.end(), bias_.In(input.dense)[0]);
  fm_.Forward(MakeFmInput(input), /*keep_embeddings=*/!stretch.distinct,
              logits);
  absl::Span<const float> x = fm_.embeddings();  // B × (F · K)
  for (DeepLayer& layer : deep_) {
    const absl::Span<float> y =
        stretch.distinct && &layer == &deep_[0]
            ? distinct_.y(part.first - stretch.slice.first, input.batch_size)
            : layer.dense.Forward(input.batch_size, x,
                                  layer.weights.In(input.dense),
                                  layer.biases.In(input.dense));
    if (training) {
      layer.dropout.Forward(input.batch, part.first, layer.dense.outputs(), y);
    }
    x = y;
  }
  for (size_t b = 0; b < logits.size(); ++b) logits[b] += x[b];
}

void DeepFm::Backward(const Stretch& stretch, const Slice& part,
                      absl::Span<float> d_logits, ModelOutput* output) {
  const ModelInput& input = part.input;
  const bool accumulate = part.first > 0;
  const int first = part.first - stretch.slice.first;
  // The linear output layer leaves d_logits as they are, in place.
  absl::Span<float> d_y = d_logits;
  for (size_t i = deep_.size(); i-- > 0;) {
    DeepLayer& layer = deep_[i];
    layer.dropout.Backward(d_y);
    if (i == 0 && stretch.distinct) {
      distinct_.BiasBackward(first, input.batch_size, accumulate,
                             layer.biases.In(output->d_dense));
      d_y = {};  // what comes back through the embeddings follows in End
      break;
    }
    const bool on_distinct = i == 1 && stretch.distinct;
    const absl::Span<const float> x = i == 0 ? fm_.embeddings()
                                      : on_distinct
                                          ? distinct_.y(first, input.batch_size)
                                          : deep_[i - 1].dense.y();
    // The largest gradient, of the embeddings, takes their place while they are
    // in the cache.
    absl::Span<float> d_x = fm_.embeddings();
    if (on_distinct) {
      d_x = distinct_.d_y(first, input.batch_size);
    } else if (i > 0) {
      d_x_.ResizeDiscard(x.size());
      d_x = d_x_.span();
      std::swap(d_x_, d_y_);
    }
    layer.dense.Backward(x, layer.weights.In(input.dense), d_y, accumulate,
                         layer.weights.In(output->d_dense),
                         layer.biases.In(output->d_dense), d_x);
    d_y = d_x;
  }
  fm_.Backward(MakeFmInput(input), d_logits, d_y, accumulate, output->d_rows);
  // Both biases are added to the logit.
  bias_.In(output->d_dense)[0] = deep_.back().biases.In(output->d_dense)[0];
}

void DeepFm::End(const Stretch& stretch, ModelOutput* output) {
  if (!stretch.distinct) return;
  distinct_.Backward(MakeFmInput(stretch.slice.input),
                     deep_[0].weights.In(stretch.slice.input.dense),
                     /*accumulate=*/stretch.slice.first > 0,
                     deep_[0].weights.In(output->d_dense), output->d_rows);
}

}  // namespace shoal
