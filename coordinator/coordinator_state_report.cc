#include <string>

#include "coordinator/coordinator_state.h"
#include "coordinator/overdue_text.h"

namespace shoal {

JobReport CoordinatorState::Report(absl::Time now) const {
  JobReport report;
  report.trains = options_.task == JobTask::kTrain;
  report.started = clock_.gathered();
  if (phase_ < JobPhase::kTraining) {
    report.waiting_for = MissingProcesses(options_, membership_);
  }
  report.over = phase_ >= JobPhase::kEnding;
  report.finished = finished();
  report.status = status_;
  report.first = first_;
  report.stopped = stopped_;

  report.total_known =
      phase_ >= JobPhase::kTraining && book_.facts().all_known();
  book_.Fill(&report);
  report.fraction_done = FractionDone();
  report.bad_rows = BadRows();
  report.first_bad_row = FirstBadRow();
  report.leases =
      book_.leases().held().size() + evaluation_.leases().held().size();
  report.ps_alive = static_cast<int>(membership_.Open(Role::kPs).size());

  report.checkpoint = saves_.report();

  progress_.Fill(now, &report);
  for (WorkerReport& worker : report.workers) {
    worker.alive = membership_.Find(Role::kWorker, worker.index) != nullptr;
  }
  evaluation_.Fill(&report);
  return report;
}

std::string CoordinatorState::FirstBadRow() const {
  return book_.facts().first_error().empty() ? evaluation_.facts().first_error()
                                             : book_.facts().first_error();
}

uint64_t CoordinatorState::BadRows() const {
  return book_.facts().bad_rows() + evaluation_.facts().bad_rows();
}

double CoordinatorState::FractionDone() const {
  if (options_.task != JobTask::kTrain) {
    return phase_ > JobPhase::kEvaluating ? 1 : evaluation_.FractionScored();
  }
  if (book_.facts().bytes() == 0) return phase_ > JobPhase::kTraining ? 1 : 0;
  return book_.FractionDone();
}

}  // namespace shoal
