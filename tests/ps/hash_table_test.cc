#include "ps/table/hash_table.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/stable_hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps/table/hash_index.h"
#include "tests/ps/crafted_ids.h"
#include "tests/ps/table_access.h"

namespace shoal {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Its multiples say which segment of an index an id belongs to.
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr FeatureId kLargest = ~FeatureId{0};

std::unique_ptr<HashTable> Make(const TableSpec& spec, MemoryBudget* budget,
                                int num_shards = 1, int shard = 0) {
  auto table = HashTable::Create(spec, 1, {PartitionKind::kHash, 0, num_shards},
                                 shard, budget);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

TableSpec Limited(TableSpec spec, uint64_t rows, TableFull full) {
  spec.row_limit = rows;
  spec.when_full = full;
  return spec;
}

TEST(HashTable, EveryIdBelongsToOneShard) {
  MemoryBudget budget(0);
  const auto a = Make(TestTable(0), &budget, 2, 0);
  const auto b = Make(TestTable(0), &budget, 2, 1);
  int of_a = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    const FeatureId id = StableHash(i);
    EXPECT_NE(a->CheckIds({id}).ok(), b->CheckIds({id}).ok()) << id;
    of_a += a->CheckIds({id}).ok();
  }
  EXPECT_NEAR(of_a, 500, 100);
  EXPECT_NE(a->CheckIds({kLargest}).ok(), b->CheckIds({kLargest}).ok());
}

TEST(HashTable, ATableOnEveryShardOwnsEveryIdEverywhere) {
  TableSpec spec = CountingTable(0, 1);
  spec.on_every_shard = true;
  MemoryBudget budget(0);
  for (const int shard : {0, 1}) {
    const auto table = HashTable::Create(
        spec, 1, {PartitionKind::kEveryShard, 0, 2}, shard, &budget);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_TRUE((*table)->CheckIds({0, 1, 2, 3, kLargest}).ok());
  }
}

TEST(HashTable, APartitionOfAnArrayIsRefused) {
  MemoryBudget budget(0);
  EXPECT_EQ(HashTable::Create(TestTable(0), 1, {PartitionKind::kMod, 0, 2}, 0,
                              &budget)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

// Ids that fill 64 bits: their elements are numbered beyond 2^64, and rows
// whose element numbers agree in the lower 64 bits start from other values.
TEST(HashTable, IdsThatDifferInTheTopBitsAloneAreDifferentRows) {
  TableSpec spec = TestTable(0);
  spec.columns = {{"v",
                   16,
                   TestOptimizer(OptimizerKind::kSgd),
                   {InitializerKind::kUniform, 1}},
                  {"n",
                   16,
                   TestOptimizer(OptimizerKind::kSgd),
                   {InitializerKind::kTruncatedNormal, 1}}};
  MemoryBudget budget(0);
  const auto table = Make(spec, &budget);
  const std::vector<FeatureId> ids = {5, 5 | uint64_t{1} << 60,
                                      5 | uint64_t{1} << 63, kLargest, 0};
  const std::vector<float> rows = Read(table.get(), ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      for (const size_t column : {0, 16}) {
        const auto a = rows.begin() + i * 32 + column;
        const auto b = rows.begin() + j * 32 + column;
        EXPECT_FALSE(std::equal(a, a + 16, b)) << i << " and " << j;
      }
    }
  }
  EXPECT_EQ(table->rows(), ids.size());
  EXPECT_EQ(Read(table.get(), ids), rows);
  // The digest tells an update of one from an update of the other.
  const auto other = Make(spec, &budget);
  Read(other.get(), ids);
  const std::vector<float> gradient(32, 1);
  ASSERT_TRUE(Update(table.get(), 1, {ids[0]}, gradient).ok());
  ASSERT_TRUE(Update(other.get(), 1, {ids[1]}, gradient).ok());
  EXPECT_NE(table->Digest(), other->Digest());
}

TEST(HashTable, AFullTableRefusesNewRowsAndSaysWhatToDo) {
  MemoryBudget budget(0);
  const auto table =
      Make(Limited(TestTable(0), 3, TableFull::kRefuse), &budget);
  Read(table.get(), {10, 20});
  const uint64_t digest = table->Digest();
  const uint64_t held = budget.held();
  const absl::Status refused =
      Update(table.get(), 1, {10, 30, 40}, std::vector<float>(24, 1));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("holds 2 of at most 3 rows, and 2 more are needed"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--table_row_limit"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--table_full=share"));
  EXPECT_EQ(table->Digest(), digest) << "a refused push changed something";
  EXPECT_EQ(budget.held(), held);
  EXPECT_TRUE(Update(table.get(), 1, {10, 30}, std::vector<float>(16, 1)).ok())
      << "the last row is still free";
  EXPECT_EQ(table->rows(), 3);
  const std::vector<float> peeked = Read(table.get(), {40}, /*read_only=*/true);
  MemoryBudget unlimited(0);
  EXPECT_EQ(peeked, Read(Make(TestTable(0), &unlimited).get(), {40}))
      << "an absent row still reads as its initial value";
}

// Beyond the limit all ids are one row; in a push that names several of them
// it is updated once, by their sum: under Adagrad and Adam that is another
// result than one update after the other.
TEST(HashTable, AbsentIdsOfAFullTableShareOneRow) {
  MemoryBudget budget(0);
  const auto table = Make(Limited(TestTable(0), 2, TableFull::kShare), &budget);
  const std::vector<float> own = Read(table.get(), {10, 20});
  const std::vector<float> start = Read(table.get(), {30});
  EXPECT_EQ(Read(table.get(), {40}), start);
  EXPECT_EQ(Read(table.get(), {40}, /*read_only=*/true), start);
  EXPECT_EQ(table->rows(), 3);

  std::vector<float> gradients(4 * 8);
  for (size_t i = 0; i < gradients.size(); ++i) gradients[i] = 0.25f * (i % 5);
  ASSERT_TRUE(Update(table.get(), 1, {30, 10, 40, 50}, gradients).ok());
  std::vector<float> sum(8);
  for (const size_t position : {0, 2, 3}) {
    for (size_t k = 0; k < 8; ++k) sum[k] += gradients[position * 8 + k];
  }
  // The same row in a table of its own; it has this id's initial values.
  const auto expected = Make(TestTable(0), &budget);
  ASSERT_EQ(Read(expected.get(), {kLargest}), start);
  ASSERT_TRUE(Update(expected.get(), 1, {kLargest}, sum).ok());
  const std::vector<float> shared = Read(expected.get(), {kLargest});
  EXPECT_NE(shared, start);
  for (const FeatureId id : {30, 40, 50, 60}) {
    EXPECT_EQ(Read(table.get(), {id}), shared) << id;
    EXPECT_EQ(Read(table.get(), {id}, /*read_only=*/true), shared) << id;
  }
  EXPECT_EQ(table->rows(), 3);
  EXPECT_EQ(Read(table.get(), {20}),
            std::vector<float>(own.begin() + 8, own.end()));
  EXPECT_NE(Read(table.get(), {10}),
            std::vector<float>(own.begin(), own.begin() + 8));
}

TEST(HashTable, BeforeATableIsFullAbsentRowsReadAsTheirOwn) {
  MemoryBudget budget(0);
  const auto table = Make(Limited(TestTable(0), 2, TableFull::kShare), &budget);
  const std::vector<float> first = Read(table.get(), {1}, /*read_only=*/true);
  EXPECT_NE(first, Read(table.get(), {2}, /*read_only=*/true));
  EXPECT_EQ(Read(table.get(), {1}), first);
}

TEST(HashTable, TheRowLimitHoldsUnderConcurrentCreation) {
  constexpr uint64_t kLimit = 1000;
  MemoryBudget budget(0);
  for (const TableFull full : {TableFull::kRefuse, TableFull::kShare}) {
    const auto table =
        Make(Limited(CountingTable(0, 1), kLimit, full), &budget);
    std::atomic<uint64_t> added{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t i = 0; i < 1000; ++i) {
          const FeatureId id = i * 4 + (i % 2 == 0 ? 0 : t);
          const std::vector<FeatureId> ids = {id, id + 1'000'000};
          if (Update(table.get(), 1, ids, {-1, -1}).ok()) added += 2;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const bool share = full == TableFull::kShare;
    // Cells given to an id whose request was refused are still to be had.
    for (uint64_t id = 0; !share && id < 4004; ++id) {
      if (Update(table.get(), 1, {id}, {-1}).ok()) ++added;
    }
    EXPECT_EQ(table->rows(), kLimit + (share ? 1 : 0));
    double sum = 0;
    table->ForEachRow(
        [&](FeatureId, absl::Span<const float> weights) { sum += weights[0]; });
    EXPECT_EQ(sum, static_cast<double>(added)) << "an update was lost";
    if (share) {
      EXPECT_EQ(added, 8000);
    }
  }
}

TEST(HashTable, TheIndexCountsAgainstTheBudget) {
  MemoryBudget budget(0);
  const auto table = Make(CountingTable(0, 1), &budget);  // records of 16 bytes
  std::vector<FeatureId> ids(100000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = StableHash(i);
  Read(table.get(), ids);
  EXPECT_EQ(table->rows(), ids.size());
  const uint64_t index = budget.held() - ids.size() * 16;
  // Entries of 16 bytes, between 5/16 and 5/8 of them used.
  EXPECT_GE(index, ids.size() * 16 * 8 / 5);
  EXPECT_LE(index, ids.size() * 16 * 16 / 5 * 11 / 10);
}

// Readers find what was there before, whatever the index does meanwhile.
TEST(HashIndex, ReadersFindEveryOldEntryWhileItGrows) {
  constexpr uint64_t kOld = 1000;
  constexpr uint64_t kAll = 200000;
  MemoryBudget budget(0);
  HashIndex index(&budget);
  std::vector<RecordHeader> records(kAll);
  const auto add = [&](uint64_t id) {
    ASSERT_TRUE(index.Reserve({id}).ok());
    ASSERT_EQ(index.Insert(id, &records[id]), &records[id]);
  };
  for (uint64_t id = 0; id < kOld; ++id) add(id);  // id 0 among them
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      std::vector<FeatureId> ids;
      for (uint64_t id = 0; id < kOld; ++id) ids.push_back(id);
      for (uint64_t id = 0; id < kOld; ++id) ids.push_back(kAll + id);
      std::vector<RecordHeader*> found(ids.size());
      while (!stop) {
        index.Find(ids, absl::MakeSpan(found));
        for (uint64_t id = 0; id < kOld; ++id) {
          ASSERT_EQ(found[id], &records[id]) << id;
          ASSERT_EQ(found[kOld + id], nullptr);
        }
      }
    });
  }
  for (uint64_t id = kOld; id < kAll; ++id) add(id);
  stop = true;
  for (std::thread& reader : readers) reader.join();
  std::vector<FeatureId> ids(kAll);
  std::vector<RecordHeader*> found(kAll);
  for (uint64_t id = 0; id < kAll; ++id) ids[id] = id;
  index.Find(ids, absl::MakeSpan(found));
  for (uint64_t id = 0; id < kAll; ++id) ASSERT_EQ(found[id], &records[id]);
}

TEST(HashIndex, AnIdThatWasAddedBeforeKeepsItsRecord) {
  MemoryBudget budget(0);
  HashIndex index(&budget);
  RecordHeader first{}, second{};
  ASSERT_TRUE(index.Reserve({7, 7}).ok());
  EXPECT_EQ(index.Insert(7, &first), &first);
  EXPECT_EQ(index.Insert(7, &second), &first);
}

TEST(HashIndex, WithoutRoomNothingIsReserved) {
  MemoryBudget budget(3 * 1024);  // three segments of 64 entries
  HashIndex index(&budget);
  std::vector<FeatureId> ids;
  for (uint64_t i = 0; i < 200; ++i) ids.push_back(StableHash(i));
  EXPECT_EQ(index.Reserve(ids).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LE(budget.held(), 3 * 1024);
  // What was reserved for them before the refusal is free: 40 of one segment.
  std::vector<FeatureId> of_one;
  for (uint64_t id = 0; of_one.size() < 40; ++id) {
    if (id * kGolden >> 58 == 0) of_one.push_back(id);
  }
  EXPECT_TRUE(index.Reserve(of_one).ok());
}

// Adds the ids, each with a record of its own.
void AddAll(absl::Span<const FeatureId> ids, std::vector<RecordHeader>* records,
            HashIndex* index) {
  ASSERT_TRUE(index->Reserve(ids).ok());
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(index->Insert(ids[i], &(*records)[i]), &(*records)[i]);
  }
}

// Ids of one segment, ids whose public hashes are a progression, and ids that
// are a progression themselves.
TEST(HashIndex, CraftedIdsAreFoundAsRandomOnesAre) {
  constexpr uint64_t kFirst = 4000;  // soon, where all of them collide
  constexpr uint64_t kAll = 80'000;
  std::vector<std::vector<FeatureId>> crafted(3);
  for (uint64_t i = 0; i < kAll; ++i) {
    crafted[0].push_back(i * InverseOf(kGolden));
    crafted[1].push_back(i << 40);
    crafted[2].push_back(i);
  }
  for (const int low : {0, 17, 34}) crafted.push_back(CraftedIds(0, low, kAll));
  std::vector<RecordHeader> records(kAll);
  MemoryBudget budget(0);
  for (size_t set = 0; set < crafted.size(); ++set) {
    const auto ids = absl::MakeConstSpan(crafted[set]);
    HashIndex index(&budget);
    AddAll(ids.first(kFirst), &records, &index);
    // Random ones: 10 or so, of hundreds.
    ASSERT_LE(index.LongestProbe(), 60) << "set " << set;
    AddAll(ids.subspan(kFirst), &records, &index);
    EXPECT_LE(index.LongestProbe(), 60) << "set " << set;
  }
}

std::vector<FeatureId> SavedIds(const HashTable& table) {
  std::vector<FeatureId> ids;
  table.ForEachSavedRow(
      [&](FeatureId id, absl::Span<const float>) { ids.push_back(id); });
  return ids;
}

// Whatever the key, and in whatever order the rows came into existence.
TEST(HashTable, EqualTablesAreSavedInTheSameOrder) {
  MemoryBudget budget(0);
  std::vector<FeatureId> ids;
  for (uint64_t i = 0; i < 10'000; ++i) ids.push_back(StableHash(i));
  const auto first = Make(CountingTable(0, 1), &budget);
  Read(first.get(), ids);
  std::reverse(ids.begin(), ids.end());
  const auto second = Make(CountingTable(0, 1), &budget);
  Read(second.get(), ids);
  const std::vector<FeatureId> saved = SavedIds(*first);
  EXPECT_EQ(saved.size(), ids.size());
  EXPECT_EQ(saved, SavedIds(*second));
  EXPECT_EQ(first->Digest(), second->Digest());
}

}  // namespace
}  // namespace shoal
