#include "worker/train/score_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/label.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Time kStart = absl::UnixEpoch();

// Batches of two; messages of three scores, or of what waited for a second.
class ScoreSenderTest : public testing::Test {
 protected:
  ScoreSenderTest() { Start(LeasePurpose::kEvaluate); }

  void Start(LeasePurpose purpose) {
    Lease lease;
    lease.purpose = purpose;
    lease.number = 7;
    lease.epoch = 2;
    lease.piece.index = 5;
    lease.batch_size = 2;
    sender_.emplace(ScoreSenderOptions{3, absl::Seconds(1)}, lease, kStart);
  }

  void Add(uint32_t batch, std::vector<float> logits,
           std::vector<uint8_t> labels = {0, 1}, absl::Time now = kStart) {
    sender_->Add(batch, logits, labels, now, [&](EvalResult result) {
      sent_.push_back(std::move(result));
    });
  }
  void End(uint64_t examples) {
    sender_->End(examples, kStart, [&](EvalResult result) {
      sent_.push_back(std::move(result));
    });
  }

  std::optional<ScoreSender> sender_;
  std::vector<EvalResult> sent_;
};

TEST_F(ScoreSenderTest, GathersBatchesIntoFullMessagesAndTheRest) {
  Add(0, {1, 2});
  EXPECT_THAT(sent_, IsEmpty());
  Add(1, {3, 4});
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_THAT(sent_[0].logits, ElementsAre(1, 2, 3));
  EXPECT_THAT(sent_[0].labels, ElementsAre(0, 1, 0));
  EXPECT_TRUE(sent_[0].more);
  End(4);
  ASSERT_THAT(sent_, SizeIs(2));
  EXPECT_EQ(sent_[1].offset, 3u);
  EXPECT_THAT(sent_[1].logits, ElementsAre(4));
  EXPECT_FALSE(sent_[1].more);
  for (const EvalResult& result : sent_) {
    EXPECT_EQ(result.lease, 7u);
    EXPECT_EQ(result.epoch, 2u);
    EXPECT_EQ(result.piece, 5u);
  }
}

TEST_F(ScoreSenderTest, SendsWhatWaitedForTheInterval) {
  Add(0, {1, 2}, {0, 1}, kStart + absl::Milliseconds(999));
  EXPECT_THAT(sent_, IsEmpty());
  Add(1, {3}, {1}, kStart + absl::Seconds(1));
  EXPECT_THAT(sent_, SizeIs(1)) << "full";
  Add(2, {5, 6}, {0, 1}, kStart + absl::Milliseconds(1999));
  EXPECT_THAT(sent_, SizeIs(1));
}

TEST_F(ScoreSenderTest, NoMessageSpansASkippedBatch) {
  Add(0, {1, 2});
  Add(2, {5, 6});
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_THAT(sent_[0].logits, ElementsAre(1, 2));
  End(6);
  ASSERT_THAT(sent_, SizeIs(2));
  EXPECT_EQ(sent_[1].offset, 4u);
  EXPECT_THAT(sent_[1].logits, ElementsAre(5, 6));
}

TEST_F(ScoreSenderTest, AnEmptyLastMessageStandsAtTheEndOfThePiece) {
  End(9);
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0].offset, 9u);
  EXPECT_THAT(sent_[0].labels, IsEmpty());
  EXPECT_FALSE(sent_[0].more);
}

TEST_F(ScoreSenderTest, ARowThatIsNoneScoresNaN) {
  Start(LeasePurpose::kInfer);
  Add(0, {1, 2}, {BadRowLabel(2), 1});
  End(2);
  EXPECT_TRUE(std::isnan(sent_[0].logits[0]));
  EXPECT_EQ(sent_[0].logits[1], 2);
}

TEST_F(ScoreSenderTest, TheScoresOfARowStayTogether) {
  Add(0, {1, 2, 3, 4}, {0, BadRowLabel(2)});  // a label like any other
  ASSERT_THAT(sent_, SizeIs(2)) << "a row of two fits into three scores";
  EXPECT_THAT(sent_[0].logits, ElementsAre(1, 2));
  EXPECT_THAT(sent_[1].logits, ElementsAre(3, 4));
  EXPECT_THAT(sent_[1].labels, ElementsAre(BadRowLabel(2)));
  EXPECT_EQ(sent_[1].offset, 1u);
  sent_.clear();
  Start(LeasePurpose::kInfer);
  Add(0, {1, 2, 3, 4, 5, 6, 7, 8}, {0, BadRowLabel(2)});
  ASSERT_THAT(sent_, SizeIs(2)) << "always one row";
  EXPECT_THAT(sent_[0].logits, ElementsAre(1, 2, 3, 4));
  ASSERT_THAT(sent_[1].logits, SizeIs(4));
  for (const float score : sent_[1].logits) EXPECT_TRUE(std::isnan(score));
}

}  // namespace
}  // namespace shoal
