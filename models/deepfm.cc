#include "models/deepfm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/factorization_machine.h"
#include "models/initializers.h"

namespace shoal {
namespace {

constexpr int64_t kMaxInputs = int64_t{1} << 24;
constexpr size_t kMaxLayers = 64;
// Bytes for each unit of the network and each example of a part: activations
// and their gradients, the packed operands of the products, and the memory that
// the products leave in the heap. Measured by bench/e2e/memory.py.
constexpr uint64_t kUnitBytes = 32;

float KeepOf(const ModelOptions& options, size_t layer) {
  return options.dropout_keep.empty() ? 1 : options.dropout_keep[layer];
}

// Tells the caller of ForwardBackward of gradients that a slice of the batch
// completes, if they are final: if no examples come after the slice.
class FinalIfLast {
 public:
  FinalIfLast(const BatchSlice& slice, const ModelOutput& output)
      : output_(output),
        last_(static_cast<size_t>(slice.first + slice.input.batch_size) ==
              output.logits.size()) {}

  void operator()(absl::Span<const float> part) const {
    if (last_) output_.TellFinal(part);
  }

 private:
  const ModelOutput& output_;
  const bool last_;
};

}  // namespace

EmbeddingDenseOptions DeepFmFirstLayerOptions(const ModelOptions& options) {
  SHOAL_DCHECK(options.Validate().ok());
  return {options.first_layer, options.field_size, options.embedding_size,
          options.deep_layers[0]};
}

uint64_t DeepFmMemoryBytes(const ModelOptions& options, int batch_size,
                           uint64_t distinct_rows) {
  uint64_t units =
      uint64_t(options.field_size) * uint64_t(options.embedding_size);
  for (const int layer : options.deep_layers) units += uint64_t(layer);
  return uint64_t(std::min(batch_size, kDeepFmPartMax)) * units * kUnitBytes +
         DeepFmFirstLayerOptions(options).MemoryBytes(batch_size,
                                                      distinct_rows);
}

SampleWork DeepFmWork(const ModelOptions& options) {
  SampleWork work = DeepFmFirstLayerOptions(options).Work();
  double weights = options.deep_layers.back();  // those of the output
  for (size_t i = 1; i < options.deep_layers.size(); ++i) {
    weights +=
        double{1.0 * options.deep_layers[i - 1]} * options.deep_layers[i];
  }
  work.plain += kFlopPerWeight * weights;
  work.per_sample += kFlopPerWeight * weights;
  return work;
}

absl::Status ValidateDeepFm(const ModelOptions& options) {
  if (options.deep_layers.empty() || options.deep_layers.size() > kMaxLayers) {
    return absl::InvalidArgumentError(
        absl::StrCat("--deep_layers: deepfm takes 1 to ", kMaxLayers,
                     " layers, not ", options.deep_layers.size()));
  }
  for (const int units : options.deep_layers) {
    SHOAL_RETURN_IF_ERROR(CheckWidth("--deep_layers", units));
  }
  const int64_t inputs =
      int64_t{options.field_size} * int64_t{options.embedding_size};
  if (inputs > kMaxInputs) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--field_size times --embedding_size: ", inputs,
        " inputs of the first deep layer are more than ", kMaxInputs));
  }
  if (!options.dropout_keep.empty() &&
      options.dropout_keep.size() != options.deep_layers.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--keep_prob: ", options.dropout_keep.size(), " values for ",
        options.deep_layers.size(), " layers of --deep_layers; give one each"));
  }
  for (const float keep : options.dropout_keep) {
    if (!(keep > 0 && keep <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--keep_prob: ", keep,
                       " is not in (0, 1]; it is the chance to KEEP a unit"));
    }
  }
  return absl::OkStatus();
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

DeepFm::DeepFm(const ModelOptions& options, ModelSpec spec,
               const Objective* objective, Backend* backend)
    : spec_(std::move(spec)),
      dim_(options.embedding_size),
      fm_(backend),
      first_(DeepFmFirstLayerOptions(options), backend),
      first_dropout_(options.seed, 0, KeepOf(options, 0), backend),
      loss_(objective, backend) {
  SHOAL_DCHECK(objective->num_scores() == 1);
  auto variable = spec_.dense.begin();
  size_t offset = 0;
  const auto next_place = [&] {
    const Place place{offset, static_cast<size_t>((variable++)->size())};
    offset += place.size;
    return place;
  };
  const auto next_variables = [&] {
    const Place weights = next_place();
    return Variables{weights, next_place()};
  };
  first_variables_ = next_variables();
  int inputs = options.deep_layers[0];
  const auto add_layer = [&](int units, Activation activation, float keep) {
    const int index = static_cast<int>(deep_.size()) + 1;
    deep_.push_back({DenseLayer(inputs, units, activation, backend),
                     DropoutLayer(options.seed, index, keep, backend),
                     next_variables()});
    inputs = units;
  };
  for (size_t i = 1; i < options.deep_layers.size(); ++i) {
    add_layer(options.deep_layers[i], Activation::kRelu, KeepOf(options, i));
  }
  add_layer(1, Activation::kIdentity, 1);
  bias_ = next_place();
}

FmInput DeepFm::MakeFmInput(const ModelInput& input) const {
  const TableInput& table = input.tables[0];
  return {input.batch_size, input.field_size, dim_,
          table.row_index,  input.values,     table.rows};
}

void DeepFm::Predict(const ModelInput& input, absl::Span<float> logits) {
  SHOAL_DCHECK(input.SizesAgree(spec_, 1, logits.size()));
  ForEachSlice({input}, first_.options().Stretch(), [&](const auto& stretch) {
    Begin(stretch);
    ForEachSlice(stretch, kDeepFmPartMax, [&](const BatchSlice& part) {
      Forward(stretch, part, /*training=*/false,
              logits.subspan(part.first, part.input.batch_size));
    });
  });
}

void DeepFm::ForwardBackward(const ModelInput& input, ModelOutput* output) {
  SHOAL_DCHECK(input.batch_size >= 1);
  SHOAL_DCHECK(input.SizesAgree(spec_, 1, output->logits.size()));
  output->loss_sum = 0;
  first_.NewWeights();
  for (DeepLayer& layer : deep_) layer.dense.NewWeights();
  ForEachSlice({input}, first_.options().Stretch(), [&](const auto& stretch) {
    Begin(stretch);
    ForEachSlice(stretch, kDeepFmPartMax, [&](const BatchSlice& part) {
      const absl::Span<const uint8_t> labels = part.input.labels;
      const absl::Span<float> logits =
          output->logits.subspan(part.first, labels.size());
      Forward(stretch, part, /*training=*/true, logits);
      output->loss_sum += loss_.Forward(logits, labels);
      Backward(stretch, part,
               loss_.Backward(logits, labels, input.loss_divisor), output);
    });
    End(stretch, output);
  });
}

void DeepFm::Begin(const BatchSlice& stretch) {
  first_.Begin(MakeFmInput(stretch.input),
               first_variables_.weights.In(stretch.input.dense),
               first_variables_.biases.In(stretch.input.dense));
}

void DeepFm::Forward(const BatchSlice& stretch, const BatchSlice& part,
                     bool training, absl::Span<float> logits) {
  const ModelInput& input = part.input;
  std::fill(logits.begin(), logits.end(), bias_.In(input.dense)[0]);
  fm_.Forward(MakeFmInput(input), /*keep_embeddings=*/first_.reads_embeddings(),
              logits);
  absl::Span<float> y =
      first_.Forward(part.first - stretch.first, input.batch_size,
                     fm_.embeddings(), first_variables_.weights.In(input.dense),
                     first_variables_.biases.In(input.dense));
  if (training) {
    first_dropout_.Forward(input.batch, part.first, first_.options().outputs,
                           y);
  }
  for (DeepLayer& layer : deep_) {
    y = layer.dense.Forward(input.batch_size, y,
                            layer.variables.weights.In(input.dense),
                            layer.variables.biases.In(input.dense));
    if (training) {
      layer.dropout.Forward(input.batch, part.first, layer.dense.outputs(), y);
    }
  }
  for (size_t b = 0; b < logits.size(); ++b) logits[b] += y[b];
}

void DeepFm::Backward(const BatchSlice& stretch, const BatchSlice& part,
                      absl::Span<float> d_logits, ModelOutput* output) {
  const ModelInput& input = part.input;
  const bool accumulate = part.first > 0;
  const int first = part.first - stretch.first;
  const FinalIfLast done(part, *output);
  // The linear output layer does not change d_logits.
  absl::Span<float> d_y = d_logits;
  for (size_t i = deep_.size(); i-- > 0;) {
    DeepLayer& layer = deep_[i];
    layer.dropout.Backward(d_y);
    absl::Span<const float> x;
    absl::Span<float> d_x;
    if (i == 0) {
      x = first_.y(first, input.batch_size);
      d_x = first_.d_y(first, input.batch_size);
    } else {
      x = deep_[i - 1].dense.y();
      d_x_.ResizeDiscard(x.size());
      d_x = d_x_.span();
      std::swap(d_x_, d_y_);
    }
    layer.dense.Backward(x, layer.variables.weights.In(input.dense), d_y,
                         accumulate,
                         layer.variables.weights.In(output->d_dense),
                         layer.variables.biases.In(output->d_dense), d_x, done);
    if (i + 1 == deep_.size()) {
      // Both biases are added to the logit, so their gradients are equal.
      const absl::Span<float> d_bias = bias_.In(output->d_dense);
      d_bias[0] = layer.variables.biases.In(output->d_dense)[0];
      done(d_bias);
    }
    d_y = d_x;
  }
  first_dropout_.Backward(d_y);
  const absl::Span<float> d_embeddings =
      first_.Backward(first, input.batch_size, fm_.embeddings(),
                      first_variables_.weights.In(input.dense), accumulate,
                      first_variables_.weights.In(output->d_dense),
                      first_variables_.biases.In(output->d_dense), done);
  fm_.Backward(MakeFmInput(input), d_logits, d_embeddings, accumulate,
               output->d_rows[0]);
}

void DeepFm::End(const BatchSlice& stretch, ModelOutput* output) {
  first_.End(MakeFmInput(stretch.input),
             first_variables_.weights.In(stretch.input.dense),
             /*accumulate=*/stretch.first > 0,
             first_variables_.weights.In(output->d_dense), output->d_rows[0],
             FinalIfLast(stretch, *output));
}

}  // namespace shoal
