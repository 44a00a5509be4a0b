#include "report/job_reporter.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/file_system.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

// The lines that a launcher is told.
class JobReporterTest : public ::testing::Test {
 protected:
  JobReporterTest()
      : files_(NewPosixFileSystem()), reporter_(Options(), files_.get()) {
    EXPECT_TRUE(reporter_.Start(now_).ok());
  }

  static JobReporterOptions Options() {
    JobReporterOptions options;
    options.style = ProgressStyle::kJson;
    return options;
  }

  int LinesIn(absl::Duration span) {
    ::testing::internal::CaptureStdout();
    const absl::Time end = now_ + span;
    while (now_ < end) {
      now_ += reporter_.interval();
      reporter_.Progress(report_, now_);
    }
    const std::string text = ::testing::internal::GetCapturedStdout();
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  const std::unique_ptr<FileSystem> files_;
  absl::Time now_ = absl::UnixEpoch();
  JobReporter reporter_;
  JobReport report_;
};

TEST_F(JobReporterTest, TellsAtOnceThatAJobBeginsAndElseFourTimesASecond) {
  const int before = LinesIn(absl::Seconds(10));
  EXPECT_GE(before, 38);
  EXPECT_LE(before, 42);
  report_.started = true;
  EXPECT_LE(reporter_.interval(), absl::Milliseconds(20));
  EXPECT_EQ(LinesIn(absl::Milliseconds(10)), 1);
  EXPECT_EQ(LinesIn(absl::Seconds(10)), 40);
}

TEST_F(JobReporterTest, TellsAtOnceThatAJobEndsWhichNeverBegan) {
  LinesIn(absl::Seconds(1));
  report_.over = true;
  EXPECT_EQ(LinesIn(absl::Milliseconds(10)), 1);
}

TEST(JobReporterStyleTest, PeopleAreToldInTheUsualTime) {
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  EXPECT_EQ(JobReporter({}, files.get()).interval(), absl::Milliseconds(250));
}

}  // namespace
}  // namespace shoal
