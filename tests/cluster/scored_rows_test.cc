#include "cluster/scored_rows.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

EvalResult Rows(uint32_t piece, uint64_t offset, uint64_t count, bool more,
                uint32_t evaluation = 3) {
  EvalResult result;
  result.epoch = evaluation;
  result.piece = piece;
  result.offset = offset;
  result.logits.resize(count);
  result.labels.resize(count);
  result.more = more;
  return result;
}

TEST(ScoredRowsTest, EachRowCountsOnceWhoeverSendsIt) {
  ScoredRows rows(3, 2, 1);
  auto take = [&](const EvalResult& result, int worker) {
    const auto known = rows.Known(result);
    EXPECT_TRUE(known.ok()) << known.status();
    rows.Take(result, worker);
    return known.ok() ? *known : 999;
  };
  EXPECT_EQ(take(Rows(1, 0, 10, true), 0), 0u);
  EXPECT_EQ(take(Rows(1, 0, 4, true), 1), 4u) << "a copy of the lease";
  EXPECT_EQ(take(Rows(1, 4, 12, true), 1), 6u);
  EXPECT_EQ(rows.rows(1), 16u);
  EXPECT_FALSE(rows.complete(1));
  EXPECT_EQ(take(Rows(1, 10, 10, false), 0), 6u);
  EXPECT_TRUE(rows.complete(1));
  EXPECT_EQ(take(Rows(1, 16, 4, false), 1), 4u) << "the copy ends too";
  EXPECT_FALSE(rows.complete());
  EXPECT_EQ(take(Rows(0, 0, 0, false), 1), 0u) << "an empty piece";
  EXPECT_TRUE(rows.complete());
  EXPECT_EQ(rows.rows(), 20u);
  EXPECT_THAT(rows.rows_of_worker(), ElementsAre(Pair(0, 14u), Pair(1, 6u)));
}

TEST(ScoredRowsTest, RowsThatAreMissingOrAnotherEvaluationsAreRefused) {
  const ScoredRows rows(3, 2, 1);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(rows.Known(Rows(0, 1, 5, true)).status().code(), invalid);
  EXPECT_EQ(rows.Known(Rows(2, 0, 5, true)).status().code(), invalid);
  EXPECT_EQ(rows.Known(Rows(0, 0, 5, true, 2)).status().code(), invalid);
  EvalResult uneven = Rows(0, 0, 5, true);
  uneven.labels.pop_back();
  EXPECT_EQ(rows.Known(uneven).status().code(), invalid);
}

TEST(ScoredRowsTest, EachRowHasTheScoresThatTheObjectiveSays) {
  ScoredRows rows(3, 1, 3);
  EvalResult result = Rows(0, 0, 4, true);
  EXPECT_EQ(rows.Known(result).status().code(),
            absl::StatusCode::kInvalidArgument);
  result.logits.resize(4 * 3);
  ASSERT_TRUE(rows.Known(result).ok());
  rows.Take(result, 0);
  EXPECT_EQ(*rows.Known(result), 4u) << "rows, not scores";
}

TEST(ScoredRowsTest, APieceOfTwoLengthsIsDataLoss) {
  ScoredRows rows(3, 1, 1);
  rows.Take(Rows(0, 0, 10, true), 0);
  EXPECT_EQ(rows.Known(Rows(0, 0, 9, false)).status().code(),
            absl::StatusCode::kDataLoss);
  rows.Take(Rows(0, 10, 0, false), 0);
  EXPECT_EQ(rows.Known(Rows(0, 0, 11, true)).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_TRUE(rows.Known(Rows(0, 0, 10, false)).ok());
}

}  // namespace
}  // namespace shoal
