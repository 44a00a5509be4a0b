#include "models/create_model.h"

#include <utility>

#include "base/status_macros.h"
#include "models/model_table.h"

namespace shoal {

absl::StatusOr<ModelSpec> MakeModelSpec(const ModelOptions& options) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  ModelSpec spec = FindModel(options.model)->spec(options);
  for (TableSpec& table : spec.tables) {
    table.row_limit = options.table_row_limit;
    table.when_full = options.table_full;
  }
  SHOAL_RETURN_IF_ERROR(spec.Validate());
  return spec;
}

absl::StatusOr<std::unique_ptr<Model>> CreateModel(const ModelOptions& options,
                                                   Backend* backend) {
  SHOAL_ASSIGN_OR_RETURN(ModelSpec spec, MakeModelSpec(options));
  const ModelKind* const kind = FindModel(options.model);
  return kind->create(options, std::move(spec), kind->objective, backend);
}

}  // namespace shoal
