#include "models/create_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/label.h"
#include "models/backend/reference_backend.h"
#include "models/model_table.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

ModelOptions Options(const std::string& model) {
  ModelOptions options;
  options.model = model;
  options.feature_size = 1000;
  options.field_size = 10;
  options.embedding_size = 4;
  options.deep_layers = {16, 8};
  if (model == "linear_probe") {
    options.dense_optimizer.kind = OptimizerKind::kSgd;
    options.dense_optimizer.learning_rate = 0.25f;
    options.table_optimizer = options.dense_optimizer;
  }
  return options;
}

TEST(CreateModelTest, MakesEveryModelWithTheSpecThatMakeModelSpecSays) {
  ReferenceBackend backend;
  for (const char* name : {"deepfm", "fm", "lr", "linear_probe"}) {
    const auto spec = MakeModelSpec(Options(name));
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->model, name);
    EXPECT_EQ(spec->seed, 1u);
    const auto model = CreateModel(Options(name), &backend);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ((*model)->spec().dense_size(), spec->dense_size());
    EXPECT_EQ((*model)->spec().tables[0].row_dim(), spec->tables[0].row_dim());
  }
}

TEST(CreateModelTest, NoModelHasTheLabelOfABadRow) {
  for (const ModelKind& kind : Models()) {
    const int num_labels = kind.objective->metrics().num_labels();
    EXPECT_GE(num_labels, 2) << kind.name;
    EXPECT_LE(num_labels, kMostLabels) << kind.name;
  }
}

TEST(CreateModelTest, ColumnsAndDenseVariablesTakeTheirOwnOptimizers) {
  ModelOptions options = Options("deepfm");
  options.dense_optimizer.kind = OptimizerKind::kAdam;
  options.table_optimizer.kind = OptimizerKind::kAdagrad;
  options.table_optimizer.l2 = 0.5f;
  const ModelSpec spec = *MakeModelSpec(options);
  for (const ColumnSpec& column : spec.tables[0].columns) {
    EXPECT_EQ(column.optimizer.kind, OptimizerKind::kAdagrad);
    EXPECT_EQ(column.optimizer.l2, 0.5f);
  }
  for (const DenseSpec& variable : spec.dense) {
    EXPECT_EQ(variable.optimizer.kind, OptimizerKind::kAdam);
    EXPECT_EQ(variable.optimizer.l2, 0);
  }
}

TEST(CreateModelTest, TheWideColumnAloneTakesTheWideOptimizer) {
  ModelOptions options = Options("deepfm");
  options.table_optimizer.kind = OptimizerKind::kAdagrad;
  options.wide_optimizer = OptimizerSpec{.kind = OptimizerKind::kFtrl};
  const std::vector<ColumnSpec> columns =
      MakeModelSpec(options)->tables[0].columns;
  EXPECT_EQ(columns[0].optimizer.kind, OptimizerKind::kFtrl);
  EXPECT_EQ(columns[1].optimizer.kind, OptimizerKind::kAdagrad);
  options.model = "lr";
  EXPECT_EQ(MakeModelSpec(options)->tables[0].columns[0].optimizer.kind,
            OptimizerKind::kFtrl);
}

TEST(CreateModelTest, RefusalsNameTheFlagAndSayWhatIsRight) {
  struct Case {
    std::string model;
    std::function<void(ModelOptions*)> spoil;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"deepfn", [](ModelOptions*) {},
       "--model: 'deepfn' is not one of deepfm, fm, lr, linear_probe"},
      {"lr", [](ModelOptions* o) { o->feature_size = ~uint64_t{0}; },
       "--feature_size"},
      {"lr", [](ModelOptions* o) { o->field_size = 0; }, "--field_size"},
      {"lr", [](ModelOptions* o) { o->field_size = 1 << 20; }, "--field_size"},
      {"deepfm", [](ModelOptions* o) { o->embedding_size = -1; },
       "--embedding_size"},
      {"deepfm",
       [](ModelOptions* o) { o->field_size = o->embedding_size = 65535; },
       "--field_size times --embedding_size"},
      {"deepfm", [](ModelOptions* o) { o->deep_layers.clear(); },
       "--deep_layers"},
      {"deepfm",
       [](ModelOptions* o) {
         o->deep_layers = {16, 0};
       },
       "--deep_layers"},
      {"deepfm", [](ModelOptions* o) { o->dropout_keep = {0.5f}; },
       "1 values for 2 layers"},
      {"deepfm",
       [](ModelOptions* o) {
         o->dropout_keep = {0.5f, 0};
       },
       "chance to KEEP"},
      {"deepfm",
       [](ModelOptions* o) {
         o->dropout_keep = {NAN, 1};
       },
       "--keep_prob"},
      {"lr", [](ModelOptions* o) { o->dense_optimizer.learning_rate = 0; },
       "--optimizer"},
      {"lr", [](ModelOptions* o) { o->table_optimizer.l2 = -1; },
       "--table_optimizer"},
      {"lr",
       [](ModelOptions* o) {
         o->wide_optimizer = OptimizerSpec{.learning_rate = -1};
       },
       "--wide_optimizer"},
      {"lr",
       [](ModelOptions* o) {
         o->dense_optimizer.kind = OptimizerKind::kRowwiseAdagrad;
       },
       "--optimizer: rowwise_adagrad is for tables"},
      {"linear_probe",
       [](ModelOptions* o) { o->dense_optimizer.warmup_batches = 2; },
       "--warmup_batches"},
      {"linear_probe",
       [](ModelOptions* o) { o->table_optimizer.kind = OptimizerKind::kAdam; },
       "--table_optimizer: linear_probe needs sgd, not adam"},
      {"linear_probe",
       [](ModelOptions* o) { o->dense_optimizer.learning_rate = 0.3f; },
       "--learning_rate: linear_probe needs a power of two"},
      {"linear_probe", [](ModelOptions* o) { o->table_optimizer.l2 = 0.1f; },
       "--l2_reg"},
  };
  ReferenceBackend backend;
  for (const Case& c : cases) {
    ModelOptions options = Options(c.model);
    c.spoil(&options);
    const auto spec = MakeModelSpec(options);
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument)
        << c.message;
    EXPECT_THAT(std::string(spec.status().message()), HasSubstr(c.message));
    EXPECT_EQ(CreateModel(options, &backend).status(), spec.status());
  }
}

TEST(CreateModelTest, FlagsOfOtherModelsAreNotLookedAt) {
  ModelOptions options = Options("lr");
  options.deep_layers = {};
  options.dropout_keep = {7};
  options.embedding_size = 0;
  EXPECT_TRUE(MakeModelSpec(options).ok());
}

}  // namespace
}  // namespace shoal
