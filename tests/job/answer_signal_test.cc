#include "job/answer_signal.h"

#include <signal.h>

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using Action = StopSignals::Action;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Answer {
  std::optional<absl::Status> reason;
  std::string log;
};

Answer AnswerTo(const MainWait::Event& event, const std::string& name) {
  Answer answer;
  Logger logger({});
  testing::internal::CaptureStderr();
  answer.reason = AnswerSignal(event, name, "the job stops",
                               [] { return std::string(); }, &logger);
  answer.log = testing::internal::GetCapturedStderr();
  return answer;
}

TEST(AnswerSignalTest, ASignalIsToldAndNamedInTheReason) {
  const Answer answer = AnswerTo({Action::kStop, SIGTERM}, "ps 1");
  ASSERT_TRUE(answer.reason.has_value());
  EXPECT_EQ(*answer.reason,
            absl::CancelledError("ps 1 was stopped by SIGTERM"));
  EXPECT_THAT(answer.log, HasSubstr("SIGTERM: the job stops\n"));
  EXPECT_EQ(*AnswerTo({Action::kStop, SIGHUP}, "").reason,
            absl::CancelledError("stopped by SIGHUP"));
}

TEST(AnswerSignalTest, WhatTheLauncherPassesOnIsDoneAndNotToldAgain) {
  const Answer answer = AnswerTo({Action::kStop, SIGINT, true}, "worker 0");
  EXPECT_TRUE(answer.reason.has_value());
  EXPECT_THAT(answer.log, IsEmpty());
}

TEST(AnswerSignalTest, AProcessThatStopsAlreadyIsNotStoppedAgain) {
  const Answer answer = AnswerTo({Action::kRemind, SIGINT}, "worker 0");
  EXPECT_FALSE(answer.reason.has_value());
  EXPECT_THAT(answer.log, HasSubstr("SIGINT: the job is stopping already"));
}

TEST(AnswerSignalTest, NothingNewIsNotTold) {
  const Answer answer = AnswerTo({Action::kNone, SIGTERM}, "worker 0");
  EXPECT_FALSE(answer.reason.has_value());
  EXPECT_THAT(answer.log, IsEmpty());
}

}  // namespace
}  // namespace shoal
