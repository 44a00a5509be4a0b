#include "bench/compare/pause_meter.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "bench/compare/alone_cell.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/dilation.h"
#include "bench/compare/grey_reason.h"
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

bool IsPaused(const Cell& cell) {
  return cell.dilation > 1 && cell.cores_per_host > 0;
}

// As the processor saw it, before figures are multiplied back.
double SecondsPerSample(const CellRun& run) {
  return (run.cpu_seconds_per_sample->worker + run.cpu_seconds_per_sample->ps) /
         run.paused_speed;
}

}  // namespace

std::optional<double> PauseMeter::Known::Speed() const {
  std::vector<double> speeds;
  for (const PausePair& pair : pairs) {
    speeds.push_back(pair.unpaused / pair.paused);
  }
  const auto spread = SpreadOfValues(std::move(speeds));
  if (!spread.has_value()) return std::nullopt;
  return std::min(1.0, spread->median);
}

int PauseMeter::Known::Count(const PauseKind& kind) const {
  return static_cast<int>(
      std::count_if(pairs.begin(), pairs.end(),
                    [&](const PausePair& pair) { return pair.kind == kind; }));
}

PauseMeter::PauseMeter(PauseMeterOptions options)
    : options_(std::move(options)), all_(options_.before) {
  SHOAL_DCHECK(options_.pairs >= 1);
  std::stable_sort(
      all_.begin(), all_.end(),
      [](const PausePair& a, const PausePair& b) { return a.ended < b.ended; });
  for (const PausePair& pair : all_) {
    known_[HostsOf(pair.kind)].pairs.push_back(pair);
  }
  for (auto& [hosts, known] : known_) {
    DropOld(&known);
    for (const PausePair& pair : known.pairs) {
      OfKind& of_kind = known.kinds[pair.kind];
      of_kind.complete = ++of_kind.begun >= options_.pairs;
      known.tried = std::max(known.tried, pair.ended);
    }
  }
}

PauseMeter::Hosts PauseMeter::HostsOf(const PauseKind& kind) {
  return {kind.settings, kind.cores, kind.dilation};
}

PauseKind PauseMeter::KindOf(const Cell& cell) const {
  const TrainingModeRow& mode = ModeRowOf(cell);
  PauseKind kind;
  kind.settings = options_.settings.at(cell.model);
  kind.servers = mode.servers;
  kind.copies = mode.copies;
  kind.cores = cell.cores_per_host;
  kind.dilation = cell.dilation;
  return kind;
}

std::optional<double> PauseMeter::SpeedOfAnother(const Hosts& hosts) const {
  std::optional<double> speed;
  absl::Time newest = absl::InfinitePast();
  for (const auto& [other, known] : known_) {
    if (other.dilation != hosts.dilation || other.cores != hosts.cores) {
      continue;
    }
    Known fresh = known;
    DropOld(&fresh);
    // In the order in which they were measured.
    if (fresh.pairs.empty() || fresh.pairs.back().ended < newest) continue;
    speed = fresh.Speed();
    newest = fresh.pairs.back().ended;
  }
  return speed;
}

// Also those of the future: the clock was set back since.
void PauseMeter::DropOld(Known* known) const {
  const absl::Time now = options_.now();
  std::vector<PausePair>& pairs = known->pairs;
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(),
                             [&](const PausePair& pair) {
                               return pair.ended > now ||
                                      now - pair.ended > kOldest;
                             }),
              pairs.end());
}

absl::StatusOr<PausedSpeed> PauseMeter::SpeedFor(const Cell& cell) {
  if (!IsPaused(cell)) return PausedSpeed();
  const PauseKind kind = KindOf(cell);
  Known& known = known_[HostsOf(kind)];
  DropOld(&known);
  const OfKind& of_kind = known.kinds[kind];
  const absl::Time tried = of_kind.complete ? known.tried : of_kind.tried;
  if (options_.now() - tried > kFresh) {
    SHOAL_RETURN_IF_ERROR(Measure(cell, &known));
  }
  if (const auto speed = known.Speed()) return PausedSpeed{*speed};
  return PausedSpeed{SpeedOfAnother(HostsOf(kind)).value_or(1),
                     /*known=*/false};
}

absl::Duration PauseMeter::TimeAhead(const std::vector<Cell>& cells) const {
  std::set<PauseKind> seen;
  std::set<std::pair<double, double>> begun;
  double units = 0;
  for (const Cell& cell : cells) {
    const PauseKind kind = KindOf(cell);
    if (!IsPaused(cell) || !seen.insert(kind).second) continue;
    const int missing = MissingPairs(kind);
    units += missing * cell.dilation;
    // Before the first pair at a dilation comes one that does not count.
    if (missing > 0 && !SpeedOfAnother(HostsOf(kind)).has_value() &&
        begun.emplace(kind.cores, kind.dilation).second) {
      units += cell.dilation;
    }
  }
  return units * (measured_ == 0 ? options_.first_guess : took_ / measured_);
}

int PauseMeter::MissingPairs(const PauseKind& kind) const {
  const auto known = known_.find(HostsOf(kind));
  if (known == known_.end()) return options_.pairs;
  const auto of_kind = known->second.kinds.find(kind);
  if (of_kind == known->second.kinds.end()) return options_.pairs;
  if (of_kind->second.complete) return 0;
  return options_.pairs - known->second.Count(kind);
}

absl::Status PauseMeter::Measure(const Cell& cell, Known* known) {
  const Cell alone = AloneOf(cell);
  options_.say(absl::StrFormat(
      "how much pauses slow a host down, model %s in mode %s at dilation %.3g",
      alone.model, alone.mode, alone.dilation));
  const PauseKind kind = KindOf(cell);
  OfKind& of_kind = known->kinds[kind];
  int missing = options_.pairs - known->Count(kind);
  if (of_kind.complete) {
    // Long runs may be so far apart that few pairs count.
    missing =
        std::max(1, options_.pairs - static_cast<int>(known->pairs.size()));
  }
  std::optional<double> speed = known->Speed();
  if (!speed.has_value()) speed = SpeedOfAnother(HostsOf(kind));
  for (int spoilt = 0; missing > 0 && spoilt <= kSpoiltMost;) {
    const absl::Time start = options_.now();
    SHOAL_ASSIGN_OR_RETURN(
        const std::optional<PausePair> pair,
        MeasurePair(alone, speed.value_or(1), of_kind.begun++ % 2 == 1));
    took_ += (options_.now() - start) / alone.dilation;
    if (!pair.has_value()) {
      ++spoilt;
    } else if (!speed.has_value()) {
      speed = std::min(1.0, pair->unpaused / pair->paused);
    } else {
      known->pairs.push_back(*pair);
      all_.push_back(*pair);
      speed = known->Speed();
      --missing;
      if (options_.keep) {
        SHOAL_RETURN_IF_ERROR(options_.keep(all_));
      }
    }
  }
  of_kind.complete = of_kind.complete || missing == 0;
  of_kind.tried = known->tried = options_.now();
  if (const auto measured = known->Speed()) {
    options_.say(absl::StrFormat(
        "  to %.2f of its speed, so hosts get %.2f times the processor time",
        *measured, 1 / *measured));
  } else if (const auto other = SpeedOfAnother(HostsOf(kind))) {
    options_.say(absl::StrFormat(
        "  it is not known; %.2f of its speed is taken, as of another model",
        *other));
  } else {
    options_.say("  it is not known, so hosts get no more processor time");
  }
  return absl::OkStatus();
}

// A run without pauses and one with those of the dilation. The pair counts if
// both do.
absl::StatusOr<std::optional<PausePair>> PauseMeter::MeasurePair(
    const Cell& alone, double paused_speed, bool paused_first) {
  const int repeat = measured_++;
  const std::string name = absl::StrCat(alone.model, "_", alone.mode, "_h1");
  Cell unpaused = alone;
  unpaused.name = name + "_unpaused";
  unpaused.dilation = 1;
  unpaused.cores_per_host =
      std::min(alone.cores_per_host, kCoresShareMost * options_.cores);
  Cell paused = alone;
  paused.name = absl::StrFormat("%s_paused_t%.4g", name, alone.dilation);
  PausePair pair;
  pair.kind = KindOf(alone);
  struct Half {
    const Cell* cell;
    double paused_speed;
    double* seconds;
  };
  std::array<Half, 2> halves = {
      {{&unpaused, 1, &pair.unpaused}, {&paused, paused_speed, &pair.paused}}};
  if (paused_first) std::swap(halves[0], halves[1]);
  for (const Half& half : halves) {
    SHOAL_ASSIGN_OR_RETURN(
        const CellRun run,
        options_.run_cell(*half.cell, repeat, half.paused_speed));
    const std::string why = WhyNot(run);
    if (!why.empty()) {
      options_.say(absl::StrCat("  a run does not count: ", why));
      return std::optional<PausePair>();
    }
    *half.seconds = SecondsPerSample(run);
  }
  pair.ended = options_.now();
  options_.say(
      absl::StrFormat("  %.1f us a sample without pauses, %.1f with them",
                      1e6 * pair.unpaused, 1e6 * pair.paused));
  return std::optional<PausePair>(std::move(pair));
}

}  // namespace shoal
