#include "models/model_table.h"

#include <iterator>
#include <utility>

#include "core/model_names.h"
#include "models/binary_objective.h"
#include "models/deepfm.h"
#include "models/factorization_machine.h"
#include "models/linear_probe.h"

namespace shoal {
namespace {

absl::Status NothingToValidate(const ModelOptions&) { return absl::OkStatus(); }

SampleWork NoProducts(const ModelOptions&) { return {}; }

std::unique_ptr<Model> CreateDeepFm(const ModelOptions& options, ModelSpec spec,
                                    const Objective* objective,
                                    Backend* backend) {
  return std::make_unique<DeepFm>(options, std::move(spec), objective, backend);
}

template <typename Kind>
std::unique_ptr<Model> CreateBySpec(const ModelOptions&, ModelSpec spec,
                                    const Objective* objective,
                                    Backend* backend) {
  return std::make_unique<Kind>(std::move(spec), objective, backend);
}

constexpr ModelKind kModels[] = {
    {"deepfm", /*has_embeddings=*/true, &kBinaryObjective, ValidateDeepFm,
     DeepFmSpec, CreateDeepFm, DeepFmMemoryBytes, DeepFmWork},
    {"fm", /*has_embeddings=*/true, &kBinaryObjective, NothingToValidate,
     FactorizationMachineSpec, CreateBySpec<FactorizationMachine>,
     FactorizationMachineMemoryBytes, NoProducts},
    {"lr", /*has_embeddings=*/false, &kBinaryObjective, NothingToValidate,
     LogisticRegressionSpec, CreateBySpec<FactorizationMachine>,
     LogisticRegressionMemoryBytes, NoProducts},
    {"linear_probe", /*has_embeddings=*/true, &kBinaryObjective,
     ValidateLinearProbe, LinearProbeSpec, CreateBySpec<LinearProbe>,
     LinearProbeMemoryBytes, NoProducts},
};

constexpr bool HasRow(absl::string_view name) {
  for (const ModelKind& kind : kModels) {
    if (kind.name == name) return true;
  }
  return false;
}

constexpr bool NamesAgree() {
  for (const ModelName& known : kModelNames) {
    if (!HasRow(known.name)) return false;
  }
  return std::size(kModels) == std::size(kModelNames);
}
static_assert(NamesAgree(), "core/model_names.h lists other models");

}  // namespace

absl::Span<const ModelKind> Models() { return kModels; }

const ModelKind* FindModel(absl::string_view name) {
  for (const ModelKind& kind : kModels) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace shoal
