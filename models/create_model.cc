#include "models/create_model.h"

#include "base/status_macros.h"
#include "models/deepfm.h"
#include "models/factorization_machine.h"
#include "models/linear_probe.h"

namespace shoal {

absl::StatusOr<ModelSpec> MakeModelSpec(const ModelOptions& options) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  ModelSpec spec;
  if (options.model == "deepfm") {
    spec = DeepFmSpec(options);
  } else if (options.model == "fm") {
    spec = FactorizationMachineSpec(options);
  } else if (options.model == "lr") {
    spec = LogisticRegressionSpec(options);
  } else {
    spec = LinearProbeSpec(options);
  }
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
  if (options.model == "deepfm") {
    return std::make_unique<DeepFm>(options, std::move(spec), backend);
  }
  if (options.model == "fm" || options.model == "lr") {
    return std::make_unique<FactorizationMachine>(std::move(spec), backend);
  }
  return std::make_unique<LinearProbe>(std::move(spec), backend);
}

}  // namespace shoal
