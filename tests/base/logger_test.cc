#include "base/logger.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Logger, WritesNamedLinesOfItsLevelToStderr) {
  ::testing::internal::CaptureStderr();
  Logger log({.name = "worker 1", .level = LogLevel::kWarn});
  log.Info("too low");
  log.Warn("as low as it goes");
  log.Error("with {} and %s as they are");
  const std::string out = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(out, AllOf(HasSubstr("[worker 1] as low as it goes\n"),
                         HasSubstr("with {} and %s as they are\n"),
                         Not(HasSubstr("too low"))));
  EXPECT_TRUE(log.Enabled(LogLevel::kError));
  EXPECT_FALSE(log.Enabled(LogLevel::kInfo));
}

TEST(Logger, LevelsAreReadByNameAndAWrongOneListsThem) {
  EXPECT_EQ(*ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(*ParseLogLevel("error"), LogLevel::kError);
  const absl::Status status = ParseLogLevel("verbose").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("verbose"), HasSubstr("debug")));
}

}  // namespace
}  // namespace shoal
