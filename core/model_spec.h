#ifndef SHOAL_CORE_MODEL_SPEC_H_
#define SHOAL_CORE_MODEL_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/optimizer_spec.h"

namespace shoal {

enum class InitializerKind {
  kZeros,
  // Normal, redrawn beyond two standard deviations; `scale` is the deviation
  // before truncation.
  kTruncatedNormal,
  // Uniform in [-scale, scale).
  kUniform,
};

// The distribution of a variable's initial values. The values are a function of
// (seed, variable's name, element), never of the order of arrival, so they are
// equal in every mode and with every partitioner.
struct InitializerSpec {
  InitializerKind kind = InitializerKind::kZeros;
  float scale = 0;
};

// A dense variable: a tensor held whole or in blocks cut along axis 0.
struct DenseSpec {
  std::string name;
  std::vector<int64_t> shape;  // row-major; empty is a scalar
  OptimizerSpec optimizer;
  InitializerSpec initializer;

  int64_t size() const;      // elements
  int64_t axis0() const;     // length of axis 0; 1 for a scalar
  int64_t row_size() const;  // elements of one index of axis 0
};

// One named variable inside a table's record (a column group): DeepFM's w and
// v share a table, so that one look-up finds both, and stay two variables with
// their own optimizer, rate, L2 and initial values.
struct ColumnSpec {
  std::string variable;
  int dim = 0;  // floats of a row
  OptimizerSpec optimizer;
  InitializerSpec initializer;
};

// The behaviour of a dynamic table for an id that it has no room for.
enum class TableFull {
  kRefuse,  // the request fails and changes nothing: OUT_OF_RANGE, or
            // RESOURCE_EXHAUSTED while other requests may still make room
  kShare,   // all such ids read and update one row, the shard's shared row
};

// An embedding table: rows named by feature id. A row on the wire is its
// columns' weights, one after the other: row_dim() floats.
struct TableSpec {
  std::string name;
  // Ids lie in [0, feature_size). 0: the table is dynamic, its ids are any
  // 64-bit numbers, and only the rows that were used take memory.
  uint64_t feature_size = 0;
  std::vector<ColumnSpec> columns;
  // Rows of a dynamic table that one shard may hold, without the shared row.
  // 0: no limit.
  uint64_t row_limit = 0;
  TableFull when_full = TableFull::kRefuse;
  // True for a table that is not partitioned: every shard has its own row for
  // any id (core/canary.h). Only for dynamic tables.
  bool on_every_shard = false;

  bool dynamic() const { return feature_size == 0; }

  int row_dim() const;   // floats of weights in a row, all columns
  int slot_dim() const;  // floats of optimizer state in a row
};

// All variables of a model. Their order is the same on every process: a
// variable's index is its name on the wire. Built by models/ from the options
// of a model.
struct ModelSpec {
  std::string model;  // "deepfm", "lr", …
  uint64_t seed = 0;
  std::vector<TableSpec> tables;
  std::vector<DenseSpec> dense;
  // True if the model's gradient is that of a mean loss, which synchronous
  // modes of training make by one division (core/gradient_sum.h). False if the
  // gradient is a sum over examples that no mode divides. Follows from `model`:
  // checkpoints do not hold it.
  bool divides_gradient = true;

  int64_t dense_size() const;  // elements of all dense variables
  // Refuses empty or repeated names, dims and sizes out of range, bad rates,
  // and rowwise_adagrad on a dense variable.
  absl::Status Validate() const;
};

}  // namespace shoal

#endif  // SHOAL_CORE_MODEL_SPEC_H_
