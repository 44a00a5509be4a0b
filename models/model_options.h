#ifndef SHOAL_MODELS_MODEL_OPTIONS_H_
#define SHOAL_MODELS_MODEL_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/model_spec.h"
#include "core/optimizer_spec.h"
#include "models/layers/first_layer.h"

namespace shoal {

// Everything that decides a model's variables and arithmetic.
struct ModelOptions {
  std::string model = "deepfm";  // a name of Models() (models/model_table.h)
  // Ids lie in [0, feature_size); 0: any id, and the table is dynamic.
  uint64_t feature_size = 0;
  int field_size = 0;       // features of the longest example
  int embedding_size = 32;  // floats of v in a row; lr has none
  // Units of each hidden layer. deepfm alone uses these and dropout_keep.
  std::vector<int> deep_layers = {256, 128, 64};
  // Chance to KEEP a unit, for each deep layer; empty: keep all.
  std::vector<float> dropout_keep;
  FirstLayer first_layer = FirstLayer::kAuto;
  uint64_t seed = 1;
  OptimizerSpec dense_optimizer;
  OptimizerSpec table_optimizer;
  // Of the wide part, the column of one weight an id (fm_w of deepfm
  // and fm, lr's lr_w); none: as table_optimizer.
  std::optional<OptimizerSpec> wide_optimizer;

  const OptimizerSpec& WideOptimizer() const {
    return wide_optimizer.has_value() ? *wide_optimizer : table_optimizer;
  }

  // Of a dynamic table (TableSpec).
  uint64_t table_row_limit = 0;
  TableFull table_full = TableFull::kRefuse;

  // Rows by which the tables' initial values are scaled, where a rule asks for
  // their number: feature_size; of a dynamic table, whose rows are not known
  // before, 2^20.
  double InitialRows() const;

  // INVALID_ARGUMENT for what no model can be made of; the message names the
  // flag. linear_probe takes plain SGD with a power of two as its rate, no L2
  // and no warm-up alone: its arithmetic has to be exact
  // (models/linear_probe.h).
  absl::Status Validate() const;
};

// INVALID_ARGUMENT, naming the flag, for a width (fields, floats of an
// embedding, units of a layer) that no model has.
absl::Status CheckWidth(absl::string_view flag, int value);

}  // namespace shoal

#endif  // SHOAL_MODELS_MODEL_OPTIONS_H_
