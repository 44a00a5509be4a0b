#include "core/model_spec.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

ModelSpec Valid() {
  ColumnSpec w{.variable = "fm_w", .dim = 1};
  w.optimizer.kind = OptimizerKind::kAdagrad;
  const ColumnSpec v{.variable = "fm_v", .dim = 8};
  ColumnSpec u{.variable = "u", .dim = 4};
  u.optimizer.kind = OptimizerKind::kRowwiseAdagrad;
  ModelSpec spec;
  spec.model = "deepfm";
  spec.tables = {{.name = "fm", .feature_size = 100, .columns = {w, v, u}}};
  spec.dense = {{.name = "bias", .shape = {}},
                {.name = "mlp0/w", .shape = {24, 16}},
                {.name = "kernel", .shape = {3, 4, 5}}};
  return spec;
}

TEST(ModelSpec, SizesFollowFromTheShapes) {
  const ModelSpec spec = Valid();
  ASSERT_TRUE(spec.Validate().ok()) << spec.Validate();
  EXPECT_EQ(spec.tables[0].row_dim(), 13);
  EXPECT_EQ(spec.tables[0].slot_dim(), 1 * 1 + 8 * 2 + 1);
  EXPECT_EQ(spec.dense[0].size(), 1);
  EXPECT_EQ(spec.dense[0].axis0(), 1);
  EXPECT_EQ(spec.dense[1].size(), 24 * 16);
  EXPECT_EQ(spec.dense[1].row_size(), 16);
  EXPECT_EQ(spec.dense[2].axis0(), 3);
  EXPECT_EQ(spec.dense[2].row_size(), 20);
  EXPECT_EQ(spec.dense_size(), 1 + 24 * 16 + 60);
}

TEST(ModelSpec, ValidateNamesTheVariableAndWhatIsWrong) {
  struct Case {
    const char* what;
    std::function<void(ModelSpec*)> spoil;
    const char* in_message;
  };
  const std::vector<Case> cases = {
      {"unnamed", [](ModelSpec* m) { m->dense[0].name = ""; }, "no name"},
      {"repeated across kinds", [](ModelSpec* m) { m->dense[1].name = "fm_v"; },
       "'fm_v'"},
      {"a limit of an array", [](ModelSpec* m) { m->tables[0].row_limit = 1; },
       "row limit"},
      {"an array on every shard",
       [](ModelSpec* m) { m->tables[0].on_every_shard = true; }, "every shard"},
      {"a shared row without a limit",
       [](ModelSpec* m) {
         m->tables[0].feature_size = 0;
         m->tables[0].when_full = TableFull::kShare;
       },
       "no row limit"},
      {"too many ids",
       [](ModelSpec* m) { m->tables[0].feature_size = ~uint64_t{0}; },
       "feature_size"},
      {"no column", [](ModelSpec* m) { m->tables[0].columns.clear(); },
       "no column"},
      {"dim 0", [](ModelSpec* m) { m->tables[0].columns[1].dim = 0; },
       "'fm_v'"},
      {"dim too large",
       [](ModelSpec* m) { m->tables[0].columns[1].dim = 1 << 17; }, "dim"},
      {"empty axis", [](ModelSpec* m) { m->dense[1].shape[0] = 0; },
       "'mlp0/w'"},
      {"negative axis", [](ModelSpec* m) { m->dense[2].shape[2] = -1; },
       "'kernel'"},
      {"product overflows",
       [](ModelSpec* m) {
         m->dense[2].shape = {int64_t{1} << 30, int64_t{1} << 30, 1 << 30};
       },
       "'kernel'"},
      {"bad rate of a column",
       [](ModelSpec* m) {
         m->tables[0].columns[0].optimizer.learning_rate = -1;
       },
       "'fm_w'"},
      {"bad rate of a tensor",
       [](ModelSpec* m) { m->dense[1].optimizer.learning_rate = 0; },
       "'mlp0/w'"},
      {"one accumulator a row of a tensor",
       [](ModelSpec* m) {
         m->dense[1].optimizer.kind = OptimizerKind::kRowwiseAdagrad;
       },
       "'mlp0/w' is dense, and rowwise_adagrad is for tables"},
  };
  for (const Case& c : cases) {
    ModelSpec spec = Valid();
    c.spoil(&spec);
    const absl::Status status = spec.Validate();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.what;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.in_message))
        << c.what;
  }
}

}  // namespace
}  // namespace shoal
