#include "tests/models/model_cases.h"

#include "absl/strings/str_cat.h"
#include "tests/models/three_classes.h"

namespace shoal {
namespace {

constexpr int kRows = 9;

const char* WordOf(FirstLayer form) {
  switch (form) {
    case FirstLayer::kDense:
      return "dense";
    case FirstLayer::kDistinct:
      return "distinct";
    case FirstLayer::kAuto:
      break;
  }
  return "auto";
}

}  // namespace

ModelOptions ModelCase::Options() const {
  ModelOptions options;
  options.model = std::string(kind->name);
  options.feature_size = 100;
  options.field_size = kFields;
  // Wide enough for the distinct form of the first layer to pay.
  options.embedding_size = 24;
  options.deep_layers = {64, 16, 8};
  options.first_layer = first_layer;
  if (kind->name == "linear_probe") {
    options.dense_optimizer.kind = OptimizerKind::kSgd;
    options.dense_optimizer.learning_rate = 0.25f;
    options.table_optimizer = options.dense_optimizer;
  }
  return options;
}

std::unique_ptr<Model> ModelCase::Create(Backend* of) const {
  const ModelOptions options = Options();
  return kind->create(options, kind->spec(options), kind->objective, of);
}

std::string ModelCase::Name() const {
  return absl::StrCat(
      kind->name, "_", backend->name,
      kind->name == "deepfm" ? absl::StrCat("_", WordOf(first_layer)) : "");
}

std::vector<ModelCase> ModelCases() {
  std::vector<const ModelKind*> kinds = {&ThreeClassModel()};
  for (const ModelKind& kind : Models()) kinds.push_back(&kind);
  std::vector<ModelCase> cases;
  for (const BackendKind& backend : Backends()) {
    if (!backend.available().ok()) continue;
    for (const ModelKind* kind : kinds) {
      cases.push_back({kind, &backend, FirstLayer::kDense});
      if (kind->name != "deepfm") continue;
      cases.push_back({kind, &backend, FirstLayer::kDistinct});
      cases.push_back({kind, &backend, FirstLayer::kAuto});
    }
  }
  return cases;
}

SampleBatch SampleFor(const Model& model, int batch_size, uint64_t seed) {
  SampleBatch sample(model.spec(), batch_size, ModelCase::kFields, kRows, seed);
  sample.logits.resize(batch_size * model.objective().num_scores());
  return sample;
}

}  // namespace shoal
