#include "plan/fit_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/prediction.h"
#include "plan/step_demand.h"

namespace shoal {
namespace {

// The costs that are fitted. The elapsed time of a hop is none of a core's.
constexpr double UnitCosts::*kFitted[] = {
    &UnitCosts::sample,      &UnitCosts::row,         &UnitCosts::merged_row,
    &UnitCosts::dense_byte,  &UnitCosts::worker_byte, &UnitCosts::worker_call,
    &UnitCosts::server_byte, &UnitCosts::server_call, &UnitCosts::ring_byte};
constexpr size_t kCosts = std::size(kFitted);
// A cost that is off by its default counts like a cell that is 10 % off.
constexpr double kTrustInDefaults = .1;
// The sample's cost has no default that is worth anything.
constexpr double kTrustInSample = .001;

using Row = std::array<double, kCosts>;

struct CpuOfStep {
  double worker = 0;
  double server = 0;
};

// The demands are linear in the costs, so one cost alone, at 1 second, gives a
// column of the equations.
CpuOfStep CpuOf(const ModeShape& mode, const Calibration& calibration,
                const PlannedJob& job, int hosts) {
  const StepDemand d = DemandOf(mode, calibration, job, hosts);
  CpuOfStep cpu;
  cpu.worker = d.compute + d.pull_worker + d.push_worker + d.apply_worker +
               d.reduce_core + d.gather_core;
  // A job has as many servers as workers, and each applies once a step.
  cpu.server = d.pull_server + d.push_server + d.apply_server;
  return cpu;
}

// The rows of a step.
double RowsOf(const MeasuredCell& cell) {
  return cell.mean_batch > 0 ? cell.mean_batch : cell.batch_size;
}

// The normal equations of the weighted least squares.
struct Equations {
  std::array<Row, kCosts> a = {};
  Row b = {};

  // Adds (coefficients · x - value)², each side divided by `unit`.
  void Add(const Row& coefficients, double value, double unit) {
    for (size_t i = 0; i < kCosts; ++i) {
      for (size_t k = 0; k < kCosts; ++k) {
        a[i][k] += coefficients[i] * coefficients[k] / (unit * unit);
      }
      b[i] += coefficients[i] * value / (unit * unit);
    }
  }

  // Solves by elimination; the equations are positive definite.
  Row Solve() const {
    auto m = a;
    Row x = b;
    for (size_t i = 0; i < kCosts; ++i) {
      for (size_t k = i + 1; k < kCosts; ++k) {
        const double f = m[k][i] / m[i][i];
        for (size_t j = i; j < kCosts; ++j) m[k][j] -= f * m[i][j];
        x[k] -= f * x[i];
      }
    }
    for (size_t i = kCosts; i-- > 0;) {
      for (size_t k = i + 1; k < kCosts; ++k) x[i] -= m[i][k] * x[k];
      x[i] /= m[i][i];
    }
    return x;
  }
};

// Unknowns are the costs over their defaults, so that all have one scale.
void AddCell(const MeasuredCell& cell, const ModeShape& mode,
             const Calibration& known, const UnitCosts& defaults,
             Equations* equations) {
  PlannedJob job = MeasuredJob(known, cell.batch_size);
  job.batch_size = RowsOf(cell);
  Row worker;
  Row server;
  for (size_t i = 0; i < kCosts; ++i) {
    Calibration one = known;
    for (double UnitCosts::*const cost : kFitted) one.costs.*cost = 0;
    one.costs.*kFitted[i] = defaults.*kFitted[i];
    const CpuOfStep cpu = CpuOf(mode, one, job, cell.hosts);
    worker[i] = cpu.worker;
    server[i] = cpu.server;
  }
  const double measured_worker = cell.worker_cpu * job.batch_size;
  equations->Add(worker, measured_worker, measured_worker);
  if (mode.servers() && cell.server_cpu > 0) {
    const double measured_server = cell.server_cpu * job.batch_size;
    equations->Add(server, measured_server, measured_server);
  }
}

// The part of the space that the cells cover.
void FitRange(const std::vector<MeasuredCell>& cells, Calibration* fitted) {
  fitted->most_hosts = 1;
  fitted->least_batch = fitted->most_batch = cells.front().batch_size;
  fitted->least_bits = fitted->most_bits = 0;
  fitted->least_cores = fitted->most_cores = 0;
  fitted->modes.clear();
  const auto extend = [](double value, double* least, double* most) {
    *least = *most == 0 ? value : std::min(*least, value);
    *most = std::max(*most, value);
  };
  for (const MeasuredCell& cell : cells) {
    if (std::find(fitted->modes.begin(), fitted->modes.end(), cell.mode) ==
        fitted->modes.end()) {
      fitted->modes.push_back(cell.mode);
    }
    if (cell.cores > 0) {
      extend(cell.cores, &fitted->least_cores, &fitted->most_cores);
    }
    fitted->most_hosts = std::max(fitted->most_hosts, cell.hosts);
    fitted->least_batch = std::min(fitted->least_batch, cell.batch_size);
    fitted->most_batch = std::max(fitted->most_batch, cell.batch_size);
    if (cell.hosts == 1 || cell.bits_per_second <= 0) continue;
    extend(cell.bits_per_second, &fitted->least_bits, &fitted->most_bits);
  }
  fitted->network_measured = fitted->most_bits > 0;
}

void FitMemory(const std::vector<MeasuredCell>& cells, Calibration* fitted) {
  double worker = 0;
  double server = 0;
  for (const MeasuredCell& cell : cells) {
    const ModeShape* const mode = FindModeShape(cell.mode);
    if (!mode->dense_served) continue;
    worker = std::max(worker, cell.worker_memory);
    const double part =
        (fitted->table_bytes + 3 * fitted->dense_bytes) / cell.hosts;
    server = std::max(server, cell.server_memory - part);
  }
  if (worker > 0) fitted->worker_memory = worker;
  if (server > 0) fitted->server_memory = server;
}

// True if the modes differ in nothing but for whom workers wait.
bool IsLike(const ModeShape& a, const ModeShape& b) {
  return a.dense_served == b.dense_served && a.rows_served == b.rows_served &&
         a.pipelined == b.pipelined;
}

// Sum and number of the logarithms of measured over predicted times, by mode.
using Logs = std::map<std::string, std::pair<double, int>>;

void AddLog(const MeasuredCell& cell, const Calibration& fitted, Logs* logs) {
  ClusterDescription cluster;
  cluster.hosts = cell.hosts;
  cluster.cores = cell.cores;
  cluster.bits_per_second = cell.bits_per_second;
  PlannedJob job = MeasuredJob(fitted, cell.batch_size);
  job.batch_size = RowsOf(cell);
  const Prediction p =
      Predict(*FindModeShape(cell.mode), fitted, job, cluster, cell.hosts);
  auto& [sum, count] = (*logs)[cell.mode];
  sum += std::log(p.samples_per_second / cell.samples_per_second);
  ++count;
}

// The factor of a mode. A mode that was not measured is corrected as the modes
// that are like it, or else as all modes: it must not look faster because
// nothing is known. REQUIRES: some mode was measured.
double FactorOf(const ModeShape& mode, const Logs& logs) {
  double sums[3] = {};  // of all modes, of those like this one, of this one
  int counts[3] = {};
  for (const auto& [name, log] : logs) {
    const ModeShape& other = *FindModeShape(name);
    const int likeness = &other == &mode ? 2 : IsLike(mode, other) ? 1 : 0;
    for (int i = 0; i <= likeness; ++i) {
      sums[i] += log.first;
      counts[i] += log.second;
    }
  }
  const int best = counts[2] > 0 ? 2 : counts[1] > 0 ? 1 : 0;
  return std::clamp(std::exp(sums[best] / counts[best]), .25, 4.0);
}

// Whether the cell's time of a step is one that the formulas have to give (see
// the header).
bool TellsOfSteps(const MeasuredCell& cell) {
  return cell.samples_per_second > 0 && cell.cores > 0 &&
         (cell.hosts == 1 || cell.bits_per_second > 0);
}

void FitCorrections(const std::vector<MeasuredCell>& cells,
                    Calibration* fitted) {
  std::map<std::string, int> most_hosts;
  for (const MeasuredCell& cell : cells) {
    if (!TellsOfSteps(cell)) continue;
    most_hosts[cell.mode] = std::max(most_hosts[cell.mode], cell.hosts);
  }
  Logs several;
  Logs alone;
  for (const MeasuredCell& cell : cells) {
    if (!TellsOfSteps(cell)) continue;
    if (cell.hosts == 1) {
      AddLog(cell, *fitted, &alone);
    } else if (cell.hosts == most_hosts[cell.mode]) {
      AddLog(cell, *fitted, &several);
    }
  }
  if (several.empty() && alone.empty()) return;
  for (const ModeShape& mode : ModeShapes()) {
    ModeCorrection correction;
    correction.mode = mode.name;
    correction.factor = FactorOf(mode, several.empty() ? alone : several);
    correction.alone = FactorOf(mode, alone.empty() ? several : alone);
    correction.factor_is_own = several.count(mode.name) > 0;
    correction.alone_is_own = alone.count(mode.name) > 0;
    fitted->corrections.push_back(std::move(correction));
  }
}

}  // namespace

absl::StatusOr<Calibration> FitCosts(const std::vector<MeasuredCell>& cells,
                                     Calibration known) {
  const UnitCosts defaults = known.costs;
  SHOAL_RETURN_IF_ERROR(known.Validate());
  Equations equations;
  for (size_t i = 0; i < kCosts; ++i) {
    Row row = {};
    row[i] = 1;
    equations.Add(row, 1, 1 / (i == 0 ? kTrustInSample : kTrustInDefaults));
  }
  int used = 0;
  for (const MeasuredCell& cell : cells) {
    const ModeShape* const mode = FindModeShape(cell.mode);
    if (mode == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no mode '", cell.mode, "'"));
    }
    if (cell.hosts < 1 || !(cell.batch_size > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a cell of mode ", cell.mode,
                       " has no host or no batch; measure it again"));
    }
    if (cell.worker_cpu <= 0) continue;
    ++used;
    AddCell(cell, *mode, known, defaults, &equations);
  }
  if (used == 0) {
    return absl::InvalidArgumentError(
        "no cell has processor times; cells that replay their computation have "
        "none, so measure one that computes");
  }
  const Row ratios = equations.Solve();
  for (size_t i = 0; i < kCosts; ++i) {
    // A cost below a tenth of its default is noise of the other ones.
    known.costs.*kFitted[i] = defaults.*kFitted[i] * std::max(.1, ratios[i]);
  }
  known.corrections.clear();
  FitRange(cells, &known);
  FitMemory(cells, &known);
  FitCorrections(cells, &known);
  SHOAL_RETURN_IF_ERROR(known.Validate());
  return known;
}

}  // namespace shoal
