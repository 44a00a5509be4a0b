#include "cluster/loaded_marks.h"

#include <string>
#include <vector>

#include "core/mark.h"
#include "core/mark_run.h"
#include "core/save_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class LoadedMarksTest : public testing::Test {
 protected:
  // What shard 0 is to be asked for now.
  uint64_t Asked() {
    const auto request = marks_.Ask();
    EXPECT_TRUE(request.has_value());
    return request.has_value() ? request->offset : ~uint64_t{0};
  }
  absl::StatusCode Code(int shard, const MarkRuns& part) {
    return marks_.Add(shard, part).code();
  }

  // 5 applied and 1 rejected.
  const std::vector<MarkRun> runs_ = {{0, 3, 0, 2, Verdict::kApplied},
                                      {0, 3, 2, 3, Verdict::kRejected},
                                      {0, 4, 1, 3, Verdict::kApplied},
                                      {1, 0, 0, 1, Verdict::kApplied}};
  const MarkTotals totals_ = {5, 1, 77};
  LoadedMarks marks_{3};
};

TEST_F(LoadedMarksTest, NotAllAreThereByDefault) {
  EXPECT_FALSE(LoadedMarks().all());
  EXPECT_FALSE(LoadedMarks(0, false).all()) << "all of none";
  EXPECT_FALSE(LoadedMarks(2, false).all());
  EXPECT_FALSE(marks_.all());
}

TEST_F(LoadedMarksTest, AllAreThereWithTheLastShardOrTheLastOfItsMarks) {
  LoadedMarks unwanted(2, false);
  ASSERT_TRUE(unwanted.AddMember(1, {}).ok());
  EXPECT_FALSE(unwanted.all());
  ASSERT_TRUE(unwanted.AddMember(0, {}).ok());
  EXPECT_TRUE(unwanted.all());
  EXPECT_FALSE(unwanted.Ask().has_value());
  LoadedMarks wanted(1, true);
  ASSERT_TRUE(wanted.AddMember(0, totals_).ok());
  EXPECT_FALSE(wanted.all());
  ASSERT_TRUE(wanted.Ask().has_value());
  ASSERT_TRUE(wanted.Add(0, {0, runs_, false}).ok());
  EXPECT_TRUE(wanted.all());
  wanted.Take();
  EXPECT_TRUE(wanted.all());
}

TEST_F(LoadedMarksTest, AServerThatIsGoneIsNotThereWheneverItGoes) {
  LoadedMarks marks(1, true);
  ASSERT_TRUE(marks.AddMember(0, totals_).ok());
  ASSERT_TRUE(marks.Ask().has_value());
  ASSERT_TRUE(marks.Add(0, {0, runs_, false}).ok());
  marks.Take();  // the job trains
  marks.Drop(0);
  EXPECT_FALSE(marks.all());
}

TEST_F(LoadedMarksTest, RunsComePartByPartFromOneShard) {
  ASSERT_TRUE(marks_.AddMember(2, totals_).ok());
  EXPECT_EQ(marks_.source(), 2);
  EXPECT_EQ(Asked(), 0u);
  ASSERT_TRUE(marks_.AddMember(0, totals_).ok());
  EXPECT_EQ(marks_.source(), 2) << "it was asked";
  EXPECT_FALSE(marks_.Ask().has_value()) << "one part at a time";
  ASSERT_TRUE(marks_.Add(2, {0, {runs_[0]}, true}).ok());
  EXPECT_EQ(Asked(), 1u);
  ASSERT_TRUE(marks_.Add(2, {1, {runs_[1], runs_[2]}, true}).ok());
  EXPECT_EQ(Asked(), 3u);
  ASSERT_TRUE(marks_.Add(2, {3, {runs_[3]}, false}).ok());
  EXPECT_FALSE(marks_.Ask().has_value());
  EXPECT_EQ(marks_.Take(), runs_);
}

TEST_F(LoadedMarksTest, ShardsOfOtherMarksAreDataLoss) {
  ASSERT_TRUE(marks_.AddMember(0, totals_).ok());
  const absl::Status status = marks_.AddMember(1, {5, 1, 78});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ps 1"));
}

TEST_F(LoadedMarksTest, AGapAnOverlapAndDisorderAreRefused) {
  ASSERT_TRUE(marks_.AddMember(0, totals_).ok());
  EXPECT_EQ(Code(0, {0, runs_, false}), absl::StatusCode::kInvalidArgument)
      << "not asked for";
  Asked();
  EXPECT_EQ(Code(1, {0, runs_, false}), absl::StatusCode::kInvalidArgument)
      << "of another shard";
  EXPECT_EQ(Code(0, {1, runs_, false}), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(marks_.Add(0, {0, {runs_[0], runs_[1]}, true}).ok());
  Asked();
  for (const uint64_t offset : {0, 1, 3}) {
    EXPECT_EQ(Code(0, {offset, {runs_[2]}, true}),
              absl::StatusCode::kInvalidArgument)
        << offset;
  }
  EXPECT_EQ(Code(0, {2, {runs_[1]}, true}), absl::StatusCode::kInvalidArgument)
      << "the same batches again";
}

TEST_F(LoadedMarksTest, RunsThatAreNotTheTotalsAreDataLoss) {
  ASSERT_TRUE(marks_.AddMember(0, totals_).ok());
  Asked();
  EXPECT_EQ(Code(0, {0, {runs_[0], runs_[1]}, false}),
            absl::StatusCode::kDataLoss);
}

TEST_F(LoadedMarksTest, WithoutItsSourceItBeginsAgainWithAnother) {
  ASSERT_TRUE(marks_.AddMember(0, totals_).ok());
  ASSERT_TRUE(marks_.AddMember(1, totals_).ok());
  Asked();
  ASSERT_TRUE(marks_.Add(0, {0, {runs_[0]}, true}).ok());
  marks_.Drop(0);
  EXPECT_FALSE(marks_.has(0));
  EXPECT_EQ(Asked(), 0u);
  EXPECT_EQ(marks_.source(), 1);
  ASSERT_TRUE(marks_.Add(1, {0, runs_, false}).ok());
  EXPECT_THAT(marks_.Take(), SizeIs(4));
}

TEST_F(LoadedMarksTest, ACheckpointWithoutMarksIsWholeAtOnce) {
  LoadedMarks marks(1, true);
  ASSERT_TRUE(marks.AddMember(0, {}).ok());
  ASSERT_TRUE(marks.Ask().has_value());
  EXPECT_TRUE(marks.Add(0, {0, {}, false}).ok());
  EXPECT_TRUE(marks.all());
}

}  // namespace
}  // namespace shoal
