#include "base/logger.h"

#include <pty.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(Logger, ALineHasDateAndZoneUnlessTheTimeOfDayIsEnough) {
  ::testing::internal::CaptureStderr();
  Logger({}).Info("news");
  Logger({.full_time = false}).Info("news");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::MatchesRegex(
                  "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}[.][0-9]{3}"
                  "[-+][0-9]{2}:[0-9]{2} info news\n"
                  "[0-9:]{8}[.][0-9]{3} info news\n"));
}

TEST(Logger, OnATerminalALineTakesTheRowOfAnUnfinishedOne) {
  int terminal;
  int window;
  ASSERT_EQ(openpty(&terminal, &window, nullptr, nullptr, nullptr), 0);
  const int before = dup(STDERR_FILENO);
  ASSERT_EQ(dup2(window, STDERR_FILENO), STDERR_FILENO);
  Logger({.terminal = {.shown = true, .redraws = true, .escapes = true},
          .full_time = false})
      .Info("news");
  dup2(before, STDERR_FILENO);
  // A terminal gives what is there, which may be a part of the line.
  std::string line;
  char c = 0;
  while (c != '\n' && read(terminal, &c, 1) == 1) line += c;
  EXPECT_THAT(line, AllOf(StartsWith("\r\x1b[K"), HasSubstr(" news")));
  for (const int fd : {terminal, window, before}) close(fd);
}

}  // namespace
}  // namespace shoal
