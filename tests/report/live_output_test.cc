#include "report/live_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace shoal {
namespace {

constexpr Terminal kFull = {.shown = true, .redraws = true, .escapes = true};

TEST(TerminalOf, AFileIsNone) {
  const Terminal terminal = TerminalOf(-1, "xterm", "");
  EXPECT_FALSE(terminal.shown || terminal.redraws || terminal.escapes);
}

TEST(TerminalOf, FollowsTheEnvironment) {
  int terminal;
  int window;
  ASSERT_EQ(openpty(&terminal, &window, nullptr, nullptr, nullptr), 0);
  EXPECT_TRUE(TerminalOf(window, "xterm", "").escapes);
  EXPECT_TRUE(TerminalOf(window, "", "").escapes);
  EXPECT_TRUE(TerminalOf(window, "xterm", "1").redraws);
  EXPECT_FALSE(TerminalOf(window, "xterm", "1").escapes);
  EXPECT_TRUE(TerminalOf(window, "dumb", "").shown);
  EXPECT_FALSE(TerminalOf(window, "dumb", "").redraws);
  EXPECT_FALSE(TerminalOf(window, "dumb", "").escapes);
  close(window);
  close(terminal);
}

// What is written to a pipe, as it is read.
class LiveOutputTest : public ::testing::Test {
 protected:
  LiveOutputTest() {
    EXPECT_EQ(pipe2(ends_, O_NONBLOCK | O_CLOEXEC), 0);
    options_.fd = ends_[1];
  }
  ~LiveOutputTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  std::string Written() {
    char bytes[4096];
    const ssize_t size = read(ends_[0], bytes, sizeof(bytes));
    return size > 0 ? std::string(bytes, size) : "";
  }

  int ends_[2];
  LiveOutputOptions options_;
  const absl::Time start_ = absl::UnixEpoch();
};

TEST_F(LiveOutputTest, AFileGetsPlainLinesAndTheLiveOneNowAndThen) {
  LiveOutput output(options_);
  output.Line("ps 0", 0, "hello");
  EXPECT_EQ(Written(), "ps 0 | hello\n");
  output.Live({{"10 %"}}, start_);
  output.Live({{"11 %"}}, start_ + absl::Milliseconds(1999));
  output.Live({{"12 %"}}, start_ + absl::Milliseconds(2000));
  EXPECT_EQ(Written(), "10 %\n12 %\n");
  output.EndLive();
  EXPECT_EQ(Written(), "");
}

TEST_F(LiveOutputTest, ATerminalGetsTheLiveLineBelowAllOthers) {
  options_.terminal = kFull;
  LiveOutput output(options_);
  output.Live({{"10 %"}}, start_);
  EXPECT_EQ(Written(), "\r\x1b[K10 %");
  output.Live({{"11 %"}}, start_);
  EXPECT_EQ(Written(), "\r\x1b[K11 %");
  output.Line("", 0, "news");
  EXPECT_EQ(Written(), "\r\x1b[Knews\n11 %");
  output.EndLive();
  EXPECT_EQ(Written(), "\n");
}

TEST_F(LiveOutputTest, TheLiveLineFitsTheTerminal) {
  options_.terminal = kFull;
  options_.columns = 12;
  LiveOutput output(options_);
  output.Live({{"12345678"}, {"9"}, {"no room"}}, start_);
  EXPECT_EQ(Written(), "\r\x1b[K12345678, 9");
}

TEST_F(LiveOutputTest, WithoutColoursTheLineIsRewrittenWithoutEscapes) {
  options_.terminal = {.shown = true, .redraws = true, .escapes = false};
  options_.columns = 12;
  LiveOutput output(options_);
  output.Live({{"10 %"}}, start_);
  output.Line("ps 0", 1, "news");
  const std::string erase = "\r" + std::string(11, ' ') + "\r";
  EXPECT_EQ(Written(),
            erase + "10 %" + erase + "ps 0 | news\n10 %");
}

TEST_F(LiveOutputTest, ADumbTerminalGetsWholeLinesOfItsWidthAndTheirTime) {
  options_.terminal = {.shown = true, .redraws = false, .escapes = false};
  options_.columns = 30;
  options_.stamp = true;
  options_.full_time = false;
  LiveOutput output(options_);
  output.Live({{"10 %"}, {"1,000 samples/s"}}, start_);
  EXPECT_THAT(Written(), ::testing::MatchesRegex(
                             "[0-9:]{8}.000 10 %\n"));
}

TEST_F(LiveOutputTest, AFileGetsDateAndZone) {
  options_.stamp = true;
  LiveOutput output(options_);
  output.Live({{"10 %"}}, start_);
  EXPECT_THAT(Written(),
              ::testing::MatchesRegex(
                  "19[67][0-9]-[01][0-9]-[0-9]{2}T[0-9:]{8}.000"
                  "[-+][0-9]{2}:[0-9]{2} 10 %\n"));
}

TEST_F(LiveOutputTest, TheLiveLineFollowsTheWindow) {
  int terminal;
  int window;
  ASSERT_EQ(openpty(&terminal, &window, nullptr, nullptr, nullptr), 0);
  options_.fd = window;
  options_.terminal = TerminalOf(window, "xterm", "");
  LiveOutput output(options_);
  const std::string line(150, 'x');
  for (const uint16_t columns : {120, 40}) {
    winsize size = {24, columns, 0, 0};
    ASSERT_EQ(ioctl(window, TIOCSWINSZ, &size), 0);
    output.Live({{line}}, start_);
    char bytes[400];
    const ssize_t got = read(terminal, bytes, sizeof(bytes));
    EXPECT_EQ(std::string(bytes, got > 0 ? got : 0),
              "\r\x1b[K" + line.substr(0, columns - 1));
  }
  output.EndLive();
  close(window);
  close(terminal);
}

TEST_F(LiveOutputTest, PrefixesAreColouredOnATerminal) {
  options_.terminal = kFull;
  LiveOutput output(options_);
  output.Line("ps 0", 1, "hello");
  EXPECT_EQ(Written(), "\x1b[32mps 0\x1b[0m | hello\n");
}

TEST_F(LiveOutputTest, NobodyReadingIsNoReasonToStop) {
  options_.fd = -1;
  LiveOutput output(options_);
  output.Line("ps 0", 0, "hello");
}

}  // namespace
}  // namespace shoal
