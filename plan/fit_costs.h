#ifndef SHOAL_PLAN_FIT_COSTS_H_
#define SHOAL_PLAN_FIT_COSTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plan/calibration.h"
#include "plan/step_times.h"

namespace shoal {

// One measured cell: a mode on so many hosts.
struct MeasuredCell {
  std::string mode;
  int hosts = 1;
  double batch_size = 0;       // of one worker
  // Rows of a mean batch, which is smaller than `batch_size` if the last batch
  // of each piece of the data is; 0: as `batch_size`.
  double mean_batch = 0;
  double cores = 0;            // of a host; 0: not known
  double bits_per_second = 0;  // 0: not limited
  double samples_per_second = 0;
  // Processor seconds for a sample; below 0: not measured.
  double worker_cpu = -1;
  double server_cpu = -1;
  // Largest memory of a process of the role; 0: not known.
  double worker_memory = 0;
  double server_memory = 0;
};

// What is known of the job apart from its cells. `costs`, `step_times` and
// `distinct_ids` of it are where the fit begins.
//
// The fit finds the costs of UnitCosts that explain the processor time of all
// cells best: least squares of relative errors, in which a cost that is twice
// its default counts like a cell that is 10 % off. So a cost of which the cells
// say nothing keeps its default. Then the corrections: for each mode the mean
// ratio of measured and predicted step times at the most hosts, if they are
// several, and on one host. A mode without a cell gets that of the modes that
// are like it, or else of all; where only cells of one host, or only those of
// several, can tell, their ratio is that of both. Each says whether it is the
// mode's own; what is corrected by another one is extrapolated.
//
// Processor times are taken from all cells, step times from some. Cells of
// several hosts whose links were not limited (bits_per_second 0, as over
// loopback) have in them how messages went there, and a plan adds what a link
// and its latency take. So corrections leave them out, as cells of hosts whose
// cores are not known, and without others there are none.
//
// The part of the space that counts as measured is that of the cells. Cells of
// several hosts whose links were not limited tell nothing of networks.
//
// INVALID_ARGUMENT: no cell has processor times, or a figure cannot be.
absl::StatusOr<Calibration> FitCosts(const std::vector<MeasuredCell>& cells,
                                     Calibration known);

}  // namespace shoal

#endif  // SHOAL_PLAN_FIT_COSTS_H_
