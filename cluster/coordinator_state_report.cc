#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cluster/coordinator_state.h"

namespace shoal {

JobReport CoordinatorState::Report(absl::Time now) const {
  JobReport report;
  report.trains = options_.task == JobTask::kTrain;
  report.started = clock_.gathered();
  report.waiting_for = WaitingFor();
  report.over = phase_ >= JobPhase::kEnding;
  report.finished = finished();
  report.status = status_;

  report.samples = train_facts_.examples() * options_.num_epochs;
  report.total_known =
      phase_ >= JobPhase::kTraining && train_facts_.all_known();
  report.fraction_done = FractionDone();
  report.fraction_before = fraction_before_;
  const LedgerTotals& totals = ledger_.totals();
  report.trained = totals.trained;
  report.rejected = totals.rejected;
  report.bad_rows = BadRows();
  report.first_bad_row = FirstBadRow();
  report.batches = totals.batches;
  report.mended = totals.mended;
  report.recomputed = totals.recomputed;
  report.repeats_refused = totals.repeats_refused;
  report.leases =
      train_leases_.held().size() + evaluation_.leases().held().size();
  report.epoch = std::min(ledger_.CompleteEpochs(), options_.num_epochs - 1);
  report.ps_alive = static_cast<int>(membership_.Open(Role::kPs).size());

  report.checkpoint = policy_.report();

  progress_.Fill(now, &report);
  for (WorkerReport& worker : report.workers) {
    worker.alive = membership_.Find(Role::kWorker, worker.index) != nullptr;
  }
  evaluation_.Fill(&report);
  return report;
}

std::string CoordinatorState::WaitingFor() const {
  if (phase_ >= JobPhase::kTraining) return "";
  std::vector<std::string> missing;
  auto look_for = [&](Role role, int count) {
    for (int i = 0; i < count; ++i) {
      const Member* member = membership_.Find(role, i);
      if (member == nullptr || !member->open()) {
        missing.push_back(ProcessName(role, i));
      }
    }
  };
  look_for(Role::kPs, options_.num_ps);
  look_for(Role::kWorker, options_.num_workers);
  constexpr size_t kNamed = 8;
  if (missing.size() <= kNamed) return absl::StrJoin(missing, ", ");
  const size_t more = missing.size() - kNamed;
  missing.resize(kNamed);
  return absl::StrCat(absl::StrJoin(missing, ", "), " and ", more, " more");
}

std::string CoordinatorState::FirstBadRow() const {
  return train_facts_.first_error().empty() ? evaluation_.facts().first_error()
                                            : train_facts_.first_error();
}

uint64_t CoordinatorState::BadRows() const {
  return train_facts_.bad_rows() + evaluation_.facts().bad_rows();
}

double CoordinatorState::FractionDone() const {
  if (options_.task != JobTask::kTrain) {
    return phase_ > JobPhase::kEvaluating ? 1 : evaluation_.FractionScored();
  }
  const double all =
      static_cast<double>(train_facts_.bytes()) * options_.num_epochs;
  if (all == 0) return phase_ > JobPhase::kTraining ? 1 : 0;
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
