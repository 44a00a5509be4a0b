#include "models/model_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "models/model_table.h"

namespace shoal {
namespace {

// Wide enough for any real model; sizes stay far from overflow.
constexpr int kMaxWidth = 65535;
constexpr uint64_t kMaxFeatureSize = uint64_t{1} << 48;

}  // namespace

absl::Status CheckWidth(absl::string_view flag, int value) {
  if (value >= 1 && value <= kMaxWidth) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", value, " is not in [1, ", kMaxWidth, "]"));
}

double ModelOptions::InitialRows() const {
  return feature_size > 0 ? static_cast<double>(feature_size) : 0x1p20;
}

absl::Status ModelOptions::Validate() const {
  const ModelKind* kind = FindModel(model);
  if (kind == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--model: '", model, "' is not one of ",
                     absl::StrJoin(Models(), ", ",
                                   [](std::string* out, const ModelKind& each) {
                                     absl::StrAppend(out, each.name);
                                   })));
  }
  if (feature_size > kMaxFeatureSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--feature_size: ", feature_size,
        " is not in [0, 2^48]; give the largest feature id plus 1, or 0 for a "
        "dynamic table"));
  }
  SHOAL_RETURN_IF_ERROR(CheckWidth("--field_size", field_size));
  if (kind->has_embeddings) {
    SHOAL_RETURN_IF_ERROR(CheckWidth("--embedding_size", embedding_size));
  }
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
  return kind->validate(*this);
}

}  // namespace shoal
