#include "tests/sim/coordinator_complaints.h"

#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/metrics.h"

namespace shoal {
namespace {

// The counters of the ledger's line, from the shards' books alone.
std::string TrueLedgerLine(const CoordinatorWorldResult& result) {
  std::map<BatchId, std::set<uint64_t>> first_leases;
  std::map<BatchId, std::set<uint64_t>> all_leases;
  uint64_t repeats = 0;
  for (const ShardBook& book : result.books) {
    repeats += book.repeats_refused;
    for (const auto& [batch, lease] : book.leases) {
      first_leases[batch].insert(lease);
    }
    for (const auto& [batch, leases] : book.all_leases) {
      all_leases[batch].insert(leases.begin(), leases.end());
    }
  }
  uint64_t mended = 0;
  uint64_t recomputed = 0;
  for (const auto& [batch, leases] : first_leases) mended += leases.size() > 1;
  for (const auto& [batch, leases] : all_leases) {
    recomputed += leases.size() > 1;
  }
  return absl::StrCat("samples ", result.samples, " = ",
                      result.samples - result.rejected, " trained + ",
                      result.rejected, " rejected + 0 lost; batches ",
                      result.batches, ": ", mended, " mended, ", recomputed,
                      " recomputed, ", repeats, " repeats refused");
}

}  // namespace

std::vector<std::string> Complaints(const CoordinatorWorldOptions& options,
                                    const CoordinatorWorldResult& result) {
  std::vector<std::string> complaints;
  const auto complain = [&](const std::string& what) {
    complaints.push_back(what);
  };
  if (!result.finished) complain("the job hangs");
  if (!result.report.status.ok()) {
    complain(absl::StrCat("the job failed: ", result.report.status.ToString()));
  }
  if (result.left_behind != 0) {
    complain(
        absl::StrCat(result.left_behind, " processes never heard the end"));
  }
  for (size_t k = 0; k < result.books.size(); ++k) {
    const std::map<BatchId, int>& canaries = result.books[k].canaries;
    if (canaries.size() != result.batches) {
      complain(absl::StrCat("shard ", k, " has ", canaries.size(),
                            " batches of ", result.batches));
    }
    for (const auto& [batch, count] : canaries) {
      if (count != 1) {
        complain(absl::StrCat("shard ", k, " applied batch ", ToString(batch),
                              " ", count, " times"));
      }
    }
  }
  if (complaints.empty()) {
    const std::string expected = TrueLedgerLine(result);
    const std::string said = LedgerLine(result.report);
    if (said != expected) {
      complain(absl::StrCat("the ledger says '", said, "', true is '", expected,
                            "'"));
    }
    const int every = options.eval_every_epochs;
    const int evaluations = !options.evaluate ? 0
                            : every == 0      ? 1
                                         : (options.epochs + every - 1) / every;
    if (result.report.evals.size() != static_cast<size_t>(evaluations)) {
      complain(absl::StrCat(result.report.evals.size(), " evaluations, not ",
                            evaluations));
    }
    for (const EvalReport& eval : result.report.evals) {
      uint64_t of_workers = 0;
      for (const auto& [worker, rows] : eval.examples_of_worker) {
        of_workers += rows;
      }
      if (eval.examples != result.eval_examples ||
          of_workers != result.eval_examples) {
        complain(absl::StrCat("evaluated on ", eval.examples, " examples, ",
                              of_workers, " by worker, of ",
                              result.eval_examples));
      }
      if (std::abs(eval.logloss - LogLoss(1, 1)) > 1e-9) {
        complain(absl::StrCat("evaluation after epoch ", eval.epoch,
                              " counts scores of other weights: logloss ",
                              eval.logloss));
      }
    }
  }
  return complaints;
}

}  // namespace shoal
