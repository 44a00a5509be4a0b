#include "cmd/plan_map.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/counted.h"
#include "plan/cluster_description.h"
#include "plan/crossover.h"
#include "plan/prediction.h"
#include "report/mode_style.h"
#include "report/number_text.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

constexpr double kBits[] = {5e8, 1e9, 2e9, 5e9, 1e10, 2.5e10, 5e10, 1e11, 2e11};
// How far ahead the fastest mode is in a cell of full colour.
constexpr double kFullLead = .5;

// Numbers of hosts that have a column. Of more of them the largest ones have.
constexpr size_t kMostColumns = 12;

MapCell CellOf(const PlanRequest& request, int hosts, double bits) {
  ClusterDescription cluster = request.cluster;
  cluster.bits_per_second = bits;
  MapCell cell;
  const ModeShape* const fastest = FastestMode(
      request.modes, request.calibration, request.job, cluster, hosts);
  if (fastest == nullptr) return cell;
  double first = 0;
  double second = 0;
  for (size_t i = 0; i < request.modes.size(); ++i) {
    const Prediction p = Predict(*request.modes[i], request.calibration,
                                 request.job, cluster, hosts);
    if (request.modes[i] == fastest) {
      first = p.samples_per_second;
      cell.key = static_cast<int>(i);
      cell.look = p.extrapolated ? ChartLook::kHollow : ChartLook::kFull;
    } else if (p.fits) {
      second = std::max(second, p.samples_per_second);
    }
  }
  const std::string name = fastest->name;
  const double lead =
      second == 0 ? kFullLead : std::max(0.0, first / second - 1);
  cell.text = absl::StrCat(name, "\n", InFewDigits(first));
  cell.strength = std::clamp(lead / kFullLead, .1, 1.0);
  cell.tip = absl::StrFormat(
      "%s at %s: %s, %.0f samples/s, %s",
      Counted(static_cast<uint64_t>(hosts), "host"), NetworkText(bits), name,
      first,
      lead < kClearLead ? "level with the next mode"
                        : absl::StrFormat("%.0f %% ahead", 100 * lead));
  return cell;
}

}  // namespace

std::string DrawPlanMap(const PlanRequest& request) {
  MapChart chart;
  chart.id = "plan";
  chart.title = "The fastest mode by hosts and bandwidth, as predicted";
  chart.about =
      "For each number of hosts and each bandwidth, the mode of training with "
      "the most samples a second.";
  chart.hollow_means = "extrapolated";
  chart.x_title = "hosts";
  chart.y_title = "network";
  for (const ModeShape* const mode : request.modes) {
    chart.keys.push_back(
        {mode->name, ModeStyle(mode->name), ChartHatch::kNone});
  }
  std::vector<int> hosts = request.hosts;
  if (hosts.size() > kMostColumns) {
    hosts.erase(hosts.begin(), hosts.end() - kMostColumns);
  }
  for (const int n : hosts) chart.columns.push_back(absl::StrCat(n));
  std::set<double> rows(std::begin(kBits), std::end(kBits));
  rows.insert(request.cluster.bits_per_second);
  for (const double bits : rows) {
    chart.rows.push_back(NetworkText(bits));
    std::vector<MapCell>& row = chart.cells.emplace_back();
    for (const int n : hosts) row.push_back(CellOf(request, n, bits));
  }
  return DrawMapChart(chart);
}

}  // namespace shoal
