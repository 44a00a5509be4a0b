#ifndef SHOAL_MODELS_MODEL_OPTIONS_H_
#define SHOAL_MODELS_MODEL_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/first_layer.h"
#include "core/model_spec.h"
#include "core/optimizer_spec.h"

namespace shoal {

// Everything that decides a model's variables and arithmetic.
struct ModelOptions {
  std::string model = "deepfm";  // a name of Models() (models/model_table.h)
  // Ids lie in [0, feature_size). 0 allows any id and makes the table dynamic.
  uint64_t feature_size = 0;
  int field_size = 0;       // features of the longest example
  int embedding_size = 32;  // floats of v in a row; lr has no v
  // Units of each hidden layer. Only deepfm uses deep_layers and dropout_keep.
  std::vector<int> deep_layers = {256, 128, 64};
  // Chance to KEEP a unit, for each deep layer. Empty keeps all units.
  std::vector<float> dropout_keep;
  FirstLayer first_layer = FirstLayer::kAuto;
  uint64_t seed = 1;
  OptimizerSpec dense_optimizer;
  OptimizerSpec table_optimizer;
  // Optimizer of the wide part, the column that holds one weight per id (fm_w
  // of deepfm and fm, lr_w of lr). Without a value, the wide part uses
  // table_optimizer.
  std::optional<OptimizerSpec> wide_optimizer;

  const OptimizerSpec& WideOptimizer() const {
    return wide_optimizer.has_value() ? *wide_optimizer : table_optimizer;
  }

  // Row limit of a dynamic table, and what a full table does (TableSpec).
  uint64_t table_row_limit = 0;
  TableFull table_full = TableFull::kRefuse;

  // The number of rows that scales the tables' initial values, for initialisers
  // that depend on it: feature_size, or 2^20 for a dynamic table, whose number
  // of rows is not known in advance.
  double InitialRows() const;

  // INVALID_ARGUMENT if no model can be made from the options; the message
  // names the flag. linear_probe accepts only plain SGD with a power of two as
  // its rate, no L2 and no warm-up, because its arithmetic has to be exact
  // (models/linear_probe.h).
  absl::Status Validate() const;
};

// INVALID_ARGUMENT, naming the flag, if a width (fields, floats of an
// embedding, units of a layer) is out of range.
absl::Status CheckWidth(absl::string_view flag, int value);

}  // namespace shoal

#endif  // SHOAL_MODELS_MODEL_OPTIONS_H_
