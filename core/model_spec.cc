#include "core/model_spec.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Enough for any real model, and small enough that no product overflows.
constexpr int kMaxDim = 1 << 16;
constexpr int64_t kMaxDenseSize = int64_t{1} << 40;
constexpr uint64_t kMaxFeatureSize = uint64_t{1} << 48;

// Checks the fields that say how many rows the table has, and where.
absl::Status CheckRows(const TableSpec& table) {
  const std::string who = absl::StrCat("table '", table.name, "' ");
  if (table.feature_size > kMaxFeatureSize) {
    return absl::InvalidArgumentError(
        absl::StrCat(who, "has feature_size ", table.feature_size,
                     "; it must be at most 2^48, or 0 for a dynamic table"));
  }
  if (!table.dynamic() && (table.row_limit != 0 || table.on_every_shard)) {
    return absl::InvalidArgumentError(
        absl::StrCat(who,
                     "has a feature_size; only a dynamic table may have "
                     "a row limit or be on every shard"));
  }
  if (table.when_full == TableFull::kShare && table.row_limit == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(who, "has a shared row but no row limit"));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t DenseSpec::axis0() const { return shape.empty() ? 1 : shape[0]; }

int64_t DenseSpec::row_size() const {
  int64_t size = 1;
  for (size_t i = 1; i < shape.size(); ++i) size *= shape[i];
  return size;
}

int64_t DenseSpec::size() const { return axis0() * row_size(); }

int TableSpec::row_dim() const {
  int dim = 0;
  for (const ColumnSpec& column : columns) dim += column.dim;
  return dim;
}

int TableSpec::slot_dim() const {
  int dim = 0;
  for (const ColumnSpec& column : columns) {
    dim += static_cast<int>(column.optimizer.slot_floats(column.dim));
  }
  return dim;
}

int64_t ModelSpec::dense_size() const {
  int64_t size = 0;
  for (const DenseSpec& variable : dense) size += variable.size();
  return size;
}

absl::Status ModelSpec::Validate() const {
  std::set<std::string> names;
  auto check_name = [&names](const std::string& name) {
    if (name.empty()) {
      return absl::InvalidArgumentError("a variable has no name");
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two variables are named '", name, "'"));
    }
    return absl::OkStatus();
  };
  for (const TableSpec& table : tables) {
    SHOAL_RETURN_IF_ERROR(CheckRows(table));
    if (table.columns.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("table '", table.name, "' has no column"));
    }
    for (const ColumnSpec& column : table.columns) {
      SHOAL_RETURN_IF_ERROR(check_name(column.variable));
      if (column.dim < 1 || column.dim > kMaxDim) {
        return absl::InvalidArgumentError(
            absl::StrCat("variable '", column.variable, "' has dim ",
                         column.dim, "; it must be in [1, ", kMaxDim, "]"));
      }
      SHOAL_RETURN_IF_ERROR(
          Annotate(column.optimizer.Validate(),
                   absl::StrCat("variable '", column.variable, "'")));
    }
  }
  for (const DenseSpec& variable : dense) {
    SHOAL_RETURN_IF_ERROR(check_name(variable.name));
    int64_t size = 1;
    for (const int64_t length : variable.shape) {
      if (length < 1 || length > kMaxDenseSize / size) {
        return absl::InvalidArgumentError(absl::StrCat(
            "variable '", variable.name, "' has an axis of length ", length,
            "; every axis must have at least 1 and the whole variable at most ",
            kMaxDenseSize, " elements"));
      }
      size *= length;
    }
    SHOAL_RETURN_IF_ERROR(
        Annotate(variable.optimizer.Validate(),
                 absl::StrCat("variable '", variable.name, "'")));
    if (variable.optimizer.kind == OptimizerKind::kRowwiseAdagrad) {
      return absl::InvalidArgumentError(absl::StrCat(
          "variable '", variable.name,
          "' is dense, and rowwise_adagrad is for tables: give it adagrad"));
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal
