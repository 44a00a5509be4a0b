#include "cluster/job_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace shoal {

std::string LedgerLine(const JobReport& report) {
  const uint64_t accounted = report.trained + report.rejected + report.lost;
  // Of a job that was cut short; what it did not read is not even counted.
  const uint64_t left =
      report.samples > accounted ? report.samples - accounted : 0;
  return absl::StrCat(
      "samples ", accounted + left, " = ", report.trained, " trained + ",
      report.rejected, " rejected + ", report.lost, " lost",
      left > 0 ? absl::StrCat(" + ", left, " not trained") : "", "; batches ",
      report.batches, ": ", report.mended, " mended, ", report.recomputed,
      " recomputed, ", report.repeats_refused, " repeats refused");
}

std::string SummaryLines(const JobReport& report) {
  std::string lines = absl::StrCat(LedgerLine(report), "\n");
  const double wall = absl::ToDoubleSeconds(report.wall);
  if (wall > 0) {
    absl::StrAppendFormat(
        &lines, "trained for %.2f s, %.0f samples/s", wall,
        static_cast<double>(report.trained + report.rejected -
                            report.checkpoint.resumed_samples) /
            wall);
    if (report.steady_wall_seconds > 0) {
      absl::StrAppendFormat(&lines, " (steady: %.0f samples/s)",
                            static_cast<double>(report.steady_samples) /
                                report.steady_wall_seconds);
    }
    lines += "\n";
  }
  if (report.staleness.count() != 0) {
    absl::StrAppendFormat(
        &lines, "staleness mean %.2f, p50 %d, p99 %d, max %d\n",
        report.staleness.mean(), report.staleness.Quantile(0.5),
        report.staleness.Quantile(0.99), report.staleness.max());
  }
  if (report.eval.examples != 0) {
    absl::StrAppendFormat(&lines, "eval auc %.5f, logloss %.5f, examples %d\n",
                          report.eval.auc, report.eval.logloss,
                          report.eval.examples);
  }
  return lines;
}

}  // namespace shoal
