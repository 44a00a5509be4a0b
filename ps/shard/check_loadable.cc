#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "ps/shard/shard_checkpoint.h"

namespace shoal {
namespace {

absl::Status Differs(absl::string_view what, absl::string_view there,
                     absl::string_view here, absl::string_view flag) {
  return absl::FailedPreconditionError(
      absl::StrCat("the checkpoint is of another model: ", what, " is ", there,
                   " in the checkpoint and ", here, " in this job",
                   flag.empty() ? "" : " (", flag, flag.empty() ? "" : ")"));
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

absl::Status CheckOptimizer(const std::string& variable,
                            const OptimizerSpec& saved,
                            const OptimizerSpec& wanted, bool weights_only) {
  if (weights_only || saved.kind == wanted.kind) return absl::OkStatus();
  return Differs(absl::StrCat("the optimizer of '", variable, "'"),
                 OptimizerName(saved.kind), OptimizerName(wanted.kind),
                 "--optimizer, --table_optimizer, --wide_optimizer");
}

absl::Status CheckTable(const TableSpec& saved, const TableSpec& table,
                        bool weights_only) {
  const std::string who = absl::StrCat("table '", table.name, "'");
  if (saved.feature_size != table.feature_size) {
    return Differs(absl::StrCat("the feature_size of ", who),
                   absl::StrCat(saved.feature_size),
                   absl::StrCat(table.feature_size),
                   "--feature_size; 0 is a dynamic table");
  }
  if (saved.on_every_shard != table.on_every_shard ||
      saved.columns.size() != table.columns.size()) {
    return Differs(absl::StrCat("the number of columns of ", who),
                   absl::StrCat(saved.columns.size()),
                   absl::StrCat(table.columns.size()), "--model");
  }
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const ColumnSpec& there = saved.columns[c];
    const ColumnSpec& here = table.columns[c];
    if (there.variable != here.variable) {
      return Differs(absl::StrCat("column ", c, " of ", who), there.variable,
                     here.variable, "--model");
    }
    if (there.dim != here.dim) {
      return Differs(absl::StrCat("the dim of '", here.variable, "'"),
                     absl::StrCat(there.dim), absl::StrCat(here.dim),
                     "--embedding_size");
    }
    SHOAL_RETURN_IF_ERROR(CheckOptimizer(here.variable, there.optimizer,
                                         here.optimizer, weights_only));
  }
  return absl::OkStatus();
}

absl::Status CheckDense(const DenseSpec& saved, const DenseSpec& dense,
                        bool weights_only) {
  if (saved.shape != dense.shape) {
    return Differs(absl::StrCat("the shape of '", dense.name, "'"),
                   ShapeText(saved.shape), ShapeText(dense.shape),
                   "--deep_layers, --field_size, --embedding_size");
  }
  return CheckOptimizer(dense.name, saved.optimizer, dense.optimizer,
                        weights_only);
}

// Returns nullptr if no entry has this name.
template <typename Spec>
const Spec* Find(const std::vector<Spec>& specs, const std::string& name) {
  const auto it = std::find_if(specs.begin(), specs.end(),
                               [&](const Spec& s) { return s.name == name; });
  return it == specs.end() ? nullptr : &*it;
}

absl::Status CheckNoMore(const ModelSpec& saved, const ModelSpec& model) {
  for (const TableSpec& table : saved.tables) {
    // A job without the canary may resume a checkpoint that has it.
    if (table.on_every_shard || Find(model.tables, table.name) != nullptr) {
      continue;
    }
    return Differs(absl::StrCat("table '", table.name, "'"), "present",
                   "absent", "--model");
  }
  for (const DenseSpec& dense : saved.dense) {
    if (Find(model.dense, dense.name) != nullptr) continue;
    return Differs(absl::StrCat("variable '", dense.name, "'"), "present",
                   "absent", "--model, --deep_layers");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLoadable(const ModelSpec& saved, const ModelSpec& model,
                           bool weights_only) {
  if (saved.model != model.model) {
    return Differs("the model", absl::StrCat("'", saved.model, "'"),
                   absl::StrCat("'", model.model, "'"), "--model");
  }
  for (const TableSpec& table : model.tables) {
    if (weights_only && table.on_every_shard) continue;
    const TableSpec* there = Find(saved.tables, table.name);
    if (there == nullptr) {
      return Differs(absl::StrCat("table '", table.name, "'"), "absent",
                     "present",
                     table.on_every_shard
                         ? "the checkpoint was saved without --canary, so "
                           "resume without --canary"
                         : "--model");
    }
    SHOAL_RETURN_IF_ERROR(CheckTable(*there, table, weights_only));
  }
  for (const DenseSpec& dense : model.dense) {
    const DenseSpec* there = Find(saved.dense, dense.name);
    if (there == nullptr) {
      return Differs(absl::StrCat("variable '", dense.name, "'"), "absent",
                     "present", "--model, --deep_layers");
    }
    SHOAL_RETURN_IF_ERROR(CheckDense(*there, dense, weights_only));
  }
  return CheckNoMore(saved, model);
}

}  // namespace shoal
