#ifndef SHOAL_BENCH_COMPARE_REPORT_PANELS_H_
#define SHOAL_BENCH_COMPARE_REPORT_PANELS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"
#include "report/svg_chart.h"

namespace shoal {

// What one picture of the report compares: the cells of a model, a batch and a
// network, without stragglers, by hosts and then by mode. A cell of one host
// uses no network, so it stands in the panels of all networks, unless the panel
// has one of its own.
struct ReportPanel {
  std::string model;
  int batch = 0;  // the equal one: of a worker, or of all
  std::string network;
  std::vector<const Cell*> cells;  // of the comparison
};

// The panels of a comparison, which has to live as long: by model, batch and
// bandwidth.
std::vector<ReportPanel> PanelsOf(const Comparison& comparison);

// The order of cells in tables and pictures: by hosts, then by mode.
bool CellBefore(const Cell* a, const Cell* b);

// "model A, batch of 1,024 a worker, network 1gbit".
std::string PanelTitle(const Comparison& comparison, const ReportPanel& panel);
std::string PanelTitle(const Comparison& comparison, const Cell& cell);

// The numbers of hosts of the cells, in ascending order.
std::vector<int> HostsOf(const std::vector<const Cell*>& cells);

// A cell that is out of verdicts is grey; a replayed one is hollow.
ChartLook LookOf(const Cell& cell);

// The parts that all of the report's charts have in common.
void SetFrame(absl::string_view id, absl::string_view title,
              absl::string_view about, ChartFrame* frame);

// Keys of a bar chart whose bars say by their labels what they are: one for
// each style, which is also its index.
std::vector<ChartKey> StylesOnly();

// "2 hosts".
std::string HostsText(int hosts);

// The groups of a bar chart: one for each number of hosts, with a bar for each
// cell for which `bar` gives one. The bar's label, look and tip are those of
// its cell.
std::vector<BarGroup> BarsByHosts(
    const std::vector<const Cell*>& cells,
    absl::FunctionRef<std::optional<ChartBar>(const Cell&)> bar);

// A column of a table of cells.
struct CellColumn {
  std::string key;
  std::string heading;
  std::function<std::string(const Cell&)> text;
};

// A table with a row for each cell: mode, hosts, batch, whether its computation
// ran or was played, and these columns; below the row of a cell that is out of
// verdicts, the reason. The caption says which batch is the same for all.
std::string CellTable(const Comparison& comparison, absl::string_view name,
                      absl::string_view caption,
                      const std::vector<const Cell*>& cells,
                      const std::vector<CellColumn>& columns);

// A section of the page: `id` for links, its heading, and what it has.
std::string ReportSection(absl::string_view id, absl::string_view heading,
                          absl::string_view html);

// The line in the place of a picture that has no data.
std::string LeftOut(absl::string_view why);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_REPORT_PANELS_H_
