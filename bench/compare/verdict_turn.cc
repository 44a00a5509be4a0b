#include "bench/compare/verdict_turn.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/listed.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "plan/cluster_description.h"
#include "plan/crossover.h"
#include "plan/mode_lead.h"

namespace shoal {
namespace {

// A prediction is not known to more digits than two.
double TwoDigits(double bits) {
  const double unit = std::pow(10, std::floor(std::log10(bits)) - 1);
  return std::round(bits / unit) * unit;
}

// How `mode` compares with `other`.
LeadQuestion QuestionOf(const Cell& mode, const Cell& other) {
  LeadQuestion question;
  question.mode = mode.mode;
  question.other = other.mode;
  question.hosts = mode.hosts;
  question.batch_size = mode.batch_size;
  question.cores = mode.cores_per_host;
  const int bound = std::max(mode.ssp_bound, other.ssp_bound);
  if (bound > 0) question.ssp_bound = bound;
  return question;
}

// Whether the planner takes `mode` for clearly faster than `other` over links
// of this bandwidth.
bool LeadsAt(const Cell& mode, const Cell& other,
             const Calibration& calibration, double bits) {
  const auto lead = PredictLead(calibration, QuestionOf(mode, other), bits);
  return lead.ok() && lead->is_clear();
}

// The cell of a mode on a network, or nullptr.
const Cell* FindCell(const std::vector<const Cell*>& cells,
                     const std::string& mode, const std::string& network) {
  const auto found =
      std::find_if(cells.begin(), cells.end(), [&](const Cell* cell) {
        return cell->mode == mode && cell->network == network &&
               cell->backup_workers == 0;
      });
  return found == cells.end() ? nullptr : *found;
}

// Whether one cell was measured to be clearly faster than the other: by
// kClearLead, and by spreads that do not overlap.
bool IsFaster(const Cell& one, const Cell& other) {
  const auto speed = RankedSpread(one, &CellRun::samples_per_second);
  const auto other_speed = RankedSpread(other, &CellRun::samples_per_second);
  return speed.has_value() && other_speed.has_value() &&
         !speed->Overlaps(*other_speed) &&
         speed->median >= (1 + kClearLead) * other_speed->median;
}

// Where one of two modes was measured to be clearly faster on another network,
// and the planner or its search for leads of `other` does not say so, or where
// the planner takes `other` for the faster one and the two do not differ; or
// "".
std::string WrongElsewhere(const Cell& best, const Cell& other,
                           const Calibration& calibration,
                           const ModeLeads& leads,
                           const std::vector<const Cell*>& elsewhere) {
  for (const Cell* one : elsewhere) {
    if (one->mode != best.mode || one->backup_workers > 0) continue;
    const Cell* const two = FindCell(elsewhere, other.mode, one->network);
    const double bits = one->bits_per_second;
    if (two == nullptr || bits <= 0) continue;
    const auto speed = RankedSpread(*one, &CellRun::samples_per_second);
    const auto other_speed = RankedSpread(*two, &CellRun::samples_per_second);
    if (!speed.has_value() || !other_speed.has_value()) continue;
    if (speed->Overlaps(*other_speed)) {
      if (!LeadsAt(*two, *one, calibration, bits)) continue;
      return absl::StrCat("the planner takes ", ModeName(*two),
                          " for faster than ", ModeName(*one), " at ",
                          one->network, ", where they do not differ");
    }
    const bool is_first = IsFaster(*one, *two);
    if (!is_first && !IsFaster(*two, *one)) continue;
    const Cell& faster = is_first ? *one : *two;
    const Cell& slower = is_first ? *two : *one;
    if (LeadsAt(slower, faster, calibration, bits)) {
      return absl::StrCat("the planner takes ", ModeName(slower),
                          " for faster than ", ModeName(faster), " at ",
                          one->network, ", where it was not");
    }
    if (!LeadsAt(faster, slower, calibration, bits)) {
      return absl::StrCat("the planner takes ", ModeName(faster), " and ",
                          ModeName(slower), " for equally fast at ",
                          one->network, ", where they were not");
    }
    if (!is_first && absl::c_none_of(leads.ranges, [&](const LeadRange& range) {
          return range.Covers(bits);
        })) {
      return absl::StrCat("the search over bandwidths misses that ",
                          ModeName(other), " is faster than ", ModeName(best),
                          " at ", one->network);
    }
  }
  return "";
}

// Where the best cell was measured to be clearly faster than one behind it, on
// the network of both: says that the planner takes the two for equally fast
// there, or "".
std::string NoLeadHere(const Cell& best, const Cell& behind,
                       const Calibration& calibration) {
  if (!IsFaster(best, behind) ||
      LeadsAt(best, behind, calibration, best.bits_per_second) ||
      LeadsAt(behind, best, calibration, best.bits_per_second)) {
    return "";
  }
  return absl::StrCat("the planner takes ", ModeName(best), " and ",
                      ModeName(behind),
                      " for equally fast on this network, where they were not");
}

// Bandwidths at which another mode is faster than the best one.
struct Turn {
  LeadRange range;
  const Cell* faster = nullptr;
};

std::string About(double bits) {
  return absl::StrCat("about ", NetworkText(TwoDigits(bits)));
}

std::string Marked(const LeadRange& range) {
  return range.extrapolated ? " (extrapolated)" : "";
}

std::string TurnText(const Turn& turn, const Cell& best) {
  const LeadRange& range = turn.range;
  std::string where;
  if (!range.from.has_value()) {
    where = absl::StrCat("below ", About(*range.to));
  } else {
    where = absl::StrCat(
        "from ", About(*range.from),
        range.to.has_value() ? absl::StrCat(" to ", About(*range.to)) : " on");
  }
  return absl::StrCat(where, ", ", ModeName(*turn.faster),
                      " would be faster than ", ModeName(best), Marked(range));
}

// Of one mode whose ranges have no other ends.
std::string BothSidesText(const Turn& above, const Turn& below,
                          const Cell& best) {
  return absl::StrCat(ModeName(*above.faster), " would be faster than ",
                      ModeName(best), " above ", About(*above.range.from),
                      Marked(above.range), " and also below ",
                      About(*below.range.to), Marked(below.range));
}

// What the planner says about the best cell and the others, as it is gathered.
class Gathered {
 public:
  explicit Gathered(const Cell& best) : best_(best) {}

  // `behind`: `other` was measured to be slower than the best one, and not only
  // level. `leads`: those of `other`.
  void Add(const Cell& other, bool behind, const ModeLeads& leads) {
    const double here = best_.bits_per_second;
    if (absl::c_any_of(leads.ranges, [here](const LeadRange& range) {
          return range.Covers(here);
        })) {
      (behind ? against_ : level_).push_back(ModeName(other));
      return;
    }
    if (leads.ranges.empty()) {
      never_.push_back(ModeName(other));
      extrapolated_ = extrapolated_ || leads.extrapolated;
    }
    for (const LeadRange& range : leads.ranges) {
      if (range.StartsAbove(here)) {
        if (!above_ || range.from < above_->range.from) {
          above_ = Turn{range, &other};
        }
      } else if (!below_ || range.to > below_->range.to) {
        below_ = Turn{range, &other};
      }
    }
  }

  // Why nothing is said of a mode.
  void AddWrong(std::string why) { wrong_.push_back(std::move(why)); }

  // A mode that trains more samples a second than the best one.
  void AddFaster(const Cell& other) { faster_.push_back(ModeName(other)); }

  // A mode of which the planner knows nothing.
  void AddUnknown(const Cell& other) { unknown_.push_back(ModeName(other)); }

  VerdictTurn Conclude() const {
    VerdictTurn turn;
    std::vector<std::string> sides;
    if (above_ && below_ && above_->faster == below_->faster &&
        !above_->range.to && !below_->range.from) {
      sides.push_back(BothSidesText(*above_, *below_, best_));
    } else {
      if (above_) sides.push_back(TurnText(*above_, best_));
      if (below_) sides.push_back(TurnText(*below_, best_));
    }
    turn.text = absl::StrJoin(sides, "; ");
    if (sides.empty() && !never_.empty()) {
      turn.text =
          absl::StrCat("at no bandwidth from ", NetworkText(kLeastBits), " to ",
                       NetworkText(kMostBits), " would ", Listed(never_, "or"),
                       " be faster than ", ModeName(best_),
                       extrapolated_ ? " (extrapolated)" : "");
    }
    std::vector<std::string> missing;
    if (!against_.empty()) {
      missing.push_back(absl::StrCat(
          "the planner takes ", Listed(against_, "and"), " for faster than ",
          ModeName(best_), " on this network already, where it was not"));
    }
    if (!level_.empty()) {
      missing.push_back(
          absl::StrCat("the planner takes ", Listed(level_, "and"),
                       " for faster than ", ModeName(best_),
                       " on this network already, where they do not differ"));
    }
    missing.insert(missing.end(), wrong_.begin(), wrong_.end());
    if (!unknown_.empty()) {
      missing.push_back(absl::StrCat("the planner knows nothing of ",
                                     Listed(unknown_, "and")));
    }
    if (!faster_.empty()) {
      missing.push_back(absl::StrCat(
          "in samples/s, of which alone the planner speaks, ",
          Listed(faster_, "and"), faster_.size() == 1 ? " is" : " are",
          " ahead of ", ModeName(best_), " already"));
    }
    turn.missing = absl::StrJoin(missing, "; ");
    return turn;
  }

 private:
  const Cell& best_;
  std::optional<Turn> above_;  // the nearest
  std::optional<Turn> below_;
  std::vector<std::string> never_;  // modes that overtake it nowhere
  bool extrapolated_ = false;       // one of these predictions
  // Modes that it takes for faster here, where they are behind or level.
  std::vector<std::string> against_, level_;
  std::vector<std::string> wrong_;
  std::vector<std::string> faster_;  // modes that are faster here
  std::vector<std::string> unknown_;
};

// The cell on the network of `same_mode` that has the most samples/s of those
// that are clearly faster than it; nullptr: there is none.
const Cell* FastestBeside(const Cell& same_mode,
                          const std::vector<const Cell*>& elsewhere) {
  const Cell* fastest = nullptr;
  double most = 0;
  for (const Cell* other : elsewhere) {
    if (other->network != same_mode.network || !IsFaster(*other, same_mode)) {
      continue;
    }
    const double speed = SamplesPerSecond(*other)->median;
    if (speed <= most) continue;
    fastest = other;
    most = speed;
  }
  return fastest;
}

}  // namespace

std::vector<std::string> FasterElsewhere(
    const Cell& best, const std::vector<const Cell*>& elsewhere) {
  std::vector<std::string> texts;
  for (const Cell* cell : elsewhere) {
    if (ModeName(*cell) != ModeName(best)) continue;
    const Cell* const fastest = FastestBeside(*cell, elsewhere);
    if (fastest == nullptr) continue;
    texts.push_back(absl::StrFormat(
        "at %s %s trains %.2f times as many samples a second as %s",
        cell->network, ModeName(*fastest),
        SamplesPerSecond(*fastest)->median / SamplesPerSecond(*cell)->median,
        ModeName(best)));
  }
  return texts;
}

const absl::StatusOr<Calibration>& TurnFinder::CalibrationOf(const Cell& cell) {
  const std::pair key(cell.model, cell.hosts);
  auto found = calibrations_.find(key);
  if (found == calibrations_.end()) {
    found =
        calibrations_.emplace(key, calibrate_(cell.model, cell.hosts)).first;
  }
  return found->second;
}

VerdictTurn TurnFinder::Find(const Cell& best,
                             const std::vector<const Cell*>& behind,
                             const std::vector<const Cell*>& level,
                             const std::vector<const Cell*>& elsewhere) {
  if (best.hosts == 1) return {"", "one host uses no network"};
  if (best.straggler.has_value()) {
    return {"", "the planner knows no slow hosts"};
  }
  if (best.backup_workers > 0) {
    return {"", "the planner knows no backup workers"};
  }
  if (best.bits_per_second == 0) {
    return {"",
            "it is not known which bandwidth these links have (with --on give "
            "--networks)"};
  }
  const absl::StatusOr<Calibration>& calibration = CalibrationOf(best);
  if (!calibration.ok()) {
    return {"", absl::StrCat("the planner could not be calibrated: ",
                             calibration.status().message())};
  }
  const auto best_rate = SamplesPerSecond(best);
  Gathered gathered(best);
  for (const auto* others : {&behind, &level}) {
    for (const Cell* other : *others) {
      const auto rate = SamplesPerSecond(*other);
      if (rate.has_value() && best_rate.has_value() &&
          rate->median > best_rate->median) {
        gathered.AddFaster(*other);
        continue;
      }
      if (other->backup_workers > 0) {
        gathered.AddUnknown(*other);
        continue;
      }
      const auto leads = FindLeads(*calibration, QuestionOf(*other, best));
      if (!leads.ok()) {
        gathered.AddUnknown(*other);
        continue;
      }
      std::string wrong =
          WrongElsewhere(best, *other, *calibration, *leads, elsewhere);
      if (wrong.empty() && others == &behind) {
        wrong = NoLeadHere(best, *other, *calibration);
      }
      if (wrong.empty()) {
        gathered.Add(*other, others == &behind, *leads);
      } else {
        gathered.AddWrong(std::move(wrong));
      }
    }
  }
  return gathered.Conclude();
}

}  // namespace shoal
