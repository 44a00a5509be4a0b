#ifndef SHOAL_BENCH_COMPARE_CELL_FIGURES_H_
#define SHOAL_BENCH_COMPARE_CELL_FIGURES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"

namespace shoal {

// The figures of a cell as verdicts and the report have them: the median of the
// runs that ended well, with the least and the largest. A run that did not end
// well counts in none.

struct FigureSpread {
  double median = 0;  // the mean of the two in the middle of an even number
  double least = 0;
  double most = 0;
  int count = 0;  // of runs that have the figure; at least 1

  bool Overlaps(const FigureSpread& other) const {
    return least <= other.most && other.least <= most;
  }
};

// nullopt if there is no value.
std::optional<FigureSpread> SpreadOfValues(std::vector<double> values);

// A figure of one run; nullopt: it is not known.
using RunFigure = absl::FunctionRef<std::optional<double>(const CellRun&)>;

std::optional<FigureSpread> SpreadOf(const Cell& cell, RunFigure figure);

// Share by which a cell with one run alone may be off in a verdict: nothing is
// known of its spread.
inline constexpr double kSpreadOfOne = .05;
// The spread with that.
FigureSpread WidenedIfOne(FigureSpread spread);
// The spread of a figure by which cells are ranked. nullopt: a run lacks the
// figure.
std::optional<FigureSpread> RankedSpread(
    const Cell& cell, std::optional<double> CellRun::*figure);

// Samples that all workers train a second.
std::optional<FigureSpread> SamplesPerSecond(const Cell& cell);
// Cores that workers and servers of one host kept busy: processor seconds a
// sample times samples a second, divided by the hosts.
std::optional<FigureSpread> BusyCoresOfHost(const Cell& cell);
// The largest resident sets of a worker and of a server together, in bytes.
std::optional<FigureSpread> MemoryOfHost(const Cell& cell);
// Seconds to the target, of the runs that reached the target.
std::optional<FigureSpread> SecondsToTarget(const Cell& cell);
// hosts × price × seconds ÷ 3600, of the runs that have these seconds.
std::optional<FigureSpread> CostOf(const Cell& cell, double price_per_host_hour,
                                   std::optional<double> CellRun::*seconds);
// Mean over the runs of the share of one state; 0 if a run does not name it.
// nullopt if no run has shares.
std::optional<double> StateShare(const Cell& cell, const std::string& state);
// Measured bytes a sample of all roles and directions together, and the
// formula's.
std::optional<FigureSpread> BytesOfSample(const Cell& cell);
double SumOf(const RoleBytes& bytes);
// What leaves a host, of the bytes that its processes send for a sample. Of the
// bytes between workers and servers, one part in `hosts` stays on the host.
double BytesThatLeaveHost(const RoleBytes& bytes, int hosts);
// Share of its bandwidth that a host's link out carries: 8 × bytes that leave
// the host × samples/s ÷ hosts ÷ bits a second. Headers, which take some 4 %
// more, are not in it. nullopt: also if the links have no known limit.
std::optional<FigureSpread> LinkUse(const Cell& cell);

// T(n) / (n · T(1)): the median samples/s of `cell` beside hosts times that of
// the same cell on one host, on any network, or of its mode without backup
// workers. Both are computed, or both replayed. nullopt if there is no such
// cell in the comparison, one of the two was not measured, or the cell of one
// host is out of verdicts.
std::optional<double> Efficiency(const Comparison& comparison,
                                 const Cell& cell);

// The cell that is like `cell` but has no straggler; nullptr: there is none.
const Cell* WithoutStraggler(const Comparison& comparison, const Cell& cell);

// Why the cell is out of verdicts, or has no figures; empty: neither.
std::string WhyOut(const Cell& cell);

// Texts. A whole number is itself; another number has at least four digits that
// count, and no more decimals than that: "12,346", "123.4", "0.7712",
// "2.513e-05". A figure that is not known is "–". A spread is
// "12.13 (11.87 to 12.21)", or its number alone where all runs read the same.
std::string FigureText(double number);
std::string FigureText(const std::optional<double>& number);
std::string SpreadText(const std::optional<FigureSpread>& spread,
                       double scale = 1);
// A number that somebody has set: as few digits as say it, at most six.
// "0.0005"
std::string SettingText(double number);
// "1 core", "0.5 cores".
std::string CoresText(double cores);
// "Equal in all cells: the batch of each worker."
std::string EqualBatchText(const Comparison& comparison);
// A difference in percent with its sign: "+0.6 %".
std::string DifferenceText(double measured, double expected);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CELL_FIGURES_H_
