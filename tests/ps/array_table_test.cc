#include "ps/table/array_table.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ps/optimizer/optimizer_step.h"
#include "ps/table/initial_value.h"

namespace shoal {
namespace {

OptimizerSpec Optimizer(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = 1;
  spec.adagrad_initial_accumulator = 0.5f;
  return spec;
}

// "w" dim 1 Adagrad zeros, "v" dim 5 Adam normal, "u" dim 2 SGD uniform.
TableSpec Spec(uint64_t feature_size) {
  TableSpec spec;
  spec.name = "ids";
  spec.feature_size = feature_size;
  spec.columns = {{"w", 1, Optimizer(OptimizerKind::kAdagrad), {}},
                  {"v",
                   5,
                   Optimizer(OptimizerKind::kAdam),
                   {InitializerKind::kTruncatedNormal, 0.1f}},
                  {"u",
                   2,
                   Optimizer(OptimizerKind::kSgd),
                   {InitializerKind::kUniform, 0.1f}}};
  return spec;
}

std::unique_ptr<ArrayTable> MakeTable(uint64_t feature_size,
                                      PartitionKind kind = PartitionKind::kMod,
                                      int num_shards = 1, int shard = 0) {
  auto table = ArrayTable::Create(Spec(feature_size), 1,
                                  {kind, feature_size, num_shards}, shard);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

std::vector<OptimizerStep> Steps(const ArrayTable& table, uint64_t t) {
  std::vector<OptimizerStep> steps;
  for (const ColumnSpec& column : table.spec().columns) {
    steps.emplace_back(column.optimizer, t);
  }
  return steps;
}

std::vector<float> Read(ArrayTable* table, const std::vector<FeatureId>& ids,
                        bool read_only = false) {
  std::vector<float> values(ids.size() * table->layout().row_dim());
  table->Gather(ids, read_only, absl::MakeSpan(values));
  return values;
}

// The layout is read by checkpoints and by the undo log: golden.
TEST(RecordLayout, NeverChanges) {
  EXPECT_EQ(sizeof(RecordHeader), 8);
  EXPECT_EQ(offsetof(RecordHeader, colour), 0);
  EXPECT_EQ(offsetof(RecordHeader, lock), 1);
  EXPECT_EQ(offsetof(RecordHeader, flags), 2);
  const RecordLayout layout(Spec(10));
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

TEST(ArrayTable, InitialRowsDependOnNothingButTheRow) {
  const std::vector<FeatureId> ids = {999, 3, 500, 4, 0};
  const auto reference = MakeTable(1000);
  const std::vector<float> expected = Read(reference.get(), ids);
  const size_t dim = reference->layout().row_dim();
  for (const PartitionKind kind :
       {PartitionKind::kMod, PartitionKind::kFixedSize}) {
    for (const int shards : {2, 3}) {
      size_t found = 0;
      for (int s = 0; s < shards; ++s) {
        const auto table = MakeTable(1000, kind, shards, s);
        for (int i = ids.size() - 1; i >= 0; --i) {  // other order
          if (!table->Owns(ids[i])) continue;
          ++found;
          const std::vector<float> row = Read(table.get(), {ids[i]});
          EXPECT_TRUE(
              std::equal(row.begin(), row.end(), expected.begin() + i * dim));
        }
      }
      EXPECT_EQ(found, ids.size()) << "each id belongs to one shard";
    }
  }
}

// Row 42 of a column of dim 5 holds elements 210 to 214 of the variable.
TEST(ArrayTable, ARowsElementsAreCountedOverTheVariable) {
  const auto table = MakeTable(100);
  const std::vector<float> row = Read(table.get(), {42});
  std::vector<float> v(5);
  FillInitialValues(table->spec().columns[1].initializer,
                    InitialValueKey(1, "v"), 210, absl::MakeSpan(v));
  EXPECT_TRUE(std::equal(v.begin(), v.end(), row.begin() + 1));
}

TEST(ArrayTable, OwnsItsIdsAndNoOthers) {
  const auto fixed = MakeTable(10, PartitionKind::kFixedSize, 3, 1);
  const auto mod = MakeTable(10, PartitionKind::kMod, 3, 1);
  for (FeatureId id = 0; id < 12; ++id) {
    EXPECT_EQ(fixed->Owns(id), id >= 4 && id < 7) << id;
    EXPECT_EQ(mod->Owns(id), id < 10 && id % 3 == 1) << id;
  }
  EXPECT_FALSE(fixed->Owns(~FeatureId{0}));
  EXPECT_FALSE(mod->Owns(~FeatureId{0}));
}

TEST(ArrayTable, AShardWithoutRowsOwnsNothing) {
  const auto table = MakeTable(2, PartitionKind::kFixedSize, 3, 2);
  EXPECT_EQ(table->rows_owned(), 0);
  EXPECT_FALSE(table->Owns(0));
  EXPECT_EQ(table->Digest(), 0);
}

TEST(ArrayTable, ReadingAloneCreatesNothing) {
  const auto table = MakeTable(100);
  const std::vector<float> peeked = Read(table.get(), {5}, /*read_only=*/true);
  EXPECT_EQ(table->rows(), 0);
  EXPECT_EQ(table->CountAbsent({4, 5}), 2);
  EXPECT_EQ(Read(table.get(), {5}), peeked);
  EXPECT_EQ(table->rows(), 1);
  EXPECT_EQ(table->CountAbsent({4, 5}), 1);
  EXPECT_EQ(Read(table.get(), {5}, /*read_only=*/true), peeked);
}

// A push to an absent row is a push to its initial value, slots included.
TEST(ArrayTable, UpdatingAnAbsentRowStartsFromItsInitialValue) {
  const auto pulled = MakeTable(100);
  const auto unpulled = MakeTable(100);
  Read(pulled.get(), {42});
  const std::vector<float> gradient = {1, -1, 2, -2, 3, -3, 4, -4};
  EXPECT_EQ(pulled->Apply(Steps(*pulled, 1), 0, {42}, gradient), 0);
  EXPECT_EQ(unpulled->Apply(Steps(*unpulled, 1), 0, {42}, gradient), 1);
  EXPECT_EQ(Read(pulled.get(), {42}), Read(unpulled.get(), {42}));
}

TEST(ArrayTable, EachColumnHasItsOwnOptimizer) {
  const auto table = MakeTable(100);
  const std::vector<float> before = Read(table.get(), {42});
  table->Apply(Steps(*table, 1), 0, {42}, {1, 1, 1, 1, 1, 1, 1, 1});
  const std::vector<float> after = Read(table.get(), {42});
  EXPECT_FLOAT_EQ(after[0], before[0] - 1 / std::sqrt(1.5f));  // Adagrad
  for (int i = 1; i < 6; ++i) {
    EXPECT_NEAR(after[i], before[i] - 1, 1e-4);  // Adam's first step
  }
  EXPECT_EQ(after[6], before[6] - 1);  // SGD
  EXPECT_EQ(after[7], before[7] - 1);
}

TEST(ArrayTable, TheDigestSeesOneBit) {
  const auto a = MakeTable(5000);
  const auto b = MakeTable(5000);
  Read(a.get(), {1, 4999});
  Read(b.get(), {4999});
  EXPECT_NE(a->Digest(), b->Digest());
  Read(b.get(), {1});
  EXPECT_EQ(a->Digest(), b->Digest());
  std::vector<float> gradient(8, 0);
  gradient[7] = 0x1p-26f;
  b->Apply(Steps(*b, 1), 0, {1}, gradient);
  EXPECT_NE(a->Digest(), b->Digest());
}

TEST(ArrayTable, AHashPartitionIsRefused) {
  const auto table =
      ArrayTable::Create(Spec(10), 1, {PartitionKind::kHash, 10, 2}, 0);
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ArrayTable, AnImpossibleSizeIsAnErrorAndNotACrash) {
  const uint64_t huge = uint64_t{1} << 48;
  const auto table =
      ArrayTable::Create(Spec(huge), 1, {PartitionKind::kMod, huge, 1}, 0);
  EXPECT_EQ(table.status().code(), absl::StatusCode::kResourceExhausted);
}

// Many more rows than memory: only what is touched is held.
TEST(ArrayTable, UntouchedRowsTakeNoMemory) {
  const uint64_t rows = uint64_t{1} << 30;
  const auto table = MakeTable(rows, PartitionKind::kFixedSize);
  const std::vector<float> last = Read(table.get(), {rows - 1});
  EXPECT_EQ(table->rows(), 1);
  EXPECT_EQ(Read(table.get(), {rows - 1}), last);
}

// One column of 64 floats from 0 at SGD's rate 1: a gradient of -1 adds 1 to
// each, exactly.
std::unique_ptr<ArrayTable> MakeCounters() {
  TableSpec spec;
  spec.name = "ids";
  spec.feature_size = 4;
  spec.columns = {{"u", 64, Optimizer(OptimizerKind::kSgd), {}}};
  return *ArrayTable::Create(spec, 1, {PartitionKind::kMod, 4, 1}, 0);
}

TEST(ArrayTable, ConcurrentUpdatesOfOneRowAllCount) {
  constexpr int kThreads = 4;
  constexpr int kUpdates = 150000;
  const auto table = MakeCounters();
  const std::vector<OptimizerStep> steps = Steps(*table, 1);
  const std::vector<float> gradient(64, -1);
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int i = 0; i < kUpdates; ++i) table->Apply(steps, 0, {3}, gradient);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table->rows(), 1);
  EXPECT_EQ(Read(table.get(), {3}),
            std::vector<float>(64, kThreads * kUpdates));
}

// All weights move together, so a reader that sees a row between two of its
// floats sees them differ.
TEST(ArrayTable, APulledRowIsNeverTorn) {
  const auto table = MakeCounters();
  const std::vector<OptimizerStep> steps = Steps(*table, 1);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    const std::vector<float> gradient(64, -1);
    while (!stop) table->Apply(steps, 0, {1}, gradient);
  });
  for (int i = 0; i < 100000; ++i) {
    const std::vector<float> row = Read(table.get(), {1});
    if (std::count(row.begin(), row.end(), row[0]) == 64) continue;
    ADD_FAILURE() << "torn at read " << i;
    break;
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace shoal
