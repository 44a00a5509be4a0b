#include "bench/compare/pause_meter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/dilation.h"
#include "bench/compare/verdict.h"
#include "core/training_mode.h"

namespace shoal {
namespace {

// Why a run of the meter does not count, or "".
std::string WhyNot(const CellRun& run) {
  if (!run.ok) return run.error;
  if (!run.cpu_seconds_per_sample.has_value() ||
      run.cpu_seconds_per_sample->worker <= 0) {
    return "its processor time is not known";
  }
  return GreyReason(run);
}

// As the processor saw it, before figures are multiplied back.
double SecondsPerSample(const CellRun& run) {
  return (run.cpu_seconds_per_sample->worker + run.cpu_seconds_per_sample->ps) /
         run.paused_speed;
}

}  // namespace

Cell AloneOf(Cell cell) {
  cell.hosts = 1;
  cell.global_batch = cell.batch_size;
  cell.bits_per_second = 0;
  cell.network = "none";
  cell.compute = kComputed;
  cell.backup_workers = 0;
  cell.straggler.reset();
  cell.runs.clear();
  return cell;
}

double PauseMeter::Known::Speed() const {
  double unpaused = 0;
  double paused = 0;
  const int from = std::max(0, static_cast<int>(pairs.size()) - kPairs);
  for (auto pair = pairs.begin() + from; pair != pairs.end(); ++pair) {
    unpaused += pair->unpaused;
    paused += pair->paused;
  }
  return paused > 0 ? std::min(1.0, unpaused / paused) : 1;
}

absl::StatusOr<double> PauseMeter::SpeedFor(const Cell& cell) {
  const double least = LeastPausedSpeed(cell, options_.cores);
  if (cell.dilation <= 1 || cell.cores_per_host <= 0 || least >= 1) return 1;
  const TrainingModeRow& mode = ModeRowOf(cell);
  Known* const known =
      &known_[Kind(cell.model, mode.servers, mode.copies, cell.dilation)];
  if (options_.now() - known->last > kFresh) {
    SHOAL_RETURN_IF_ERROR(Measure(cell, known));
  }
  return std::max(least, known->Speed());
}

double PauseMeter::LikelySpeed(double dilation) const {
  for (const auto& [kind, known] : known_) {
    if (std::get<double>(kind) == dilation && !known.pairs.empty()) {
      return known.Speed();
    }
  }
  return 1;
}

absl::Status PauseMeter::Measure(const Cell& cell, Known* known) {
  const Cell alone = AloneOf(cell);
  options_.say(absl::StrFormat(
      "how much pauses slow a host down, model %s in mode %s at dilation %.3g",
      alone.model, alone.mode, alone.dilation));
  double speed =
      known->pairs.empty() ? LikelySpeed(cell.dilation) : known->Speed();
  int pairs = known->pairs.empty() ? kPairs : 1;
  if (speed == 1 && known->pairs.empty()) ++pairs;
  for (int i = 0; i < pairs; ++i) {
    SHOAL_ASSIGN_OR_RETURN(const std::optional<Pair> pair,
                           MeasurePair(alone, speed));
    if (!pair.has_value()) continue;
    known->pairs.push_back(*pair);
    speed = known->Speed();
  }
  known->last = options_.now();
  options_.say(
      known->pairs.empty()
          ? "  it is not known, so hosts get no more processor time"
          : absl::StrFormat("  to %.2f of its speed, so hosts get %.2f times "
                            "the processor time",
                            known->Speed(), 1 / known->Speed()));
  return absl::OkStatus();
}

// One run without pauses, then one with those of the dilation. The pair counts
// if both do.
absl::StatusOr<std::optional<PauseMeter::Pair>> PauseMeter::MeasurePair(
    const Cell& alone, double paused_speed) {
  const int repeat = pairs_++;
  Cell cell = alone;
  cell.dilation = 1;
  cell.cores_per_host =
      std::min(cell.cores_per_host, kCoresShareMost * options_.cores);
  const std::string name = absl::StrCat(alone.model, "_", alone.mode, "_h1");
  cell.name = name + "_unpaused";
  SHOAL_ASSIGN_OR_RETURN(const CellRun unpaused,
                         options_.run_cell(cell, repeat, 1));
  cell = alone;
  cell.name = absl::StrFormat("%s_paused_t%.4g", name, alone.dilation);
  SHOAL_ASSIGN_OR_RETURN(const CellRun paused,
                         options_.run_cell(cell, repeat, paused_speed));
  for (const CellRun* run : {&unpaused, &paused}) {
    const std::string why = WhyNot(*run);
    if (why.empty()) continue;
    options_.say(absl::StrCat("  a run does not count: ", why));
    return std::optional<Pair>();
  }
  const Pair pair = {SecondsPerSample(unpaused), SecondsPerSample(paused)};
  options_.say(
      absl::StrFormat("  %.1f us a sample without pauses, %.1f with them",
                      1e6 * pair.unpaused, 1e6 * pair.paused));
  return std::optional<Pair>(pair);
}

}  // namespace shoal
