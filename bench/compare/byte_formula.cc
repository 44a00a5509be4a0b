#include "bench/compare/byte_formula.h"

#include "bench/compare/cell_mode.h"

namespace shoal {

RoleBytes FormulaOf(const Cell& cell, const ComparedModel& model, double batch,
                    double rows) {
  constexpr double kId = 8;  // bytes
  const double n = cell.hosts;
  const auto dense = static_cast<double>(model.dense_bytes);
  const auto row = static_cast<double>(model.row_bytes);
  const double reduced = 2 * (n - 1) / n * dense;
  RoleBytes step;  // of all workers, or of all servers, for a worker's step
  const TrainingModeRow& mode = ModeRowOf(cell);
  if (!mode.servers) {
    step.worker_sent = reduced + (n - 1) * rows * (kId + row);
    step.worker_received = step.worker_sent;
  } else {
    // Workers with copies of the dense variables sum them in a ring.
    const double served = mode.copies ? 0 : dense;
    const double summed = mode.copies ? reduced : 0;
    step.ps_received = rows * (kId + kId + row) + served;
    step.ps_sent = rows * row + served;
    step.worker_sent = step.ps_received + summed;
    step.worker_received = step.ps_sent + summed;
  }
  // The batches that come too late for their step were sent too.
  batch *= (n - cell.backup_workers) / n;
  for (double* bytes : {&step.worker_sent, &step.worker_received,
                        &step.ps_sent, &step.ps_received}) {
    *bytes /= batch;
  }
  return step;
}

}  // namespace shoal
