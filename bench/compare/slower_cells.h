#ifndef SHOAL_BENCH_COMPARE_SLOWER_CELLS_H_
#define SHOAL_BENCH_COMPARE_SLOWER_CELLS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/cell.h"
#include "bench/compare/kept_runs.h"

namespace shoal {

// Which cells of a comparison are tried at twice their dilation, which are
// measured at it because a mode on so many hosts differs from itself there, and
// how cells are judged by both (the rules: bench/compare/dilation_check.h). It
// decides by the runs that there are, and measures nothing. Thread-compatible.
class SlowerCells {
 public:
  // Folder of the runs at more than the dilation of the cells.
  static constexpr char kFolder[] = "dilation";

  // `cells`: those to check, each with so many runs in the end; empty: nothing
  // is checked. `runs` outlives this.
  SlowerCells(std::vector<Cell> cells, int repeats, const KeptRuns* runs);

  // All runs that a comparison of before may have left.
  std::vector<RunPlace> Possible() const;

  // The tries that may come among the runs of a repeat: one of each mode and
  // number of hosts, since a machine is faster in some hours than in others.
  // None from the repeat kDilationTries on.
  std::vector<RunPlace> TriesAmong(int repeat) const;
  // What is measured in the turn of `place`: the place itself if it is no try;
  // the next try of its mode and number of hosts if these need one more, as the
  // runs are now; or else nothing.
  std::optional<RunPlace> InTurnOf(RunPlace place) const;
  // The next try of each mode and number of hosts that needs one more, as the
  // runs are now.
  std::vector<RunPlace> Tries() const;
  // Those of them which a run of `cell` is a reason for: a try, or one of the
  // runs that tries are compared with.
  std::vector<RunPlace> TriesAfter(const Cell& cell) const;

  // Once there are no more tries: the cells to measure at twice their dilation,
  // which from now on are those that are tried. `say` gets a line about each
  // mode that differs. Called once.
  std::vector<Cell> MeasureSlower(
      const std::function<void(const std::string&)>& say);

  // Judges the cells by the tries. Those of hosts that were measured slower to
  // the end get these runs and this dilation; the others stay as they were.
  // REQUIRES: `cells` are those to check, with their own runs.
  void Settle(std::vector<Cell>* cells) const;

 private:
  // With the runs that count of a cell that is compared, and of a try: runs of
  // the one may be those of the other, of which fewer or more are asked for.
  Cell WithRepeats(const Cell& cell) const;
  Cell WithTries(const Cell& at_twice) const;
  bool NeedsTry(const Cell& at_twice) const;
  std::optional<RunPlace> NextTry(const Cell& at_twice) const;
  // Those that are tried now.
  const std::vector<Cell>& Tried() const;
  bool IsSlower(const Cell& at_twice) const;
  bool SlowerHasEnded(const Cell& at_twice) const;
  void SettleSlower(const Cell& at_twice, std::vector<Cell>* cells) const;

  const std::vector<Cell> cells_;
  const int repeats_;
  const KeptRuns* const runs_;
  const std::vector<Cell> at_twice_;  // to check the dilation with
  // Cells that are measured once more, at twice their dilation, and those to
  // check that dilation with.
  std::vector<Cell> slower_;
  std::vector<Cell> slower_at_twice_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_SLOWER_CELLS_H_
