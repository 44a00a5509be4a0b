#include "core/collective_operation.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/gathered_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

CollectiveOperation Reduce() {
  CollectiveOperation operation;
  operation.generation = 1;
  operation.step = 3;
  operation.index = 2;
  operation.length = 12;
  operation.name = "dense/0";
  return operation;
}

TEST(CollectiveOperationTest, EveryFieldChangesTheDigest) {
  std::vector<CollectiveOperation> all(9, Reduce());
  all[1].kind = CollectiveKind::kBroadcast;
  all[2].type = ElementType::kByte;
  all[3].generation = 2;
  all[4].step = 4;
  all[5].index = 3;
  all[6].root = 1;
  all[7].length = 13;
  all[8].name = "dense/1";
  std::set<uint64_t> digests;
  for (const CollectiveOperation& operation : all) {
    digests.insert(operation.Digest());
  }
  EXPECT_EQ(digests.size(), all.size());
}

// Digests travel, so they never change.
TEST(CollectiveOperationTest, DigestIsTheSameEverywhere) {
  EXPECT_EQ(Reduce().Digest(), Reduce().Digest());
  EXPECT_EQ(absl::StrCat(absl::Hex(Reduce().Digest())), "fd0764b7eed7adbf");
}

TEST(CollectiveOperationTest, PartsOfAnAllGatherMayHaveAnyLengths) {
  std::vector<CollectiveOperation> ranks(3, Reduce());
  for (size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].kind = CollectiveKind::kAllGather;
    ranks[r].type = ElementType::kByte;
    ranks[r].length = r * 100;
  }
  EXPECT_EQ(CheckOperations(ranks, 200), absl::OkStatus());
  const absl::Status large = CheckOperations(ranks, 199);
  EXPECT_EQ(large.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(large.message()), HasSubstr("rank 2"));
  EXPECT_THAT(std::string(large.message()), HasSubstr("at most 199 bytes"));
}

TEST(CollectiveOperationTest, ADifferenceNamesBothSides) {
  std::vector<CollectiveOperation> ranks(3, Reduce());
  EXPECT_EQ(CheckOperations(ranks, 0), absl::OkStatus());
  ranks[2].length = 14;
  const absl::Status status = CheckOperations(ranks, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the ranks do not agree on an operation: rank 0 has AllReduce "
            "'dense/0' of 12 float32 (generation 1, step 3, index 2), rank 2 "
            "has AllReduce 'dense/0' of 14 float32 (generation 1, step 3, "
            "index 2)");
}

TEST(CollectiveOperationTest, ARootIsARank) {
  CollectiveOperation operation = Reduce();
  operation.kind = CollectiveKind::kBroadcast;
  operation.root = 1;
  EXPECT_EQ(CheckOperations({operation, operation}, 0), absl::OkStatus());
  operation.root = 2;
  const absl::Status status = CheckOperations({operation, operation}, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("from rank 2"));
}

TEST(GatheredPartsTest, PartsAreAlignedAndMemoryIsKept) {
  GatheredParts parts;
  EXPECT_EQ(parts.size(), 0);
  parts.Reset(2);
  const std::string own = "own";
  const absl::Span<char> room = parts.Allocate(1, 100);
  parts.Refer(0, own);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(room.data()) % 64, 0u);
  EXPECT_EQ(parts.part(0).data(), own.data());
  EXPECT_EQ(parts.part(1).size(), 100u);
  const char* const before = room.data();
  parts.Reset(2);
  EXPECT_TRUE(parts.part(1).empty());
  EXPECT_EQ(parts.Allocate(1, 50).data(), before);
}

}  // namespace
}  // namespace shoal
