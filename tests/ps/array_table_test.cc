#include "ps/table/array_table.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/ps/table_access.h"

namespace shoal {
namespace {

std::unique_ptr<ArrayTable> MakeTable(MemoryBudget* budget,
                                      uint64_t feature_size,
                                      PartitionKind kind = PartitionKind::kMod,
                                      int num_shards = 1, int shard = 0) {
  auto table =
      ArrayTable::Create(TestTable(feature_size), 1,
                         {kind, feature_size, num_shards}, shard, budget);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

// The layout is read by checkpoints and by the undo log: golden.
TEST(RecordLayout, NeverChanges) {
  EXPECT_EQ(sizeof(RecordHeader), 8);
  EXPECT_EQ(offsetof(RecordHeader, colour), 0);
  EXPECT_EQ(offsetof(RecordHeader, lock), 1);
  EXPECT_EQ(offsetof(RecordHeader, flags), 2);
  const RecordLayout layout(TestTable(10));
  EXPECT_EQ(layout.row_dim(), 8);
  EXPECT_EQ(layout.read_bytes(), 8 + 8 * 4);
  EXPECT_EQ(layout.payload_bytes(), (8 + 1 + 10) * 4);
  EXPECT_EQ(layout.stride(), 96);  // 8 + 76 bytes, rounded up to 16
  const auto& columns = layout.columns();
  ASSERT_EQ(columns.size(), 3);
  EXPECT_EQ(columns[0].weights, 0);
  EXPECT_EQ(columns[0].slots, 8);
  EXPECT_EQ(columns[0].slot_count, 1);
  EXPECT_EQ(columns[1].weights, 1);
  EXPECT_EQ(columns[1].slots, 9);
  EXPECT_EQ(columns[1].slot_count, 10);
  EXPECT_EQ(columns[2].weights, 6);
  EXPECT_EQ(columns[2].slot_count, 0);
  EXPECT_EQ(layout.stride() * kCellsPerSlab % 64, 0);
}

// One call of an optimizer for w and v where they are updated alike.
TEST(RecordLayout, ColumnsThatAreUpdatedAlikeAreOneRun) {
  TableSpec spec = TestTable(10);
  for (const ColumnRun& run : ColumnRuns(spec, RecordLayout(spec))) {
    EXPECT_EQ(run.lies.dim, spec.columns[run.column].dim) << "all differ";
  }
  for (ColumnSpec& column : spec.columns) {
    column.optimizer = TestOptimizer(OptimizerKind::kAdagrad);
  }
  const auto together = ColumnRuns(spec, RecordLayout(spec));
  ASSERT_EQ(together.size(), 1);
  EXPECT_EQ(together[0].lies.dim, 8);
  EXPECT_EQ(together[0].lies.slots, 8);
  EXPECT_EQ(together[0].lies.slot_count, 8);

  spec.columns[1].optimizer.l2 = 1;
  const auto apart = ColumnRuns(spec, RecordLayout(spec));
  ASSERT_EQ(apart.size(), 3);
  EXPECT_EQ(apart[2].column, 2);
  EXPECT_EQ(apart[2].lies.slots, 14);

  for (ColumnSpec& column : spec.columns) {
    column.optimizer = TestOptimizer(OptimizerKind::kAdam);
  }
  EXPECT_EQ(ColumnRuns(spec, RecordLayout(spec)).size(), 3)
      << "m and v of a column lie together";
}

// Slots of each kind, one column after the other.
TEST(RecordLayout, ARowwiseAccumulatorIsOneFloat) {
  TableSpec spec = TestTable(10);
  spec.columns[0].optimizer.kind = OptimizerKind::kFtrl;
  spec.columns[1].optimizer.kind = OptimizerKind::kRowwiseAdagrad;
  spec.columns[2].optimizer.kind = OptimizerKind::kAdagrad;
  const RecordLayout layout(spec);
  EXPECT_EQ(layout.payload_bytes(), (8 + 2 + 1 + 2) * 4);
  const auto& columns = layout.columns();
  EXPECT_EQ(columns[0].slots, 8);
  EXPECT_EQ(columns[0].slot_count, 2);
  EXPECT_EQ(columns[1].slots, 10);
  EXPECT_EQ(columns[1].slot_count, 1);
  EXPECT_EQ(columns[2].slots, 11);
  EXPECT_EQ(columns[2].slot_count, 2);
}

TEST(ArrayTable, OwnsItsIdsAndNoOthers) {
  MemoryBudget budget(0);
  const auto fixed = MakeTable(&budget, 10, PartitionKind::kFixedSize, 3, 1);
  const auto mod = MakeTable(&budget, 10, PartitionKind::kMod, 3, 1);
  for (FeatureId id = 0; id < 12; ++id) {
    EXPECT_EQ(fixed->Owns(id), id >= 4 && id < 7) << id;
    EXPECT_EQ(mod->Owns(id), id < 10 && id % 3 == 1) << id;
  }
  EXPECT_FALSE(fixed->Owns(~FeatureId{0}));
  EXPECT_FALSE(mod->Owns(~FeatureId{0}));
}

TEST(ArrayTable, AShardWithoutRowsOwnsNothing) {
  MemoryBudget budget(0);
  const auto table = MakeTable(&budget, 2, PartitionKind::kFixedSize, 3, 2);
  EXPECT_EQ(table->rows_owned(), 0);
  EXPECT_FALSE(table->Owns(0));
  EXPECT_EQ(table->Digest(), 0);
}

TEST(ArrayTable, AHashPartitionIsRefused) {
  MemoryBudget budget(0);
  const auto table = ArrayTable::Create(
      TestTable(10), 1, {PartitionKind::kHash, 10, 2}, 0, &budget);
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ArrayTable, AnImpossibleSizeIsAnErrorAndNotACrash) {
  const uint64_t huge = uint64_t{1} << 48;
  MemoryBudget budget(0);
  const auto table = ArrayTable::Create(
      TestTable(huge), 1, {PartitionKind::kMod, huge, 1}, 0, &budget);
  EXPECT_EQ(table.status().code(), absl::StatusCode::kResourceExhausted);
}

// Many more rows than memory: only what is touched is held.
TEST(ArrayTable, UntouchedRowsTakeNoMemory) {
  MemoryBudget budget(0);
  const uint64_t rows = uint64_t{1} << 30;
  const auto table = MakeTable(&budget, rows, PartitionKind::kFixedSize);
  const std::vector<float> last = Read(table.get(), {rows - 1});
  EXPECT_EQ(table->rows(), 1);
  EXPECT_EQ(Read(table.get(), {rows - 1}), last);
}

}  // namespace
}  // namespace shoal
