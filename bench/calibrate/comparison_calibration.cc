#include "bench/calibrate/comparison_calibration.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "bench/compare/cell_figures.h"
#include "plan/fit_costs.h"
#include "plan/mode_shape.h"
#include "plan/step_times.h"

namespace shoal {
namespace {

// A batch whose rows are not between these shares of the batch size was counted
// wrongly, or the cell's bytes are not those of its mode.
constexpr double kLeastRows = .5;
constexpr double kMostRows = 1.02;

// The mean of the runs that have a figure.
struct Mean {
  double sum = 0;
  int count = 0;

  void Add(double value) {
    sum += value;
    ++count;
  }
  double value(double otherwise = 0) const {
    return count == 0 ? otherwise : sum / count;
  }
};

bool IsWanted(const Cell& cell, const std::string& model, int most_hosts) {
  return cell.model == model && cell.hosts <= most_hosts &&
         cell.grey.empty() && !cell.replayed() && cell.backup_workers == 0 &&
         !cell.straggler.has_value();
}

// The mean batch behind these bytes a sample, of a mode whose servers hold all
// variables. With D bytes of dense variables, F floats a row, R distinct ids
// and B rows a batch, a worker sends (D + 16 R + 4 F R) / B and receives (D + 4
// F R) / B a sample, which are two equations for R / B and D / B.
std::optional<DistinctIds> BatchOf(const RoleBytes& bytes,
                                   const ComparedModel& model,
                                   double batch_size) {
  const double ids = (bytes.worker_sent - bytes.worker_received) / 16;
  if (!(ids > 0)) return std::nullopt;
  if (model.dense_bytes == 0) return DistinctIds{batch_size, ids * batch_size};
  const double dense =
      bytes.worker_received - static_cast<double>(model.row_bytes) * ids;
  const double rows = static_cast<double>(model.dense_bytes) / dense;
  if (!(rows >= kLeastRows * batch_size && rows <= kMostRows * batch_size)) {
    return std::nullopt;
  }
  return DistinctIds{rows, ids * rows};
}

// What the batches of one size have.
struct Batches {
  Mean rows;  // as measured
  Mean counted_rows, counted_ids;    // in the data
  Mean measured_rows, measured_ids;  // from bytes
};

std::map<int, Batches> BatchesOf(const std::vector<const Cell*>& cells,
                                 const ComparedModel& model) {
  std::map<int, Batches> found;
  for (const Cell* const cell : cells) {
    const ModeShape* const mode = FindModeShape(cell->mode);
    if (mode == nullptr || !mode->dense_served) continue;
    Batches& batches = found[cell->batch_size];
    if (cell->formula.has_value()) {
      if (const auto batch =
              BatchOf(*cell->formula, model, cell->batch_size)) {
        batches.counted_rows.Add(batch->samples);
        batches.counted_ids.Add(batch->ids);
      }
    }
    for (const CellRun& run : cell->runs) {
      if (!run.ok || !run.bytes_per_sample.has_value()) continue;
      const auto batch =
          BatchOf(*run.bytes_per_sample, model, cell->batch_size);
      if (!batch.has_value()) continue;
      batches.rows.Add(std::min<double>(batch->samples, cell->batch_size));
      batches.measured_rows.Add(batch->samples);
      batches.measured_ids.Add(batch->ids);
    }
  }
  return found;
}

void AddDistinctIds(const std::map<int, Batches>& found,
                    const ComparedModel& model, Calibration* c) {
  for (const IdCount& count : model.distinct_ids) {
    c->distinct_ids.push_back({count.samples, count.ids});
  }
  if (!c->distinct_ids.empty()) return;
  for (const auto& [size, batches] : found) {
    const bool counted = batches.counted_ids.count > 0;
    const Mean& rows = counted ? batches.counted_rows : batches.measured_rows;
    const Mean& ids = counted ? batches.counted_ids : batches.measured_ids;
    if (ids.count == 0) continue;
    if (!c->distinct_ids.empty() &&
        (rows.value() <= c->distinct_ids.back().samples ||
         ids.value() < c->distinct_ids.back().ids)) {
      continue;
    }
    c->distinct_ids.push_back({rows.value(), ids.value()});
  }
}

// The median of the cell's runs, as in its verdicts.
double MedianOf(const Cell& cell, RunFigure figure, double otherwise = 0) {
  const std::optional<FigureSpread> spread = SpreadOf(cell, figure);
  return spread.has_value() ? spread->median : otherwise;
}

double MedianOfRole(const Cell& cell,
                    std::optional<RoleFigures> CellRun::*figures,
                    double RoleFigures::*role, double otherwise = 0) {
  return MedianOf(
      cell,
      [&](const CellRun& run) -> std::optional<double> {
        const std::optional<RoleFigures>& of_run = run.*figures;
        if (!of_run.has_value()) return std::nullopt;
        return (*of_run).*role;
      },
      otherwise);
}

MeasuredCell MeasuredOf(const Cell& cell, double mean_batch) {
  MeasuredCell measured;
  measured.mode = cell.mode;
  measured.hosts = cell.hosts;
  measured.batch_size = cell.batch_size;
  measured.mean_batch = mean_batch;
  measured.cores = cell.cores_per_host;
  measured.bits_per_second = cell.bits_per_second;
  measured.samples_per_second =
      MedianOf(cell, [](const CellRun& run) { return run.samples_per_second; });
  measured.worker_cpu = MedianOfRole(cell, &CellRun::cpu_seconds_per_sample,
                                     &RoleFigures::worker, -1);
  measured.server_cpu = MedianOfRole(cell, &CellRun::cpu_seconds_per_sample,
                                     &RoleFigures::ps, -1);
  measured.worker_memory =
      MedianOfRole(cell, &CellRun::peak_rss_bytes, &RoleFigures::worker);
  measured.server_memory =
      MedianOfRole(cell, &CellRun::peak_rss_bytes, &RoleFigures::ps);
  return measured;
}

// The spread of step times, from the cells of one host: there a worker waits
// for no other one. The mean of all runs, each relative to its own mean.
// Without such a cell it is the usual one.
void AddStepTimes(const std::vector<const Cell*>& cells, Calibration* c) {
  Mean p10, p50, p90, p99, max, count;
  for (const Cell* const cell : cells) {
    if (cell->hosts > 1) continue;
    for (const CellRun& run : cell->runs) {
      if (!run.ok || !run.step_seconds.has_value()) continue;
      const RunSteps& steps = *run.step_seconds;
      if (steps.mean <= 0) continue;
      p10.Add(steps.p10 / steps.mean);
      p50.Add(steps.p50 / steps.mean);
      p90.Add(steps.p90 / steps.mean);
      p99.Add(steps.p99 / steps.mean);
      max.Add(steps.max / steps.mean);
      count.Add(static_cast<double>(steps.count));
    }
  }
  c->step_times =
      count.count == 0
          ? UsualTimes()
          : NormalizedTimes({p10.value(), p50.value(), p90.value(), p99.value(),
                             max.value(), count.value()},
                            /*mean=*/1);
}

// The settings that the modes had. INVALID_ARGUMENT: one that the planner does
// not know.
absl::Status AddSettings(const std::vector<const Cell*>& cells,
                         const ComparedModel& model, Calibration* c) {
  for (const Cell* const cell : cells) {
    const ModeShape* const mode = FindModeShape(cell->mode);
    if (mode != nullptr && mode->waits == ModeShape::Waits::kBound) {
      c->ssp_bound = cell->ssp_bound;
      break;
    }
  }
  const auto depth = model.flags.find("pipeline_depth");
  int number = 0;
  if (depth != model.flags.end() && absl::SimpleAtoi(depth->second, &number) &&
      number >= 0) {
    c->pipeline_depth = number;
  }
  const auto bucket = model.flags.find("bucket_bytes");
  if (bucket != model.flags.end()) {
    double bytes = 0;
    if (absl::SimpleAtod(bucket->second, &bytes) && bytes > 0) {
      c->bucket_bytes = bytes;
    }
  }
  const auto reduction = model.flags.find("reduction");
  if (reduction != model.flags.end() && reduction->second != "fast") {
    return absl::InvalidArgumentError(
        absl::StrCat("the cells have --reduction=", reduction->second,
                     ", and the planner knows fast alone"));
  }
  return absl::OkStatus();
}

// The model's name, if it is the only one or is there.
absl::StatusOr<std::string> ModelOf(const Comparison& comparison,
                                    const std::string& wanted) {
  const auto& models = comparison.models;
  if (wanted.empty() && models.size() == 1) return models.begin()->first;
  if (models.count(wanted) > 0) return wanted;
  std::vector<std::string> names;
  for (const auto& [name, model] : models) names.push_back(name);
  return absl::InvalidArgumentError(absl::StrCat(
      "the comparison has the models ", absl::StrJoin(names, ", "),
      "; name one of them with --compare_model"));
}

std::string HostsText(int most_hosts) {
  if (most_hosts == 1) return "1 host";
  if (most_hosts == 2) return "1 and 2 hosts";
  return absl::StrCat("up to ", most_hosts, " hosts");
}

}  // namespace

absl::StatusOr<Calibration> CalibrationOf(const Comparison& comparison,
                                          const CalibrationChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(const std::string name,
                         ModelOf(comparison, choice.model));
  const ComparedModel& model = comparison.models.at(name);
  std::vector<const Cell*> cells;
  int most_hosts = 1;
  for (const Cell& cell : comparison.cells) {
    if (!IsWanted(cell, name, choice.most_hosts)) continue;
    cells.push_back(&cell);
    most_hosts = std::max(most_hosts, cell.hosts);
  }
  Calibration calibration;
  calibration.cpu = comparison.cpu;
  calibration.dense_bytes = static_cast<double>(model.dense_bytes);
  calibration.row_floats = static_cast<double>(model.row_bytes) / 4;
  calibration.work = model.work;
  calibration.table_bytes = static_cast<double>(model.table_bytes);
  const std::map<int, Batches> batches = BatchesOf(cells, model);
  AddDistinctIds(batches, model, &calibration);
  if (batches.empty() || calibration.distinct_ids.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the comparison has no cell of model ", name, " with ",
        HostsText(choice.most_hosts),
        " and a mode with parameter servers that trained, is not grey and has "
        "its bytes; measure --modes=async,ring --hosts=1,2"));
  }
  AddStepTimes(cells, &calibration);
  SHOAL_RETURN_IF_ERROR(AddSettings(cells, model, &calibration));
  std::vector<MeasuredCell> measured;
  for (const Cell* const cell : cells) {
    const auto found = batches.find(cell->batch_size);
    measured.push_back(MeasuredOf(
        *cell, found == batches.end() ? 0 : found->second.rows.value()));
  }
  // The batch of the first cell is the one that is planned.
  calibration.batch_size = measured.front().batch_size;
  calibration.source = absl::StrCat(
      "model ", name, ", ", Counted(measured.size(), "cell"), " of ",
      HostsText(most_hosts), ", ", comparison.started);
  return FitCosts(measured, std::move(calibration));
}

}  // namespace shoal
