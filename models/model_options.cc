#include "models/model_options.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Wide enough for any real model; sizes stay far from overflow.
constexpr int kMaxWidth = 65535;
constexpr int64_t kMaxInputs = int64_t{1} << 24;
constexpr size_t kMaxLayers = 64;
constexpr uint64_t kMaxFeatureSize = uint64_t{1} << 48;

absl::Status CheckWidth(absl::string_view flag, int value) {
  if (value >= 1 && value <= kMaxWidth) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", value, " is not in [1, ", kMaxWidth, "]"));
}

absl::Status ValidateDeepLayers(const ModelOptions& options) {
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
        "--dropout: ", options.dropout_keep.size(), " values for ",
        options.deep_layers.size(), " layers of --deep_layers; give one each"));
  }
  for (const float keep : options.dropout_keep) {
    if (!(keep > 0 && keep <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dropout: ", keep,
                       " is not in (0, 1]; it is the chance to KEEP a unit"));
    }
  }
  return absl::OkStatus();
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

double ModelOptions::InitialRows() const {
  return feature_size > 0 ? static_cast<double>(feature_size) : 0x1p20;
}

absl::Status ModelOptions::Validate() const {
  const bool deepfm = model == "deepfm";
  const bool probe = model == "linear_probe";
  const bool fm = model == "fm";
  if (!deepfm && !fm && !probe && model != "lr") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--model: '", model, "' is none of deepfm, fm, lr, linear_probe"));
  }
  if (feature_size > kMaxFeatureSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--feature_size: ", feature_size,
        " is not in [0, 2^48]; give the largest feature id plus 1, or 0 for a "
        "dynamic table"));
  }
  SHOAL_RETURN_IF_ERROR(CheckWidth("--field_size", field_size));
  if (deepfm || fm || probe) {
    SHOAL_RETURN_IF_ERROR(CheckWidth("--embedding_size", embedding_size));
  }
  if (deepfm) SHOAL_RETURN_IF_ERROR(ValidateDeepLayers(*this));
  SHOAL_RETURN_IF_ERROR(Annotate(dense_optimizer.Validate(), "--optimizer"));
  SHOAL_RETURN_IF_ERROR(
      Annotate(table_optimizer.Validate(), "--table_optimizer"));
  SHOAL_RETURN_IF_ERROR(
      Annotate(WideOptimizer().Validate(), "--wide_optimizer"));
  if (dense_optimizer.kind == OptimizerKind::kRowwiseAdagrad) {
    return absl::InvalidArgumentError(
        "--optimizer: rowwise_adagrad is for tables; give it as "
        "--table_optimizer, beside adagrad or adam as --optimizer");
  }
  if (probe) {
    SHOAL_RETURN_IF_ERROR(ValidateExact("", dense_optimizer));
    SHOAL_RETURN_IF_ERROR(ValidateExact("table_", table_optimizer));
  }
  return absl::OkStatus();
}

}  // namespace shoal
