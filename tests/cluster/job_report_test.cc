#include "cluster/job_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LedgerLineTest, SaysEveryNumber) {
  JobReport report;
  report.samples = 16000;
  report.trained = 15990;
  report.rejected = 10;
  report.batches = 64;
  report.mended = 1;
  report.recomputed = 2;
  report.repeats_refused = 3;
  EXPECT_EQ(LedgerLine(report),
            "samples 16000 = 15990 trained + 10 rejected + 0 lost; batches 64: "
            "1 mended, 2 recomputed, 3 repeats refused");
}

TEST(SummaryLinesTest, SaysOnlyWhatIsKnown) {
  JobReport report;
  EXPECT_EQ(SummaryLines(report), LedgerLine(report) + "\n");
  report.eval = {0.75, 0.5, 2000};
  report.staleness.Add(3, 10);
  report.wall = absl::Seconds(2);
  report.trained = 1000;
  const std::string lines = SummaryLines(report);
  EXPECT_THAT(lines, HasSubstr("eval auc 0.75000, logloss 0.50000, examples "
                               "2000\n"));
  EXPECT_THAT(lines, HasSubstr("staleness mean 3.00, p50 3, p99 3, max 3\n"));
  EXPECT_THAT(lines, HasSubstr("trained for 2.00 s, 500 samples/s\n"));
  EXPECT_THAT(lines, Not(HasSubstr("steady")));
}

}  // namespace
}  // namespace shoal
