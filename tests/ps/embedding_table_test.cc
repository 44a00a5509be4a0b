#include "ps/table/embedding_table.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ps/table/initial_value.h"
#include "tests/harness/race_rounds.h"
#include "tests/ps/table_access.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 20000;

// What every table must do, run on an array by both of its partitions and on a
// hash table.
struct Kind {
  std::string name;
  PartitionKind partition;
};

class EmbeddingTableConformance : public testing::TestWithParam<Kind> {
 protected:
  bool dynamic() const { return GetParam().partition == PartitionKind::kHash; }
  uint64_t feature_size() const { return dynamic() ? 0 : kFeatures; }

  std::unique_ptr<EmbeddingTable> Make(const TableSpec& spec,
                                       MemoryBudget* budget, int num_shards = 1,
                                       int shard = 0) {
    auto table = CreateEmbeddingTable(
        spec, /*seed=*/1, {GetParam().partition, spec.feature_size, num_shards},
        shard, budget);
    EXPECT_TRUE(table.ok()) << table.status();
    return *std::move(table);
  }
  std::unique_ptr<EmbeddingTable> Make(int num_shards = 1, int shard = 0) {
    return Make(TestTable(feature_size()), &budget_, num_shards, shard);
  }

  MemoryBudget budget_{0};
};

INSTANTIATE_TEST_SUITE_P(
    Tables, EmbeddingTableConformance,
    testing::Values(Kind{"Mod", PartitionKind::kMod},
                    Kind{"FixedSize", PartitionKind::kFixedSize},
                    Kind{"Hash", PartitionKind::kHash}),
    [](const testing::TestParamInfo<Kind>& info) { return info.param.name; });

TEST_P(EmbeddingTableConformance, InitialRowsDependOnNothingButTheRow) {
  const std::vector<FeatureId> ids = {999, 3, 500, 4, 0};
  MemoryBudget budget(0);
  const auto reference = *CreateEmbeddingTable(
      TestTable(1000), 1, {PartitionKind::kMod, 1000, 1}, 0, &budget);
  const std::vector<float> expected = Read(reference.get(), ids);
  const size_t dim = reference->layout().row_dim();
  for (const int shards : {1, 2, 3}) {
    size_t found = 0;
    for (int s = 0; s < shards; ++s) {
      const auto table = Make(shards, s);
      for (int i = ids.size() - 1; i >= 0; --i) {  // other order
        if (!table->CheckIds({ids[i]}).ok()) continue;
        ++found;
        const std::vector<float> row = Read(table.get(), {ids[i]});
        EXPECT_TRUE(
            std::equal(row.begin(), row.end(), expected.begin() + i * dim));
      }
    }
    EXPECT_EQ(found, ids.size()) << "each id belongs to one shard";
  }
}

// Row 42 of a column of dim 5 holds elements 210 to 214 of the variable.
TEST_P(EmbeddingTableConformance, ARowsElementsAreCountedOverTheVariable) {
  const auto table = Make();
  const std::vector<float> row = Read(table.get(), {42});
  std::vector<float> v(5);
  FillInitialValues(table->spec().columns[1].initializer,
                    InitialValueKey(1, "v"), 210, absl::MakeSpan(v));
  EXPECT_TRUE(std::equal(v.begin(), v.end(), row.begin() + 1));
}

TEST_P(EmbeddingTableConformance, ReadingAloneCreatesNothing) {
  const auto table = Make();
  const std::vector<float> peeked = Read(table.get(), {5}, /*read_only=*/true);
  EXPECT_EQ(table->rows(), 0);
  EXPECT_EQ(budget_.held(), 0);
  EXPECT_EQ(table->Digest(), 0);
  EXPECT_EQ(Read(table.get(), {5}), peeked);
  EXPECT_EQ(table->rows(), 1);
  EXPECT_EQ(Read(table.get(), {5}, /*read_only=*/true), peeked);
}

TEST_P(EmbeddingTableConformance, ALocatedRequestThatIsGivenUpMakesNoRow) {
  const auto table = Make();
  const std::vector<FeatureId> ids = {7, 8};
  RowRefs refs;
  ASSERT_TRUE(table->Locate(ids, /*read_only=*/false, &refs).ok());
  table->Release(&refs);
  EXPECT_EQ(table->rows(), 0);
  EXPECT_EQ(table->Digest(), 0);
  const std::vector<float> peeked = Read(table.get(), ids, /*read_only=*/true);
  EXPECT_EQ(table->rows(), 0) << "a reserved row was taken for an existing one";
  EXPECT_EQ(Read(table.get(), ids), peeked);
  EXPECT_EQ(table->rows(), 2);
}

// A push to an absent row is a push to its initial value, slots included.
TEST_P(EmbeddingTableConformance,
       UpdatingAnAbsentRowStartsFromItsInitialValue) {
  const auto pulled = Make();
  const auto unpulled = Make();
  Read(pulled.get(), {42});
  const std::vector<float> gradient = {1, -1, 2, -2, 3, -3, 4, -4};
  EXPECT_TRUE(Update(pulled.get(), 1, {42}, gradient).ok());
  EXPECT_TRUE(Update(unpulled.get(), 1, {42}, gradient).ok());
  EXPECT_EQ(unpulled->rows(), 1);
  EXPECT_EQ(Read(pulled.get(), {42}), Read(unpulled.get(), {42}));
}

TEST_P(EmbeddingTableConformance, EachColumnHasItsOwnOptimizer) {
  const auto table = Make();
  const std::vector<float> before = Read(table.get(), {42});
  ASSERT_TRUE(Update(table.get(), 1, {42}, {1, 1, 1, 1, 1, 1, 1, 1}).ok());
  const std::vector<float> after = Read(table.get(), {42});
  EXPECT_FLOAT_EQ(after[0], before[0] - 1 / std::sqrt(1.5f));  // Adagrad
  for (int i = 1; i < 6; ++i) {
    EXPECT_NEAR(after[i], before[i] - 1, 1e-4);  // Adam's first step
  }
  EXPECT_EQ(after[6], before[6] - 1);  // SGD
  EXPECT_EQ(after[7], before[7] - 1);
}

TEST_P(EmbeddingTableConformance, TheDigestSeesOneBitAndNotTheOrder) {
  const auto a = Make();
  const auto b = Make();
  Read(a.get(), {1, 4999});
  Read(b.get(), {4999});
  EXPECT_NE(a->Digest(), b->Digest());
  Read(b.get(), {1});
  EXPECT_EQ(a->Digest(), b->Digest());
  std::vector<float> gradient(8, 0);
  gradient[7] = 0x1p-26f;
  ASSERT_TRUE(Update(b.get(), 1, {1}, gradient).ok());
  EXPECT_NE(a->Digest(), b->Digest());
}

TEST_P(EmbeddingTableConformance, EveryRowIsVisitedOnce) {
  const auto table = Make(CountingTable(feature_size(), 1), &budget_);
  std::vector<FeatureId> ids;
  for (FeatureId id = 0; id < kFeatures; id += 3) ids.push_back(id);
  ASSERT_TRUE(
      Update(table.get(), 1, ids, std::vector<float>(ids.size(), -1)).ok());
  std::multiset<FeatureId> seen;
  table->ForEachRow([&](FeatureId id, absl::Span<const float> weights) {
    ASSERT_EQ(weights.size(), 1);
    EXPECT_EQ(weights[0], 1);
    seen.insert(id);
  });
  EXPECT_EQ(seen, std::multiset<FeatureId>(ids.begin(), ids.end()));
  EXPECT_EQ(table->rows(), ids.size());
}

// The second column alone has an L2 of the whole table.
TEST_P(EmbeddingTableConformance, OthersAreEveryRowThatThePushDoesNotName) {
  TableSpec spec = CountingTable(feature_size(), 1);
  spec.columns.push_back(spec.columns[0]);
  spec.columns[1].variable = "decays";
  spec.columns[1].optimizer.l2 = 0.5f;
  spec.columns[1].optimizer.l2_scope = L2Scope::kTable;
  const auto table = Make(spec, &budget_);
  const std::vector<FeatureId> ids = {1, 3, 4999, 7777};
  const std::vector<float> eights = {-8, -8, -8, -8, -8, -8, -8, -8};
  ASSERT_TRUE(Update(table.get(), 1, ids, eights).ok());
  const std::vector<FeatureId> named = {7777, 3, 19999};
  RowRefs refs;
  ASSERT_TRUE(table->Locate(named, /*read_only=*/false, &refs).ok());
  table->ApplyToOthers(Steps(*table, 2), /*colour=*/0, refs);
  table->Release(&refs);
  EXPECT_EQ(Read(table.get(), ids),
            (std::vector<float>{8, 4, 8, 8, 8, 4, 8, 8}));
  EXPECT_EQ(table->rows(), ids.size());
  table->ApplyToOthers(Steps(*table, 3), /*colour=*/0, RowRefs());
  EXPECT_EQ(Read(table.get(), ids),
            (std::vector<float>{8, 2, 8, 4, 8, 2, 8, 4}));
}

// Room is found to the last record, and a request that does not fit leaves the
// table and the budget as they were.
TEST_P(EmbeddingTableConformance, TheBudgetHoldsAndRefusalChangesNothing) {
  MemoryBudget budget(8000);
  const auto table = Make(TestTable(feature_size()), &budget);
  uint64_t made = 0;
  while (made < 1000) {
    if (!Update(table.get(), 1, {made}, std::vector<float>(8)).ok()) break;
    ++made;
    ASSERT_LE(budget.held(), budget.limit());
  }
  EXPECT_GT(made, 3);
  EXPECT_LE(made, 8000 / 96);
  EXPECT_EQ(table->rows(), made);
  const uint64_t held = budget.held();
  const uint64_t digest = table->Digest();
  const std::vector<FeatureId> ids = {0, 1001, 1, 1002};
  RowRefs refs;
  const absl::Status refused = table->Locate(ids, /*read_only=*/false, &refs);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_EQ(budget.held(), held);
  EXPECT_EQ(table->Digest(), digest);
  EXPECT_TRUE(Update(table.get(), 2, {0, 1}, std::vector<float>(16)).ok())
      << "rows that exist need no room";
  EXPECT_EQ(budget.held(), held);
}

TEST_P(EmbeddingTableConformance, ConcurrentUpdatesOfOneRowAllCount) {
  constexpr int kThreads = 4;
  constexpr int kUpdates = RaceRounds(100000);
  const auto table = Make(CountingTable(feature_size(), 64), &budget_);
  const std::vector<OptimizerStep> steps = Steps(*table, 1);
  const std::vector<float> gradient(64, -1);
  const std::vector<FeatureId> ids = {3};
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      RowRefs refs;
      start.arrive_and_wait();
      for (int i = 0; i < kUpdates; ++i) {
        ASSERT_TRUE(table->Locate(ids, false, &refs).ok());
        table->Apply(steps, 0, ids, &refs, gradient);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table->rows(), 1);
  EXPECT_EQ(Read(table.get(), {3}),
            std::vector<float>(64, kThreads * kUpdates));
}

// Every thread adds 1 to every id, new ids coming all the time, so that rows
// are created by several threads at once while a hash table's index grows.
TEST_P(EmbeddingTableConformance, ConcurrentCreationMakesOneRowOfEachId) {
  constexpr int kThreads = 4;
  constexpr uint64_t kIds = kFeatures;
  constexpr uint64_t kBatch = 50;
  const auto table = Make(CountingTable(feature_size(), 1), &budget_);
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<OptimizerStep> steps = Steps(*table, 1);
      const std::vector<float> gradient(kBatch, -1);
      std::vector<FeatureId> ids(kBatch);
      RowRefs refs;
      start.arrive_and_wait();
      for (uint64_t first = 0; first < kIds; first += kBatch) {
        for (uint64_t i = 0; i < kBatch; ++i) {
          // Each thread in another order.
          ids[i] = first + (t % 2 == 0 ? i : kBatch - 1 - i);
        }
        ASSERT_TRUE(table->Locate(ids, false, &refs).ok());
        table->Apply(steps, 0, ids, &refs, gradient);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table->rows(), kIds);
  std::vector<FeatureId> all(kIds);
  for (uint64_t id = 0; id < kIds; ++id) all[id] = id;
  EXPECT_EQ(Read(table.get(), all, /*read_only=*/true),
            std::vector<float>(kIds, kThreads));
}

// All weights move together, so a reader that sees a row between two of its
// floats sees them differ.
TEST_P(EmbeddingTableConformance, APulledRowIsNeverTorn) {
  const auto table = Make(CountingTable(feature_size(), 64), &budget_);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    const std::vector<float> gradient(64, -1);
    while (!stop) ASSERT_TRUE(Update(table.get(), 1, {1}, gradient).ok());
  });
  for (int i = 0; i < RaceRounds(100000); ++i) {
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
