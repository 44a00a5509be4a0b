#include "report/closing_text.h"

#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "partitioner/balance.h"
#include "report/number_text.h"

namespace shoal {
namespace {

std::string SpeedLine(const JobReport& report, const ComputeFacts& compute) {
  double worker_cpu = 0;
  double ps_cpu = 0;
  for (const WorkerReport& worker : report.workers) {
    worker_cpu += worker.cpu_seconds;
  }
  for (const PsReport& ps : report.ps) ps_cpu += ps.cpu_seconds;
  // A job that found everything trained already has no speed.
  const double speed = MeanSpeed(report);
  const std::string samples =
      speed > 0 ? absl::StrFormat("%s samples/s over %.1f s",
                                  WithCommas(std::llround(speed)),
                                  absl::ToDoubleSeconds(report.wall))
                : "-";
  std::string line = absl::StrCat("speed      ", samples);
  if (compute.replayed()) return line;
  absl::StrAppendFormat(&line, "; CPU: workers %.1f s", worker_cpu);
  // The copies of ranks are in the processes of the workers.
  const bool in_workers =
      !report.ps.empty() && absl::c_all_of(report.ps, [](const PsReport& ps) {
        return ps.address.empty();
      });
  if (!in_workers) {
    absl::StrAppendFormat(&line, ", PSs %.1f s", ps_cpu);
  }
  return line;
}

// Empty: the workers computed as fast as they could.
std::string ComputeLine(const ComputeFacts& compute) {
  const std::string held_back = absl::StrCat(
      "a batch lasted at least ", compute.scale, " times its processor time");
  if (!compute.replayed()) {
    return compute.scale == 1
               ? ""
               : absl::StrCat("compute    held back: ", held_back);
  }
  std::string line = absl::StrCat("compute    replayed from ", compute.profile);
  if (compute.source == ComputeSource::kBusy) {
    absl::StrAppend(&line, " by busy cores");
    if (compute.scale != 1) absl::StrAppend(&line, ", ", held_back);
  } else if (compute.scale != 1) {
    absl::StrAppend(&line, " times ", compute.scale);
  }
  return absl::StrCat(line,
                      ": no model was trained, and loss, AUC and CPU "
                      "time are not measured");
}

// Adds one line per evaluation: "AUC        0.76249, logloss …". The line of a
// training has the epoch. Of many evaluations only the newest are added.
void AddEvaluations(const JobReport& report, std::vector<std::string>* lines) {
  constexpr size_t kNewest = 20;
  const size_t count = report.evals.size();
  const size_t first = count > kNewest ? count - kNewest : 0;
  if (first > 0) {
    lines->push_back(
        absl::StrCat(first, " earlier evaluations are in --summary"));
  }
  for (size_t i = first; i < count; ++i) {
    const EvalReport& eval = report.evals[i];
    // EvalText begins with the same word.
    lines->push_back(absl::StrCat(
        "AUC       ", EvalText(eval).substr(3),
        report.trains ? absl::StrCat(", after epoch ", eval.epoch) : ""));
  }
}

std::string WorkersLine(const JobReport& report) {
  // In a job that trains nothing, the samples that each worker scored. The
  // percentages are of the workers' sum: the workers are ahead of the ledger,
  // and in a resumed job a part of the ledger is from an earlier run.
  const bool trains = report.trained > 0;
  uint64_t all = 0;
  for (const WorkerReport& worker : report.workers) {
    all += trains ? worker.samples : worker.scored;
  }
  std::string line = "workers   ";
  for (const WorkerReport& worker : report.workers) {
    const uint64_t samples = trains ? worker.samples : worker.scored;
    absl::StrAppend(&line, " ", worker.index, ": ", WithCommas(samples));
    if (all == 0) continue;
    absl::StrAppendFormat(
        &line, " (%.1f %%)",
        100.0 * static_cast<double>(samples) / static_cast<double>(all));
  }
  return line;
}

// "1 row", "2,000 rows".
std::string Rows(uint64_t count) {
  return absl::StrCat(WithCommas(count), count == 1 ? " row" : " rows");
}

void AddProblems(const JobReport& report, absl::string_view bad_rows_dir,
                 std::vector<std::string>* lines) {
  if (report.bad_rows > 0) {
    lines->push_back(absl::StrCat(
        "bad rows   ", WithCommas(report.bad_rows),
        bad_rows_dir.empty()
            ? ", not written to any file (give --quarantine_dir)"
            : absl::StrCat(", see ", bad_rows_dir, "/bad-rows-worker-*.tsv"),
        report.named_bad_rows.empty() ? "" : "; the first:"));
    for (const std::string& row : report.named_bad_rows) {
      lines->push_back(absl::StrCat("           ", row));
    }
  }
  if (report.rejected > 0) {
    lines->push_back(absl::StrFormat(
        "rejected   %s sample%s: the loss or gradient of their batches was not "
        "finite, or too large; check their values and the learning rate",
        WithCommas(report.rejected), report.rejected == 1 ? "" : "s"));
  }
}

void AddPredictions(const JobReport& report, std::vector<std::string>* lines) {
  if (report.predicted == 0) return;
  if (!report.status.ok()) {
    lines->push_back(absl::StrCat("predicted  ", Rows(report.predicted),
                                  " of a file that is incomplete and was not "
                                  "kept"));
    return;
  }
  lines->push_back(
      absl::StrCat("predicted  ", Rows(report.predicted),
                   report.predicted_nan > 0
                       ? absl::StrCat(", ", WithCommas(report.predicted_nan),
                                      " of them nan, which could not be parsed")
                       : ""));
}

void AddCheckpoints(const JobReport& report, std::vector<std::string>* lines) {
  const CheckpointReport& checkpoint = report.checkpoint;
  if (!checkpoint.resumed_from.empty() && !report.trains) {
    lines->push_back(absl::StrCat("model      of ", checkpoint.resumed_from,
                                  ", step ",
                                  WithCommas(checkpoint.resumed_step)));
  } else if (!checkpoint.resumed_from.empty()) {
    lines->push_back(absl::StrFormat(
        "resumed    from %s, step %s, %s sample%s", checkpoint.resumed_from,
        WithCommas(checkpoint.resumed_step),
        WithCommas(checkpoint.resumed_samples),
        checkpoint.resumed_samples == 1 ? "" : "s"));
  }
  if (checkpoint.saved + checkpoint.voided > 0) {
    lines->push_back(absl::StrCat(
        absl::StrFormat("checkpoint %s, step %s; %d saved in %.2f s",
                        checkpoint.path.empty() ? "none" : checkpoint.path,
                        WithCommas(checkpoint.step), checkpoint.saved,
                        checkpoint.all_seconds),
        checkpoint.voided > 0 ? absl::StrCat(", ", checkpoint.voided, " failed")
                              : ""));
  }
}

std::string StalenessLine(const JobReport& report) {
  if (report.staleness.count() == 0) return "staleness  -";
  return absl::StrFormat(
      "staleness  mean %.2f, p50 %d, p99 %d, max %d", report.staleness.mean(),
      report.staleness.Quantile(0.5), report.staleness.Quantile(0.99),
      report.staleness.max());
}

void AddCanaries(const JobReport& report, std::vector<std::string>* lines) {
  for (const PsReport& ps : report.ps) {
    if (!ps.stats.canary.has_value()) continue;
    const CanaryStats& canary = *ps.stats.canary;
    lines->push_back(
        absl::StrFormat("canaries   ps %d: %s, %d of them not 1, from %g to %g",
                        ps.index, WithCommas(canary.rows), canary.not_one,
                        canary.smallest, canary.largest));
  }
}

void AddBalance(const JobReport& report, std::vector<std::string>* lines) {
  BalanceReport balance;
  for (const PsReport* ps : ShardReports(report)) {
    balance.push_back({ps->stats.bytes, ps->stats.rows,
                       LookupsOfShard(report, ps->shard)});
  }
  if (balance.empty()) return;
  for (const absl::string_view line :
       absl::StrSplit(FormatBalance(balance), '\n', absl::SkipEmpty())) {
    lines->emplace_back(line);
  }
}

}  // namespace

std::vector<std::string> ClosingText(const JobReport& report,
                                     absl::string_view bad_rows_dir,
                                     const ComputeFacts& compute) {
  std::vector<std::string> lines;
  const bool began = report.wall > absl::ZeroDuration();
  if (!report.status.ok() && !began) return lines;
  if (report.trains) lines.push_back(LedgerLine(report));
  const std::string batches = ShortBatchesText(report.train_data);
  if (!batches.empty()) lines.push_back(absl::StrCat("batches    ", batches));
  AddProblems(report, bad_rows_dir, &lines);
  AddEvaluations(report, &lines);
  AddPredictions(report, &lines);
  AddCheckpoints(report, &lines);
  const std::string computed = ComputeLine(compute);
  if (!computed.empty()) lines.push_back(computed);
  lines.push_back(SpeedLine(report, compute));
  if (!report.workers.empty()) lines.push_back(WorkersLine(report));
  if (report.trains) lines.push_back(StalenessLine(report));
  AddCanaries(report, &lines);
  // The shards report their balance only if the job ends well.
  if (!report.status.ok()) return lines;
  AddBalance(report, &lines);
  lines.push_back(
      absl::StrCat("digest     ", absl::Hex(report.digest, absl::kZeroPad16)));
  return lines;
}

}  // namespace shoal
