#include "models/linear_probe.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr float kUnit = 1.0f / 64;

// [-4, 4], all nine about equally often.
int UnitsOf(uint64_t hash) { return static_cast<int>(hash % 9) - 4; }

uint64_t Occurrence(uint8_t label, float value) {
  return uint64_t{std::bit_cast<uint32_t>(value)} << 1 | label;
}

absl::Status ValidateExact(absl::string_view prefix,
                           const OptimizerSpec& optimizer) {
  if (optimizer.kind != OptimizerKind::kSgd) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", prefix, "optimizer: linear_probe needs sgd, not ",
                     OptimizerName(optimizer.kind), ", to be exact"));
  }
  int exponent;
  if (std::frexp(optimizer.learning_rate, &exponent) != 0.5f) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", prefix, "learning_rate: linear_probe needs a power of two, not ",
        optimizer.learning_rate, ", to be exact"));
  }
  if (optimizer.l2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--l2_reg: linear_probe needs 0, not ", optimizer.l2, ", to be exact"));
  }
  if (optimizer.warmup_batches != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--warmup_batches: linear_probe needs 0, not ",
                     optimizer.warmup_batches, ", to be exact"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateLinearProbe(const ModelOptions& options) {
  SHOAL_RETURN_IF_ERROR(ValidateExact("", options.dense_optimizer));
  return ValidateExact("table_", options.table_optimizer);
}

uint64_t LinearProbeMemoryBytes(const ModelOptions&, int batch_size, uint64_t) {
  return uint64_t(batch_size) * sizeof(float);  // for the gradient of the loss
}

int ProbeRowUnits(uint8_t label, float value, int field, int column) {
  const auto place =
      static_cast<uint64_t>(field) << 32 | static_cast<uint64_t>(column);
  return UnitsOf(StableHashCombine(Occurrence(label, value), place));
}

uint64_t ProbeExampleHash(uint8_t label, absl::Span<const int32_t> row_index,
                          absl::Span<const float> values) {
  uint64_t hash = label;
  for (size_t j = 0; j < row_index.size(); ++j) {
    if (row_index[j] < 0) continue;
    hash = StableHashCombine(hash, j);
    hash = StableHashCombine(hash, Occurrence(label, values[j]));
  }
  return hash;
}

int ProbeDenseUnits(uint64_t example_hash, int64_t i) {
  return UnitsOf(StableHash(example_hash + static_cast<uint64_t>(i)));
}

ModelSpec LinearProbeSpec(const ModelOptions& options) {
  SHOAL_DCHECK(options.Validate().ok());
  ModelSpec spec;
  spec.model = options.model;
  spec.seed = options.seed;
  spec.tables = {
      {"probe",
       options.feature_size,
       {{"probe_w", options.embedding_size, options.table_optimizer, {}}}}};
  spec.dense = {{"probe_dense", {64, 8}, options.dense_optimizer, {}},
                {"probe_b", {1}, options.dense_optimizer, {}}};
  spec.divides_gradient = false;
  return spec;
}

LinearProbe::LinearProbe(ModelSpec spec, const Objective* objective,
                         Backend* backend)
    : spec_(std::move(spec)),
      row_dim_(spec_.tables[0].row_dim()),
      loss_(objective, backend) {
  SHOAL_DCHECK(objective->num_scores() == 1);
}

void LinearProbe::Predict(const ModelInput& input, absl::Span<float> logits) {
  SHOAL_DCHECK(input.SizesAgree(spec_, 1, logits.size()));
  const float bias = input.dense.back();
  const TableInput& table = input.tables[0];
  for (int b = 0; b < input.batch_size; ++b) {
    logits[b] = bias;
    for (int j = 0; j < input.field_size; ++j) {
      const size_t at = static_cast<size_t>(b) * input.field_size + j;
      const int32_t row = table.row_index[at];
      if (row < 0) continue;
      logits[b] +=
          table.rows[static_cast<size_t>(row) * row_dim_] * input.values[at];
    }
  }
}

void LinearProbe::ForwardBackward(const ModelInput& input,
                                  ModelOutput* output) {
  SHOAL_DCHECK(input.batch_size >= 1);
  Predict(input, output->logits);
  output->loss_sum = loss_.Forward(output->logits, input.labels);

  const absl::Span<float> d_rows = output->d_rows[0];
  std::fill(d_rows.begin(), d_rows.end(), 0.0f);
  std::fill(output->d_dense.begin(), output->d_dense.end(), 0.0f);
  for (int b = 0; b < input.batch_size; ++b) {
    const uint8_t label = input.labels[b];
    const size_t start = static_cast<size_t>(b) * input.field_size;
    const auto row_index =
        input.tables[0].row_index.subspan(start, input.field_size);
    const auto values = input.values.subspan(start, input.field_size);
    for (int j = 0; j < input.field_size; ++j) {
      if (row_index[j] < 0) continue;
      float* d_row =
          d_rows.data() + static_cast<size_t>(row_index[j]) * row_dim_;
      for (int k = 0; k < row_dim_; ++k) {
        d_row[k] += kUnit * ProbeRowUnits(label, values[j], j, k);
      }
    }
    const uint64_t hash = ProbeExampleHash(label, row_index, values);
    for (size_t i = 0; i < output->d_dense.size(); ++i) {
      output->d_dense[i] +=
          kUnit * ProbeDenseUnits(hash, static_cast<int64_t>(i));
    }
  }
  output->TellFinal(output->d_dense);
}

}  // namespace shoal
