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

TEST(LedgerLineTest, SaysWhenItDoesNotKnowHowManySamplesThereAre) {
  JobReport report;
  report.samples = 100;
  report.trained = 30;
  report.status = absl::DataLossError("b.libsvm: damaged");
  EXPECT_THAT(LedgerLine(report),
              HasSubstr("samples 100 = 30 trained + 0 rejected + 0 lost + 70 "
                        "not trained, of the data read so far; batches"));
  report.total_known = true;
  EXPECT_THAT(LedgerLine(report), HasSubstr("70 not trained; batches"));
}

TEST(EvalTextTest, AnAucFromAHistogramHasItsErrorRoundedUp) {
  EvalReport eval{0.7624912, 0.5, 2000, 1};
  eval.exact_auc = false;
  eval.auc_error = 1e-7;
  EXPECT_THAT(EvalText(eval),
              HasSubstr("AUC 0.76249 ± 0.00001 (histogram), logloss"));
  eval.auc_error = 3.2e-5;
  EXPECT_THAT(EvalText(eval), HasSubstr("± 0.00004 (histogram)"));
}

TEST(SummaryLinesTest, ListOnlyTheNewestEvaluationsOfMany) {
  JobReport report;
  report.evals.resize(1000);
  for (uint32_t i = 0; i < 1000; ++i) report.evals[i].epoch = i + 1;
  const std::string lines = SummaryLines(report);
  EXPECT_THAT(lines, Not(HasSubstr("epoch 980:")));
  EXPECT_THAT(lines, HasSubstr("epoch 981:"));
}

TEST(SummaryLinesTest, SaysOnlyWhatIsKnown) {
  JobReport report;
  EXPECT_EQ(SummaryLines(report), LedgerLine(report) + "\n");
  report.evals.resize(1);
  report.evals[0] = {0.75, 0.5, 2000, 1.25};
  report.evals[0].epoch = 3;
  report.staleness.Add(3, 10);
  report.wall = absl::Seconds(2);
  report.trained = 1000;
  const std::string lines = SummaryLines(report);
  EXPECT_THAT(lines, HasSubstr("after epoch 3: AUC 0.75000, logloss 0.50000, "
                               "calibration 1.2500 on 2000 examples\n"));
  EXPECT_THAT(lines, HasSubstr("staleness mean 3.00, p50 3, p99 3, max 3\n"));
  EXPECT_THAT(lines, HasSubstr("trained for 2.00 s, 500 samples/s\n"));
  EXPECT_THAT(lines, Not(HasSubstr("steady")));
}

}  // namespace
}  // namespace shoal
