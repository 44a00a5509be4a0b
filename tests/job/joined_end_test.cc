#include "job/joined_end.h"

#include <utility>

#include "gtest/gtest.h"

namespace shoal {
namespace {

MemberEnd End(absl::Status status, bool job_over) {
  MemberEnd end;
  end.status = std::move(status);
  end.job_over = job_over;
  return end;
}

TEST(JoinedEndTest, TheLastPartEndsTheProcess) {
  JoinedEnd joined(2);
  EXPECT_FALSE(joined.Add(End(absl::OkStatus(), true)).has_value());
  const auto end = joined.Add(End(absl::OkStatus(), true));
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end->status.ok());
  EXPECT_TRUE(end->job_over);
}

TEST(JoinedEndTest, TheEndOfTheJobSaysMoreThanThatOfAPart) {
  const absl::Status lost = absl::UnavailableError("rank 1 is lost");
  const absl::Status part = absl::DataLossError("a bad file");
  for (const bool first : {true, false}) {
    SCOPED_TRACE(first);
    JoinedEnd joined(2);
    joined.Add(first ? End(lost, true) : End(part, false));
    const auto end = joined.Add(first ? End(part, false) : End(lost, true));
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->status, lost);
    EXPECT_TRUE(end->job_over);
  }
}

// One part of a process that was taken for dead only sees that its session is
// over; the other asks to join again, and is refused.
TEST(JoinedEndTest, ThatTheJobGoesOnWithoutTheProcessSaysMoreThanAnError) {
  MemberEnd refused = End(absl::FailedPreconditionError("was lost"), false);
  refused.left_behind = true;
  const MemberEnd error = End(absl::DeadlineExceededError("silent"), false);
  for (const bool first : {true, false}) {
    SCOPED_TRACE(first);
    JoinedEnd joined(2);
    joined.Add(first ? refused : error);
    const auto end = joined.Add(first ? error : refused);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->status, refused.status);
    EXPECT_TRUE(end->left_behind);
  }
}

TEST(JoinedEndTest, AnErrorOfAPartIsNotHiddenByAnotherPart) {
  const absl::Status part = absl::DataLossError("a bad file");
  for (const bool first : {true, false}) {
    SCOPED_TRACE(first);
    JoinedEnd joined(2);
    joined.Add(End(first ? part : absl::OkStatus(), false));
    const auto end = joined.Add(End(first ? absl::OkStatus() : part, false));
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->status, part);
  }
}

}  // namespace
}  // namespace shoal
