#include "job/variable_sizes.h"

#include "core/canary.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

OptimizerSpec Adagrad() {
  OptimizerSpec optimizer;
  optimizer.kind = OptimizerKind::kAdagrad;  // one slot a weight
  return optimizer;
}

// A table of 1,000 rows of 1 + 16 floats, a matrix, and its bias.
ModelSpec Model() {
  ModelSpec spec;
  spec.tables.push_back(
      {"features", 1000, {{"w", 1, Adagrad(), {}}, {"v", 16, Adagrad(), {}}}});
  spec.dense.push_back({"deep/w", {64, 8}, {}, {}});
  spec.dense.push_back({"deep/b", {8}, {}, {}});
  return spec;
}

TEST(VariableSizesTest, EverythingIsCountedInBytesOfFloats) {
  const VariableSizes sizes = SizesOf(Model());
  EXPECT_EQ(sizes.dense_bytes, 4u * (64 * 8 + 8));
  EXPECT_EQ(sizes.row_bytes, 4u * 17);
  // With the optimizer's state.
  EXPECT_EQ(sizes.table_bytes, 4u * 1000 * (17 + 17));
  // A bias is no product.
  EXPECT_EQ(sizes.flop_per_sample, 6. * 64 * 8);
}

TEST(VariableSizesTest, RowsOfSeveralTablesAreOneRow) {
  ModelSpec spec = Model();
  spec.tables.push_back({"wide", 10, {{"wide", 3, Adagrad(), {}}}});
  EXPECT_EQ(SizesOf(spec).row_bytes, 4u * (17 + 3));
  EXPECT_EQ(SizesOf(spec).table_bytes, 4u * (1000 * 34 + 10 * 6));
}

TEST(VariableSizesTest, ATableThatGrowsHasNoSize) {
  ModelSpec spec = Model();
  spec.tables.push_back({"grows", 0, {{"grows", 3, Adagrad(), {}}}});
  EXPECT_EQ(SizesOf(spec).table_bytes, 0u);
  EXPECT_EQ(SizesOf(spec).row_bytes, 4u * (17 + 3));
}

TEST(VariableSizesTest, TheCanaryIsNoneOfTheModel) {
  ModelSpec spec = Model();
  AddCanary(&spec);
  EXPECT_EQ(SizesOf(spec).row_bytes, SizesOf(Model()).row_bytes);
  EXPECT_EQ(SizesOf(spec).table_bytes, SizesOf(Model()).table_bytes);
}

}  // namespace
}  // namespace shoal
