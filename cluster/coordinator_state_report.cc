#include <algorithm>

#include "cluster/coordinator_state.h"

namespace shoal {

JobReport CoordinatorState::Report(absl::Time now) const {
  JobReport report;
  report.started = first_worker_.has_value();
  report.finished = finished();
  report.status = status_;

  report.samples = train_facts_.examples() * options_.num_epochs;
  report.total_known = phase_ != Phase::kGathering && train_facts_.all_known();
  report.fraction_done = FractionDone();
  const LedgerTotals& totals = ledger_.totals();
  report.trained = totals.trained;
  report.rejected = totals.rejected;
  report.bad_rows = train_facts_.bad_rows() + eval_facts_.bad_rows();
  report.batches = totals.batches;
  report.mended = totals.mended;
  report.recomputed = totals.recomputed;
  report.repeats_refused = totals.repeats_refused;
  report.eval = eval_report_;

  progress_.Fill(now, &report);
  for (WorkerReport& worker : report.workers) {
    worker.alive = membership_.Find(Role::kWorker, worker.index) != nullptr;
  }
  return report;
}

double CoordinatorState::FractionDone() const {
  const double all =
      static_cast<double>(train_facts_.bytes()) * options_.num_epochs;
  if (all == 0) return phase_ > Phase::kTraining ? 1 : 0;
  double done = static_cast<double>(complete_bytes_);
  for (const LeaseTable::Held& held : train_leases_.held()) {
    if (held.copy) continue;
    const Piece& piece = train_facts_.piece(held.piece);
    done += static_cast<double>(piece.end - piece.begin) *
            ledger_.FractionComplete(held.epoch, held.piece);
  }
  return std::min(1.0, done / all);
}

}  // namespace shoal
