#include "bench/compare/slower_cells.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/counted.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/dilation_check.h"

namespace shoal {

SlowerCells::SlowerCells(std::vector<Cell> cells, int repeats,
                         const KeptRuns* runs)
    : cells_(std::move(cells)),
      repeats_(repeats),
      runs_(runs),
      at_twice_(CellsAtTwiceTheDilation(cells_)) {}

std::vector<RunPlace> SlowerCells::Possible() const {
  std::vector<RunPlace> places;
  if (at_twice_.empty()) return places;
  for (const Cell& cell : cells_) {
    for (int i = 0; i < repeats_; ++i) {
      places.push_back({AtTwiceTheDilation(cell), i, kFolder});
    }
  }
  for (const Cell& cell : at_twice_) {
    for (int i = 0; i < kDilationTries; ++i) {
      places.push_back({cell, i, kFolder});
      places.push_back({AtTwiceTheDilation(cell), i, kFolder});
    }
  }
  return places;
}

Cell SlowerCells::WithRepeats(const Cell& cell) const {
  return runs_->WithRuns(cell, repeats_);
}

Cell SlowerCells::WithTries(const Cell& at_twice) const {
  return runs_->WithRuns(at_twice, kDilationTries);
}

const std::vector<Cell>& SlowerCells::Tried() const {
  return slower_.empty() ? at_twice_ : slower_at_twice_;
}

bool SlowerCells::NeedsTry(const Cell& at_twice) const {
  for (const auto* cells : {&cells_, &slower_}) {
    for (const Cell& cell : *cells) {
      if (IsTwinOf(cell, at_twice)) {
        return NeedsAnotherTry(WithRepeats(cell), WithTries(at_twice));
      }
    }
  }
  return false;
}

std::vector<RunPlace> SlowerCells::TriesAmong(int repeat) const {
  std::vector<RunPlace> tries;
  if (repeat >= kDilationTries) return tries;
  for (const Cell& at_twice : Tried()) {
    tries.push_back({at_twice, repeat, kFolder});
  }
  return tries;
}

std::optional<RunPlace> SlowerCells::InTurnOf(RunPlace place) const {
  for (const Cell& at_twice : Tried()) {
    if (place.cell.name == at_twice.name) return NextTry(at_twice);
  }
  return place;
}

// The first of the tries that is not there, of which a comparison of before may
// have left any. nullopt: none is needed.
std::optional<RunPlace> SlowerCells::NextTry(const Cell& at_twice) const {
  if (!NeedsTry(at_twice)) return std::nullopt;
  for (int i = 0; i < kDilationTries; ++i) {
    RunPlace place{at_twice, i, kFolder};
    if (!runs_->Has(place)) return place;
  }
  return std::nullopt;
}

std::vector<RunPlace> SlowerCells::Tries() const {
  std::vector<RunPlace> tries;
  for (const Cell& at_twice : Tried()) {
    auto next = NextTry(at_twice);
    if (next.has_value()) tries.push_back(*std::move(next));
  }
  return tries;
}

std::vector<RunPlace> SlowerCells::TriesAfter(const Cell& cell) const {
  std::vector<RunPlace> tries = Tries();
  std::erase_if(tries, [&](const RunPlace& place) {
    return place.cell.name != cell.name && !IsTwinOf(cell, place.cell);
  });
  return tries;
}

std::vector<Cell> SlowerCells::MeasureSlower(
    const std::function<void(const std::string&)>& say) {
  std::vector<Cell> measured;
  for (const Cell& cell : cells_) measured.push_back(WithRepeats(cell));
  for (const Cell& at_twice : at_twice_) {
    if (!ShouldBeSlower(WithTries(at_twice), measured)) continue;
    const size_t before = slower_.size();
    for (const Cell& cell : cells_) {
      const Cell twice = AtTwiceTheDilation(cell);
      if (IsPlayedFaster(cell, at_twice) && !IsSlower(twice)) {
        slower_.push_back(twice);
      }
    }
    const std::string hosts = Counted(at_twice.hosts, "host");
    std::string then = ", as another mode does";
    if (slower_.size() > before) {
      then = absl::StrCat(
          "; so all modes on ", hosts,
          " are measured at that: ", Counted(slower_.size() - before, "cell"));
    }
    say(absl::StrCat(ModeName(at_twice), " on ", hosts,
                     " differs from itself when it is played twice as slow",
                     then));
  }
  slower_at_twice_ = CellsAtTwiceTheDilation(slower_);
  return slower_;
}

// Whether this cell at twice its dilation is one of those that are measured.
bool SlowerCells::IsSlower(const Cell& at_twice) const {
  return std::any_of(slower_.begin(), slower_.end(), [&](const Cell& slower) {
    return slower.name == at_twice.name;
  });
}

// Whether all that has the hosts of `at_twice` was measured slower to the end,
// with its tries.
bool SlowerCells::SlowerHasEnded(const Cell& at_twice) const {
  for (const Cell& cell : slower_) {
    if (!IsBeside(cell, at_twice)) continue;
    const Cell measured = WithRepeats(cell);
    if (static_cast<int>(measured.runs.size()) < repeats_) return false;
    for (const Cell& tried : slower_at_twice_) {
      if (IsTwinOf(cell, tried) &&
          NeedsAnotherTry(measured, WithTries(tried))) {
        return false;
      }
    }
  }
  return true;
}

// Judges the cells of the mode and hosts of `at_twice` by it, with those that
// were measured slower as they are played slower, if that was measured to the
// end.
void SlowerCells::SettleSlower(const Cell& at_twice,
                               std::vector<Cell>* cells) const {
  if (!SlowerHasEnded(at_twice)) return;
  for (Cell& cell : *cells) {
    if (!IsJudgedBy(cell, at_twice)) continue;
    const Cell twice = AtTwiceTheDilation(cell);
    const bool is_slower = IsSlower(twice);
    if (is_slower) cell.dilation = twice.dilation;
    runs_->Settle(is_slower ? twice.name : cell.name, repeats_, &cell);
  }
  JudgeDilation(WithTries(at_twice), /*note=*/"", cells);
}

void SlowerCells::Settle(std::vector<Cell>* cells) const {
  for (const Cell& at_twice : at_twice_) {
    const Cell tried = WithTries(at_twice);
    // SettleSlower has the last word on those that were.
    JudgeDilation(tried,
                  ShouldBeSlower(tried, *cells)
                      ? absl::StrFormat(
                            "; it was stopped before all of them were measured "
                            "at %.3g and tried at %.3g",
                            tried.dilation, 2 * tried.dilation)
                      : "",
                  cells);
  }
  for (const Cell& at_twice : slower_at_twice_) SettleSlower(at_twice, cells);
}

}  // namespace shoal
