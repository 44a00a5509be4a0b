#include "cluster/job_report.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/counted.h"

namespace shoal {
namespace {

// A value of --piece_bytes that holds 16 batches: then a short batch is one of
// 17 at most. Whole MiB, or KiB below.
std::string PieceBytes(const DataReport& data) {
  constexpr double kBatches = 16;
  constexpr uint64_t kKiB = 1 << 10;
  constexpr uint64_t kMiB = 1 << 20;
  const double row = static_cast<double>(data.read_bytes) /
                     static_cast<double>(data.rows);
  const auto bytes =
      static_cast<uint64_t>(std::ceil(kBatches * data.batch_size * row));
  const uint64_t unit = bytes >= kMiB ? kMiB : kKiB;
  return absl::StrCat((bytes + unit - 1) / unit, unit == kMiB ? "MiB" : "KiB");
}

double MeanBatch(const DataReport& data) {
  return static_cast<double>(data.rows) / static_cast<double>(data.batches);
}

bool ManyShort(const DataReport& data) {
  return data.short_batches > 0 && MeanBatch(data) < 0.75 * data.batch_size;
}

}  // namespace

std::vector<const PsReport*> ShardReports(const JobReport& report) {
  std::vector<const PsReport*> shards;
  for (const PsReport& ps : report.ps) {
    if (ps.first_of_shard) shards.push_back(&ps);
  }
  return shards;
}

uint64_t LookupsOfShard(const JobReport& report, int shard) {
  uint64_t lookups = 0;
  for (const PsReport& ps : report.ps) {
    if (ps.shard == shard) lookups += ps.stats.lookups;
  }
  return lookups;
}

std::string ShortBatchesText(const DataReport& data) {
  if (data.short_batches == 0) return "";
  return absl::StrFormat(
      "%d an epoch%s, %d of them short (fewer rows than --batch_size=%d, as "
      "their piece of the data ended); %.1f rows in the mean",
      data.batches, data.all_read ? "" : ", of the data read so far",
      data.short_batches, data.batch_size, MeanBatch(data));
}

std::string ShortBatchesWarning(const DataReport& data) {
  if (!ManyShort(data)) return "";
  return absl::StrFormat(
      "batches have %.1f rows in the mean, and --batch_size=%d: a batch ends "
      "where its piece of the data ends; for larger batches give "
      "--piece_bytes=%s, which holds 16 batches, or larger files (a compressed "
      "file is one piece), or train with a smaller --batch_size. A job that "
      "resumes keeps the pieces of its checkpoint",
      MeanBatch(data), data.batch_size, PieceBytes(data));
}

std::string LedgerLine(const JobReport& report) {
  const uint64_t accounted = report.trained + report.rejected + report.lost;
  // If the job was cut short; data that it did not read are not even counted.
  const uint64_t left =
      report.samples > accounted ? report.samples - accounted : 0;
  return absl::StrCat(
      "samples ", accounted + left, " = ", report.trained, " trained + ",
      report.rejected, " rejected + ", report.lost, " lost",
      left > 0 ? absl::StrCat(" + ", left, " not trained") : "",
      // Nobody knows how many more there are.
      report.status.ok() || report.total_known ? ""
                                               : ", of the data read so far",
      "; batches ", report.batches, ": ", report.mended, " mended, ",
      report.recomputed, " recomputed, ", report.repeats_refused,
      " repeats refused");
}

std::string EvalText(const EvalReport& eval) {
  // Without both labels no pair can be ranked.
  std::string auc =
      eval.auc >= 0 ? absl::StrFormat("AUC %.5f", eval.auc) : "AUC -";
  if (!eval.exact_auc) {
    // Rounded up, so that what is printed is a bound too.
    absl::StrAppendFormat(&auc, " ± %.5f (histogram)",
                          std::ceil(eval.auc_error * 1e5 + 0.5) / 1e5);
  }
  return absl::StrFormat(
      "%s, logloss %s, calibration %s on %s", auc,
      eval.logloss > 0 ? absl::StrFormat("%.5f", eval.logloss) : "-",
      eval.calibration > 0 ? absl::StrFormat("%.4f", eval.calibration) : "-",
      Counted(eval.examples, "example"));
}

double MeanSpeed(const JobReport& report) {
  const double wall = absl::ToDoubleSeconds(report.wall);
  if (wall <= 0) return 0;
  uint64_t samples =
      report.trained + report.rejected - report.checkpoint.resumed_samples;
  if (samples == 0 && !report.trains) {
    for (const WorkerReport& worker : report.workers) samples += worker.scored;
  }
  return static_cast<double>(samples) / wall;
}

std::string SummaryLines(const JobReport& report) {
  std::string lines;
  if (report.trains) absl::StrAppend(&lines, LedgerLine(report), "\n");
  const double wall = absl::ToDoubleSeconds(report.wall);
  if (report.trains && wall > 0) {
    absl::StrAppendFormat(&lines, "trained for %.2f s, %.0f samples/s", wall,
                          MeanSpeed(report));
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
  // These lines travel in one message.
  constexpr size_t kNewest = 20;
  const size_t evals = report.evals.size();
  for (size_t i = evals > kNewest ? evals - kNewest : 0; i < evals; ++i) {
    const EvalReport& eval = report.evals[i];
    absl::StrAppend(&lines,
                    eval.epoch == 0 ? "evaluated"
                                    : absl::StrCat("after epoch ", eval.epoch),
                    ": ", EvalText(eval), "\n");
  }
  return lines;
}

}  // namespace shoal
