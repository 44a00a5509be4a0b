#include "cmd/live_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace shoal {
namespace {

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
  output.Live("10 %", start_);
  output.Live("11 %", start_ + absl::Milliseconds(1999));
  output.Live("12 %", start_ + absl::Milliseconds(2000));
  EXPECT_EQ(Written(), "10 %\n12 %\n");
  output.EndLive();
  EXPECT_EQ(Written(), "");
}

TEST_F(LiveOutputTest, ATerminalGetsTheLiveLineBelowAllOthers) {
  options_.terminal = true;
  LiveOutput output(options_);
  output.Live("10 %", start_);
  EXPECT_EQ(Written(), "\r\x1b[K10 %");
  output.Live("11 %", start_);
  EXPECT_EQ(Written(), "\r\x1b[K11 %");
  output.Line("", 0, "news");
  EXPECT_EQ(Written(), "\r\x1b[Knews\n11 %");
  output.EndLive();
  EXPECT_EQ(Written(), "\n");
}

TEST_F(LiveOutputTest, TheLiveLineFitsTheTerminal) {
  options_.terminal = true;
  options_.columns = 5;
  LiveOutput output(options_);
  output.Live("123456789", start_);
  EXPECT_EQ(Written(), "\r\x1b[K1234");
}

TEST_F(LiveOutputTest, PrefixesAreColouredOnATerminal) {
  options_.terminal = true;
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
