#include "bench/compare/verdict.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/listed.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/state_words.h"
#include "bench/compare/verdict_turn.h"

namespace shoal {
namespace {

// A smaller difference of AUC is none, also of runs that have the same AUC each
// time because they have one seed.
constexpr double kAucDifference = .001;
// The end of each rule.
constexpr char kBesideTheFirst[] =
    "Each mode is compared with the first one alone, so two others may be "
    "equal where only one of them differs from it.";

struct Ranked {
  const Cell* cell;
  FigureSpread spread;
};

std::string StragglerKey(const Cell& cell) {
  return cell.straggler.has_value()
             ? absl::StrCat(cell.straggler->host, ":", cell.straggler->share)
             : "";
}

// The cells that one verdict is about: all but the mode is equal. Verdicts come
// by model, by bandwidth (no limit is the last) and by hosts.
using Key = std::tuple<std::string, bool, double, std::string, int, int,
                       std::string, std::string>;
Key KeyOf(const Cell& cell, const std::string& compute) {
  return {cell.model, cell.bits_per_second == 0,
          cell.bits_per_second, cell.network,
          cell.hosts, cell.batch_size,
          compute, StragglerKey(cell)};
}
using Group = std::vector<const Cell*>;

// "14.2 s [14.0..14.6]": the median, the least and the most.
std::string FigureWithSpread(const FigureSpread& spread, const char* unit,
                             bool whole) {
  const auto number = [whole](double value) {
    return whole ? absl::StrFormat("%.0f", value)
                 : absl::StrFormat("%.3g", value);
  };
  return absl::StrCat(number(spread.median), " ", unit,
                      spread.count == 1
                          ? " [one run]"
                          : absl::StrCat(" [", number(spread.least), "..",
                                         number(spread.most), "]"));
}

// With what limits the cell after it, if that is known.
std::string WithLimit(const std::string& line, const Cell& cell) {
  const std::string limit = LimitWords(cell);
  return limit.empty() ? line : absl::StrCat(line, "; ", limit);
}

class VerdictMaker {
 public:
  VerdictMaker(const Comparison& comparison, const Group& group,
               TurnFinder* turns)
      : comparison_(comparison), group_(group), turns_(turns) {}

  ModeVerdict Make() {
    const Cell& any = *group_.front();
    verdict_.network = any.network;
    verdict_.hosts = any.hosts;
    verdict_.model = any.model;
    verdict_.batch_size = any.batch_size;
    verdict_.compute = any.compute;
    verdict_.straggler = any.straggler;
    if (comparison_.target_auc.has_value() && !any.replayed()) {
      DecideByTarget();
    } else {
      DecideBySpeed();
    }
    AddTurn();
    AddNotes();
    verdict_.text = absl::StrJoin(lines_, "\n");
    return std::move(verdict_);
  }

 private:
  std::string Place() const {
    const Cell& any = *group_.front();
    std::string place = absl::StrCat(
        "model ", any.model, " on ", Counted(any.hosts, "host"),
        any.cores_per_host > 0
            ? absl::StrCat(" of ", CoresText(any.cores_per_host))
            : "",
        any.hosts == 1                 ? ""
        : any.network != "none"        ? absl::StrCat(" at ", any.network)
        : comparison_.where == "hosts" ? " over the network as it is"
        : comparison_.where == "lab"   ? " over links without a limit"
                                       : " over loopback",
        ", batch ", any.batch_size, " a worker");
    if (any.straggler.has_value()) {
      absl::StrAppendFormat(&place, ", host %d at %.2g of the others' speed",
                            any.straggler->host, any.straggler->share);
    }
    return place;
  }

  // Ranks the cells that are not grey by the figure, the best first. Cells that
  // lack the figure go into `without_`.
  std::vector<Ranked> Rank(std::optional<double> CellRun::*figure,
                           bool more_is_better) {
    std::vector<Ranked> ranked;
    for (const Cell* cell : group_) {
      if (!cell->grey.empty()) continue;
      const auto spread = RankedSpread(*cell, figure);
      if (spread.has_value()) {
        ranked.push_back({cell, *spread});
      } else {
        without_.push_back(cell);
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](const Ranked& a, const Ranked& b) {
                       return more_is_better
                                  ? a.spread.median > b.spread.median
                                  : a.spread.median < b.spread.median;
                     });
    return ranked;
  }

  void DecideBySpeed() {
    verdict_.rule = absl::StrFormat(
        "The mode with the most samples/s, by the median of its runs. Two "
        "modes whose spreads (least to most of their runs; %.0f %% either way "
        "for a single run) overlap do not differ. %s How much a model learns "
        "from these samples is another question, which --target_auc asks.",
        100 * kSpreadOfOne, kBesideTheFirst);
    const std::vector<Ranked> ranked =
        Rank(&CellRun::samples_per_second, /*more_is_better=*/true);
    if (!without_.empty()) {
      notes_.push_back(absl::StrCat(NamesWithout(),
                                    " did not run long enough for a speed"));
      for (const Cell* cell : without_) {
        verdict_.out.push_back(ModeWord(*cell));
      }
    }
    Decide(ranked, "is the fastest", "samples/s", /*whole=*/true,
           [](double best, double other) { return best / other; });
  }

  void DecideByTarget() {
    const double target = *comparison_.target_auc;
    verdict_.rule = absl::StrFormat(
        "The mode that reaches a progressive AUC of %g first within the first "
        "pass over the data, by the median of its runs; every run must reach "
        "it. Two modes whose spreads (least to most of their runs; %.0f %% "
        "either way for a single run) overlap do not differ. %s",
        target, 100 * kSpreadOfOne, kBesideTheFirst);
    const std::vector<Ranked> ranked =
        Rank(&CellRun::seconds_to_target, /*more_is_better=*/false);
    if (ranked.size() < 2 && !without_.empty()) {
      DecideByReach(target, ranked);
      return;
    }
    if (!without_.empty()) {
      notes_.push_back(absl::StrCat(NamesWithout(),
                                    " did not reach the target in every run"));
    }
    Decide(ranked, absl::StrFormat("reaches AUC %g first", target), "s",
           /*whole=*/false,
           [](double best, double other) { return other / best; });
    AddUnreached();
  }

  // One mode alone reaches the target in every run, or none does.
  void DecideByReach(double target, const std::vector<Ranked>& ranked) {
    const bool some_grey = absl::c_any_of(
        group_, [](const Cell* cell) { return !cell->grey.empty(); });
    lines_ = {absl::StrFormat("%s: %s%s reaches AUC %g in every run", Place(),
                              ranked.empty()
                                  ? "no verdict, since no mode"
                                  : ModeName(*ranked[0].cell) + " alone",
                              some_grey ? " of those that count" : "", target)};
    for (const Ranked& best : ranked) {
      first_ = best.cell;
      slower_ = without_;
      verdict_.best = ModeWord(*best.cell);
      verdict_.first = {verdict_.best};
      lines_.push_back(WithLimit(
          absl::StrCat(ModeName(*best.cell), ": ",
                       FigureWithSpread(best.spread, "s", /*whole=*/false)),
          *best.cell));
    }
    if (first_ != nullptr) AddUnreached();
    for (const Cell* cell : without_) {
      const auto reached = std::count_if(
          cell->runs.begin(), cell->runs.end(),
          [](const CellRun& run) { return run.seconds_to_target.has_value(); });
      lines_.push_back(WithLimit(
          absl::StrCat(ModeName(*cell), ": it reaches it in ", reached, " of ",
                       Counted(cell->runs.size(), "run")),
          *cell));
    }
  }

  // Puts the modes that did not reach the target in every run behind the
  // others.
  void AddUnreached() {
    for (const Cell* cell : without_) {
      verdict_.behind.push_back({ModeWord(*cell), std::nullopt});
    }
  }

  std::string NamesWithout() const {
    return absl::StrJoin(without_, ", ",
                         [](std::string* out, const Cell* cell) {
                           absl::StrAppend(out, ModeName(*cell));
                         });
  }

  template <typename Lead>
  void Decide(const std::vector<Ranked>& ranked, const std::string& wins,
              const char* unit, bool whole, Lead lead) {
    if (ranked.empty()) {
      lines_ = {Place() + ": no verdict, since no mode has runs that count"};
      return;
    }
    const Ranked& best = ranked.front();
    const std::string name = ModeName(*best.cell);
    lines_ = {""};
    std::vector<std::string> equal;  // names of verdict_.first
    std::string next, by;  // the first mode behind, and by how much
    for (const Ranked& other : ranked) {
      const std::string mode = ModeName(*other.cell);
      std::string line =
          absl::StrCat(mode, ": ", FigureWithSpread(other.spread, unit, whole));
      if (best.spread.Overlaps(other.spread)) {
        equal.push_back(mode);
        verdict_.first.push_back(ModeWord(*other.cell));
        if (other.cell != best.cell) level_.push_back(other.cell);
      } else {
        const double ratio = lead(best.spread.median, other.spread.median);
        verdict_.behind.push_back({ModeWord(*other.cell), ratio});
        const std::string times =
            absl::StrFormat("takes %.2f times as long", ratio);
        if (next.empty()) {
          next = mode;
          by = times;
        }
        absl::StrAppend(&line, ", ", times, " as ", name);
        slower_.push_back(other.cell);
      }
      lines_.push_back(WithLimit(line, *other.cell));
    }
    if (ranked.size() == 1) {
      lines_[0] = absl::StrCat(Place(), ": no verdict, since ", name,
                               " is the only mode to compare");
      return;
    }
    first_ = best.cell;
    if (equal.size() > 1) {
      lines_[0] = absl::StrCat(
          Place(), ": no difference between ", Listed(equal, "and"),
          ", since their spreads overlap",
          next.empty() ? ""
                       : absl::StrCat("; ", next, ", the first that differs, ",
                                      by, " as ", name));
      return;
    }
    verdict_.best = ModeWord(*best.cell);
    lines_[0] = absl::StrCat(Place(), ": ", name, " ", wins, "; ", next,
                             ", the next, ", by);
    CompareAuc(ranked);
  }

  // The AUC of the fastest beside those of the others, where all have one.
  void CompareAuc(const std::vector<Ranked>& ranked) {
    const auto best = RankedSpread(*ranked.front().cell, &CellRun::auc);
    if (!best.has_value()) return;
    for (size_t i = 1; i < ranked.size(); ++i) {
      const auto other = RankedSpread(*ranked[i].cell, &CellRun::auc);
      if (!other.has_value() || ranked[i].cell->runs.size() < 2) continue;
      if (best->Overlaps(*other) ||
          other->median - best->median < kAucDifference) {
        continue;
      }
      notes_.push_back(
          absl::StrFormat("the AUC of %s, %.4f, is below that of %s, %.4f",
                          ModeName(*ranked[0].cell), best->median,
                          ModeName(*ranked[i].cell), other->median));
    }
  }

  // Where it would turn.
  void AddTurn() {
    if (first_ == nullptr) {
      verdict_.no_turn = "no two modes could be ranked here";
      return;
    }
    const std::vector<const Cell*> elsewhere = Elsewhere();
    const std::vector<std::string> faster = FasterElsewhere(*first_, elsewhere);
    if (!faster.empty()) {
      lines_.push_back(absl::StrCat("Measured on other networks: ",
                                    absl::StrJoin(faster, "; ")));
    }
    const VerdictTurn turn = turns_->Find(*first_, slower_, level_, elsewhere);
    verdict_.turn = turn.text;
    verdict_.no_turn = turn.missing;
    if (!turn.text.empty()) {
      lines_.push_back(absl::StrCat(
          "Predicted: ", turn.text,
          turn.missing.empty() ? ""
                               : "; nothing is predicted of the other modes"));
    }
  }

  // The cells that count, and differ from these in their network alone.
  std::vector<const Cell*> Elsewhere() const {
    std::vector<const Cell*> cells;
    for (const Cell& cell : comparison_.cells) {
      if (cell.model == first_->model && cell.hosts == first_->hosts &&
          cell.batch_size == first_->batch_size &&
          cell.compute == first_->compute && cell.network != first_->network &&
          !cell.straggler.has_value() && cell.grey.empty()) {
        cells.push_back(&cell);
      }
    }
    return cells;
  }

  // ", with 64267 samples/s and the target after 12.5 s", as far as is known.
  std::string Measured(const Cell& cell) const {
    std::vector<std::string> parts;
    if (const auto speed = SamplesPerSecond(cell)) {
      parts.push_back(absl::StrFormat("%.0f samples/s", speed->median));
    }
    if (const auto seconds = SecondsToTarget(cell)) {
      parts.push_back(
          absl::StrFormat("the target after %.3g s", seconds->median));
      if (static_cast<size_t>(seconds->count) < cell.runs.size()) {
        absl::StrAppendFormat(&parts.back(), " in %d of %d runs",
                              seconds->count, cell.runs.size());
      }
    }
    return parts.empty() ? "" : ", with " + absl::StrJoin(parts, " and ");
  }

  void AddNotes() {
    for (const Cell* cell : group_) {
      if (cell->grey.empty()) continue;
      verdict_.out.push_back(ModeWord(*cell));
      notes_.push_back(absl::StrCat(ModeName(*cell), " is left out",
                                    Measured(*cell), ": ", cell->grey));
    }
    if (group_.front()->replayed()) {
      notes_.push_back(
          "the computation was replayed, so nothing is known of AUC");
    }
    for (const std::string& note : notes_) {
      lines_.push_back(absl::StrCat("Note: ", note));
    }
  }

  const Comparison& comparison_;
  const Group& group_;
  TurnFinder* const turns_;
  ModeVerdict verdict_;
  std::vector<std::string> lines_;  // of its text
  // The first of two cells or more that could be ranked, those that do not
  // differ from it, and those that are behind it by more than their spreads,
  // the best first.
  const Cell* first_ = nullptr;
  std::vector<const Cell*> level_;
  std::vector<const Cell*> slower_;
  std::vector<const Cell*> without_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<ModeVerdict> VerdictsOf(const Comparison& comparison,
                                    const Calibrate& calibrate) {
  std::map<Key, Group> groups;
  for (const Cell& cell : comparison.cells) {
    groups[KeyOf(cell, cell.compute)].push_back(&cell);
  }
  TurnFinder turns([&](const std::string& model, int hosts) {
    return calibrate(comparison, model, hosts);
  });
  std::vector<ModeVerdict> verdicts;
  for (const auto& [key, group] : groups) {
    // A replayed host beside a computed one is there for the efficiency of
    // replayed cells alone.
    const Cell& any = *group.front();
    if (any.hosts == 1 && any.replayed() &&
        groups.count(KeyOf(any, kComputed)) > 0) {
      continue;
    }
    verdicts.push_back(VerdictMaker(comparison, group, &turns).Make());
  }
  return verdicts;
}

}  // namespace shoal
