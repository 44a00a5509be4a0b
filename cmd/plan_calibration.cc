#include "cmd/plan_calibration.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/json_reader.h"
#include "base/status_macros.h"
#include "plan/fit_costs.h"
#include "plan/mode_shape.h"
#include "plan/step_times.h"

namespace shoal {
namespace {

constexpr size_t kMostCells = 100000;
constexpr size_t kMostRuns = 1000;
constexpr size_t kMostText = 100000;
// Hosts of the cells that a calibration takes.
constexpr int kMostHosts = 2;

bool IsNull(const JsonNode& node) { return node.kind() == JsonKind::kNull; }

// The sum and number of the runs that have a figure.
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

// A cell as it is read, with what is no part of a MeasuredCell.
struct ReadCell {
  MeasuredCell cell;
  double worker_sent = -1;         // bytes a sample
  std::optional<RelativeTimes> steps;  // seconds
  double compute_share = 1;
};

ReadCell ReadCellOf(const JsonNode& node) {
  ReadCell read;
  MeasuredCell& cell = read.cell;
  cell.mode = node.Field("mode").String(kMostText);
  cell.hosts = node.Field("hosts").Int(1 << 20);
  cell.batch_size = node.Field("batch_size").Double();
  cell.cores = node.Field("cores_per_host").Double();
  cell.bits_per_second = node.Field("bits_per_second").Double();
  Mean rate, worker, server, sent, worker_memory, server_memory;
  Mean p10, p50, p90, p99, max, count, compute;
  const JsonNode runs = node.Field("runs");
  for (size_t i = 0, n = runs.Size(kMostRuns); i < n; ++i) {
    const JsonNode run = runs.At(i);
    if (!run.Field("ok").Bool()) continue;
    if (const JsonNode f = run.Field("samples_per_second"); !IsNull(f)) {
      rate.Add(f.Double());
    }
    if (const JsonNode f = run.Field("cpu_seconds_per_sample"); !IsNull(f)) {
      worker.Add(f.Field("worker").Double());
      server.Add(f.Field("ps").Double());
    }
    if (const JsonNode f = run.Field("bytes_per_sample"); !IsNull(f)) {
      sent.Add(f.Field("worker_sent").Double());
    }
    if (const JsonNode f = run.Field("peak_rss_bytes"); !IsNull(f)) {
      worker_memory.Add(f.Field("worker").Double());
      server_memory.Add(f.Field("ps").Double());
    }
    if (const JsonNode f = run.Field("state_shares"); f.Has("compute")) {
      compute.Add(f.Field("compute").Double());
    }
    if (const JsonNode f = run.Field("step_seconds"); !IsNull(f)) {
      p10.Add(f.Field("p10").Double());
      p50.Add(f.Field("p50").Double());
      p90.Add(f.Field("p90").Double());
      p99.Add(f.Field("p99").Double());
      max.Add(f.Field("max").Double());
      count.Add(f.Field("count").Double());
    }
  }
  cell.samples_per_second = rate.value();
  cell.worker_cpu = worker.value(-1);
  cell.server_cpu = server.value(-1);
  cell.worker_memory = worker_memory.value();
  cell.server_memory = server_memory.value();
  read.worker_sent = sent.value(-1);
  read.compute_share = compute.value(1);
  if (p50.count > 0) {
    read.steps = RelativeTimes{p10.value(), p50.value(), p90.value(),
                               p99.value(), max.value(), count.value()};
  }
  return read;
}

bool IsWanted(const JsonNode& cell, const std::string& model) {
  return cell.Field("model").String(kMostText) == model &&
         cell.Field("hosts").Int(1 << 20) <= kMostHosts &&
         cell.Field("grey").String(kMostText).empty() &&
         cell.Field("compute").String(kMostText) == "computed" &&
         cell.Field("backup_workers").Int(1 << 20) == 0 &&
         IsNull(cell.Field("straggler"));
}

// The model's name, if it is the only one, and its sizes.
absl::StatusOr<std::string> ReadModel(const JsonNode& models,
                                      const std::string& wanted,
                                      Calibration* calibration) {
  std::vector<std::string> names;
  std::string name = wanted;
  models.ForEachField(1000, [&](const std::string& key, const JsonNode& node) {
    names.push_back(key);
    if (!name.empty() && key != name) return;
    name = key;
    calibration->dense_bytes = node.Field("dense_bytes").Double();
    calibration->row_floats = node.Field("row_bytes").Double() / 4;
    calibration->flop_per_sample = node.Field("flop_per_sample").Double();
  });
  const bool found = std::find(names.begin(), names.end(), name) != names.end();
  if (!found || (wanted.empty() && names.size() > 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the comparison has the models ", absl::StrJoin(names, ", "),
        "; name one of them with --compare_model"));
  }
  return name;
}

// Distinct ids of batches, from the bytes that workers sent to servers: each
// sends 8 R to pull, and D + (8 + 4 F) R to push.
void AddDistinctIds(const std::vector<ReadCell>& cells, Calibration* c) {
  std::map<double, Mean> by_batch;
  for (const ReadCell& read : cells) {
    const ModeShape* const mode = FindModeShape(read.cell.mode);
    if (mode == nullptr || !mode->dense_served || read.worker_sent <= 0) {
      continue;
    }
    const double batch = read.cell.batch_size;
    const double rows =
        (read.worker_sent * batch - c->dense_bytes) / (16 + 4 * c->row_floats);
    if (rows >= 1) by_batch[batch].Add(rows);
  }
  for (const auto& [batch, rows] : by_batch) {
    if (!c->distinct_ids.empty() && rows.value() < c->distinct_ids.back().ids) {
      continue;
    }
    c->distinct_ids.push_back({batch, rows.value()});
  }
}

// The spread of step times, from the cells of one host, in which a worker waits
// for no other one.
void AddStepTimes(const std::vector<ReadCell>& cells, Calibration* c) {
  for (const ReadCell& read : cells) {
    if (read.cell.hosts == 1 && read.steps.has_value()) {
      c->step_times = NormalizedTimes(*read.steps);
      return;
    }
  }
}

}  // namespace

absl::StatusOr<Calibration> CalibrationFromComparison(
    absl::string_view json, const std::string& model) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(json));
  const JsonNode& root = document->root();
  if (root.Field("format").U64() != 1) {
    return absl::InvalidArgumentError(
        "this is no comparison of format 1; make one with shoal bench compare");
  }
  Calibration calibration;
  calibration.cpu = root.Field("cpu").String(kMostText);
  SHOAL_ASSIGN_OR_RETURN(const std::string name,
                         ReadModel(root.Field("models"), model, &calibration));
  std::vector<ReadCell> read;
  const JsonNode cells = root.Field("cells");
  for (size_t i = 0, n = cells.Size(kMostCells); i < n; ++i) {
    const JsonNode cell = cells.At(i);
    if (IsWanted(cell, name)) read.push_back(ReadCellOf(cell));
  }
  SHOAL_RETURN_IF_ERROR(document->status());
  AddDistinctIds(read, &calibration);
  if (calibration.distinct_ids.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the comparison has no cell of model ", name,
        " with 1 or 2 hosts and a mode with parameter servers that is not "
        "greyed; measure --modes=async,ring --hosts=1,2"));
  }
  AddStepTimes(read, &calibration);
  std::vector<MeasuredCell> measured;
  for (ReadCell& one : read) measured.push_back(std::move(one.cell));
  // The batch of the first cell is the one that is planned.
  calibration.batch_size = measured.front().batch_size;
  calibration.source = absl::StrCat(
      "model ", name, ", ", Counted(measured.size(), "cell"),
      " of 1 and 2 hosts, ", root.Field("started").String(kMostText));
  return FitCosts(measured, std::move(calibration));
}

}  // namespace shoal
