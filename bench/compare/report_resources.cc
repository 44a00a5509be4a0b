#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "bench/compare/state_words.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

// A picture of bars by hosts for each panel, with its table.
struct BarPicture {
  std::string name;     // of tables; begins the ids of charts
  std::string heading;  // of the section
  std::string title;    // before the panel's
  std::string words;    // what the figures are
  std::string missing;  // why there is no picture
  BarChart chart;       // axis, keys, legend
  std::function<std::optional<ChartBar>(const Cell&)> bar;
  std::vector<CellColumn> columns;
};

std::string DrawPicture(const Comparison& comparison,
                        const BarPicture& picture) {
  std::string html = HtmlParagraph(picture.words);
  int number = 0;
  for (const ReportPanel& panel : PanelsOf(comparison)) {
    BarChart chart = picture.chart;
    chart.groups = BarsByHosts(panel.cells, picture.bar);
    if (chart.groups.empty()) continue;
    const std::string title = PanelTitle(comparison, panel);
    SetFrame(absl::StrCat(picture.name, ++number),
             absl::StrCat(picture.title, ": ", title),
             absl::StrCat("Bars, one for each mode and number of hosts. ",
                          picture.title, ": ", title),
             &chart);
    std::vector<const Cell*> shown;
    for (const Cell* cell : panel.cells) {
      if (picture.bar(*cell).has_value()) shown.push_back(cell);
    }
    absl::StrAppend(
        &html, "<figure>\n", DrawBarChart(chart),
        CellTable(comparison, picture.name, title, shown, picture.columns),
        "</figure>\n");
  }
  if (number == 0) html = LeftOut(picture.missing);
  return ReportSection(picture.name, picture.heading, html);
}

// The spread of a member of one of the run's structs.
template <typename Part>
std::optional<FigureSpread> PartSpread(const Cell& cell,
                                       const std::optional<Part> CellRun::*part,
                                       double Part::*member) {
  return SpreadOf(cell, [&](const CellRun& run) -> std::optional<double> {
    const std::optional<Part>& value = run.*part;
    if (!value.has_value()) return std::nullopt;
    return (*value).*member;
  });
}

double MedianOr0(const std::optional<FigureSpread>& spread) {
  return spread.has_value() ? spread->median : 0;
}

struct BytesOfRole {
  const char* key;
  const char* heading;
  double RoleBytes::*member;
  int style;
  ChartHatch hatch;
};
constexpr BytesOfRole kRoles[] = {
    {"worker_sent", "workers send", &RoleBytes::worker_sent, 0,
     ChartHatch::kNone},
    {"worker_received", "workers receive", &RoleBytes::worker_received, 5,
     ChartHatch::kRising},
    {"ps_sent", "servers send", &RoleBytes::ps_sent, 1, ChartHatch::kNone},
    {"ps_received", "servers receive", &RoleBytes::ps_received, 4,
     ChartHatch::kFalling}};

// How a state is drawn. Its words are those of the verdicts.
struct StateOfStep {
  const char* key;
  int style;
  ChartHatch hatch;
};
// Work is plain, waiting is hatched.
constexpr StateOfStep kStates[] = {
    {"compute", 0, ChartHatch::kNone},
    {"prepare", 5, ChartHatch::kNone},
    {"send", 2, ChartHatch::kNone},
    {"wait_data", 4, ChartHatch::kDots},
    {"wait_lease", 7, ChartHatch::kUpright},
    {"wait_pull", 1, ChartHatch::kRising},
    {"wait_push", 4, ChartHatch::kFalling},
    {"wait_pace", 5, ChartHatch::kCrossed},
    {"wait_step", 3, ChartHatch::kFlat},
    {"wait_ring", 6, ChartHatch::kRising}};

// A state that takes less of a step is shown as 0.0 %.
constexpr double kLeastShare = .0005;

// The states that some cell has, in the order above; others after these.
std::vector<StateOfStep> StatesOf(const Comparison& comparison,
                                  std::vector<std::string>* others) {
  std::vector<StateOfStep> states;
  const auto is_there = [&](const std::string& key) {
    return std::any_of(comparison.cells.begin(), comparison.cells.end(),
                       [&](const Cell& cell) {
                         return StateShare(cell, key).value_or(0) >=
                                kLeastShare;
                       });
  };
  for (const StateOfStep& state : kStates) {
    if (is_there(state.key)) states.push_back(state);
  }
  for (const Cell& cell : comparison.cells) {
    for (const CellRun& run : cell.runs) {
      for (const auto& [key, share] : run.state_shares) {
        const bool known =
            std::any_of(std::begin(kStates), std::end(kStates),
                        [&, &name = key](const StateOfStep& state) {
                          return name == state.key;
                        }) ||
            std::find(others->begin(), others->end(), key) != others->end();
        if (!known && is_there(key)) others->push_back(key);
      }
    }
  }
  std::sort(others->begin(), others->end());
  for (const std::string& key : *others) {
    states.push_back({key.c_str(), 7, ChartHatch::kDots});
  }
  return states;
}

}  // namespace

std::string BytesSection(const Comparison& comparison) {
  BarPicture picture;
  picture.name = "bytes";
  picture.heading = "Bytes a sample";
  picture.title = "Payload bytes a sample";
  picture.words =
      "Payload bytes that all workers and all servers send and receive, "
      "divided "
      "by the samples that were trained: counted in the processes, beside what "
      "the formulas of the modes give (docs/benchmarking.md). Since every host "
      "trains as many samples, this is also what the processes of a host send "
      "and receive for each of its samples. What a worker and the server of "
      "its own host send each other is in it, and does not use the link.";
  picture.missing = "no run counted bytes";
  picture.chart.axis = {"bytes a sample"};
  picture.chart.mark_means = "formula";
  for (const BytesOfRole& role : kRoles) {
    picture.chart.keys.push_back({role.heading, role.style, role.hatch});
  }
  const auto measured = [](const Cell& cell, const BytesOfRole& role) {
    return PartSpread(cell, &CellRun::bytes_per_sample, role.member);
  };
  picture.bar = [&](const Cell& cell) -> std::optional<ChartBar> {
    const std::optional<FigureSpread> all = BytesOfSample(cell);
    if (!all.has_value()) return std::nullopt;
    ChartBar bar;
    int key = 0;
    for (const BytesOfRole& role : kRoles) {
      bar.parts.push_back({key++, MedianOr0(measured(cell, role))});
    }
    bar.text = FigureText(all->median);
    if (cell.formula.has_value()) {
      bar.mark = SumOf(*cell.formula);
      absl::StrAppend(&bar.text, " (formula ",
                      DifferenceText(all->median, *bar.mark), ")");
    }
    return bar;
  };
  for (const BytesOfRole& role : kRoles) {
    picture.columns.push_back(
        {role.key, role.heading, [role, measured](const Cell& cell) {
           const auto spread = measured(cell, role);
           return spread ? FigureText(spread->median) : "–";
         }});
    picture.columns.push_back(
        {absl::StrCat("formula_", role.key), "formula",
         [role](const Cell& cell) -> std::string {
           return cell.formula ? FigureText((*cell.formula).*role.member) : "–";
         }});
  }
  picture.columns.push_back(
      {"link_use", "link out used, %", [](const Cell& cell) -> std::string {
         const auto use = LinkUse(cell);
         return use ? absl::StrFormat("%.0f", 100 * use->median) : "–";
       }});
  picture.columns.push_back({"bytes", "all", [](const Cell& cell) {
                               return SpreadText(BytesOfSample(cell));
                             }});
  picture.columns.push_back({"bytes_difference", "all beside the formula",
                             [](const Cell& cell) -> std::string {
                               const auto all = BytesOfSample(cell);
                               return all && cell.formula
                                          ? DifferenceText(all->median,
                                                           SumOf(*cell.formula))
                                          : "–";
                             }});
  return DrawPicture(comparison, picture);
}

std::string StatesSection(const Comparison& comparison) {
  std::vector<std::string> others;
  const std::vector<StateOfStep> states = StatesOf(comparison, &others);
  BarPicture picture;
  picture.name = "states";
  picture.heading = "A step by states";
  picture.title = "Share of the workers' time";
  picture.words =
      "What the workers do with their time after the warm-up: the share of "
      "each state, mean of the runs. Work is plain, waiting is hatched. A "
      "state that takes .05 % of a step in no cell is left out.";
  picture.missing = "no run told the states of its workers";
  picture.chart.axis = {"share of the workers' time, %"};
  picture.chart.axis.most = 100;
  for (const StateOfStep& state : states) {
    const std::string words = StateWords(state.key);
    picture.chart.keys.push_back({words, state.style, state.hatch});
    picture.columns.push_back(
        {absl::StrCat("state_", state.key), absl::StrCat(words, ", %"),
         [key = std::string(state.key)](const Cell& cell) -> std::string {
           const std::optional<double> share = StateShare(cell, key);
           return share ? absl::StrFormat("%.1f", *share * 100) : "–";
         }});
  }
  picture.bar = [&](const Cell& cell) -> std::optional<ChartBar> {
    if (states.empty() || !StateShare(cell, states[0].key)) return std::nullopt;
    ChartBar bar;
    int key = 0;
    for (const StateOfStep& state : states) {
      const double share = *StateShare(cell, state.key) * 100;
      bar.parts.push_back({key++, share, absl::StrFormat("%.0f", share)});
    }
    return bar;
  };
  return DrawPicture(comparison, picture);
}

std::string StalenessSection(const Comparison& comparison) {
  BarPicture picture;
  picture.name = "staleness";
  picture.heading = "Staleness";
  picture.title = "Staleness of pushes";
  picture.words =
      "Staleness: how many pushes a server applied between the pull of a batch "
      "and the batch's own push. The bar is the mean, the mark is the value "
      "that 99 % of the pushes do not exceed. It is 0 where no server applies "
      "pushes, as in a ring.";
  picture.missing = "no computed cell has pushes with a staleness";
  picture.chart.axis = {"pushes between pull and push"};
  picture.chart.mark_means = "99th percentile";
  picture.chart.has_legend = false;
  picture.chart.keys = StylesOnly();
  const auto spread = [](const Cell& cell, double RunStaleness::*member) {
    return PartSpread(cell, &CellRun::staleness, member);
  };
  picture.bar = [=](const Cell& cell) -> std::optional<ChartBar> {
    const auto mean = spread(cell, &RunStaleness::mean);
    if (!mean.has_value()) return std::nullopt;
    ChartBar bar;
    bar.parts = {{ModeStyle(cell), mean->median}};
    bar.mark = MedianOr0(spread(cell, &RunStaleness::p99));
    bar.text =
        absl::StrCat("mean ", FigureText(mean->median), ", largest ",
                     FigureText(MedianOr0(spread(cell, &RunStaleness::max))));
    return bar;
  };
  for (const auto& [key, heading, member] :
       {std::tuple("mean", "mean", &RunStaleness::mean),
        {"p50", "median", &RunStaleness::p50},
        {"p99", "99th percentile", &RunStaleness::p99},
        {"max", "largest", &RunStaleness::max}}) {
    picture.columns.push_back({absl::StrCat("staleness_", key), heading,
                               [spread, of = member](const Cell& cell) {
                                 return SpreadText(spread(cell, of));
                               }});
  }
  return DrawPicture(comparison, picture);
}

std::string CpuSection(const Comparison& comparison) {
  BarPicture picture;
  picture.name = "cpu";
  picture.heading = "Processor time of workers and servers";
  picture.title = "Processor time a sample";
  picture.words =
      "Processor seconds of all workers and of all servers, divided by the "
      "samples. Busy cores of a host = processor time a sample × samples/s ÷ "
      "hosts. A replay computes nothing, so it has no such figures.";
  picture.missing = "no computed cell has figures of its processor time";
  picture.chart.axis = {"microseconds of processor time a sample"};
  picture.chart.keys = {{"workers", 0}, {"servers", 4, ChartHatch::kFalling}};
  const auto part = [](const Cell& cell, double RoleFigures::*role) {
    return PartSpread(cell, &CellRun::cpu_seconds_per_sample, role);
  };
  picture.bar = [=](const Cell& cell) -> std::optional<ChartBar> {
    const auto worker = part(cell, &RoleFigures::worker);
    if (!worker.has_value()) return std::nullopt;
    ChartBar bar;
    bar.parts = {{0, worker->median * 1e6},
                 {1, MedianOr0(part(cell, &RoleFigures::ps)) * 1e6}};
    const std::optional<FigureSpread> busy = BusyCoresOfHost(cell);
    if (busy.has_value()) {
      bar.text = absl::StrFormat("busy cores: %.2f", busy->median);
      if (cell.cores_per_host > 0) {
        absl::StrAppend(&bar.text, " of ", SettingText(cell.cores_per_host));
      }
    }
    return bar;
  };
  picture.columns = {
      {"cpu_worker", "workers, µs a sample",
       [=](const Cell& c) {
         return SpreadText(part(c, &RoleFigures::worker), 1e6);
       }},
      {"cpu_ps", "servers, µs a sample",
       [=](const Cell& c) {
         return SpreadText(part(c, &RoleFigures::ps), 1e6);
       }},
      {"busy_cores", "busy cores of a host",
       [](const Cell& c) { return SpreadText(BusyCoresOfHost(c)); }},
      {"cores_per_host", "cores of a host",
       [](const Cell& c) {
         return c.cores_per_host > 0 ? SettingText(c.cores_per_host)
                                     : std::string("not known");
       }}};
  return DrawPicture(comparison, picture);
}

std::string MemorySection(const Comparison& comparison) {
  BarPicture picture;
  picture.name = "memory";
  picture.heading = "Memory of a host";
  picture.title = "Memory of a host";
  picture.words =
      "Largest resident set of a worker and of a server, in MB (10⁶ bytes); a "
      "host with both needs their sum.";
  picture.missing = "no run told its memory";
  picture.chart.axis = {"MB"};
  picture.chart.keys = {{"worker", 0}, {"server", 4, ChartHatch::kFalling}};
  const auto part = [](const Cell& cell, double RoleFigures::*role) {
    return PartSpread(cell, &CellRun::peak_rss_bytes, role);
  };
  picture.bar = [=](const Cell& cell) -> std::optional<ChartBar> {
    const std::optional<FigureSpread> all = MemoryOfHost(cell);
    if (!all.has_value()) return std::nullopt;
    ChartBar bar;
    bar.parts = {{0, MedianOr0(part(cell, &RoleFigures::worker)) / 1e6},
                 {1, MedianOr0(part(cell, &RoleFigures::ps)) / 1e6}};
    bar.text = absl::StrCat(FigureText(all->median / 1e6), " MB");
    return bar;
  };
  picture.columns = {
      {"rss_worker", "worker, MB",
       [=](const Cell& c) {
         return SpreadText(part(c, &RoleFigures::worker), 1e-6);
       }},
      {"rss_ps", "server, MB",
       [=](const Cell& c) {
         return SpreadText(part(c, &RoleFigures::ps), 1e-6);
       }},
      {"rss_host", "a host, MB",
       [](const Cell& c) { return SpreadText(MemoryOfHost(c), 1e-6); }},
      {"balance", "largest shard ÷ mean (with --cell_time=0)",
       [](const Cell& c) {
         return SpreadText(PartSpread(c, &CellRun::balance,
                                      &RunBalance::max_over_mean_bytes));
       }}};
  return DrawPicture(comparison, picture);
}

}  // namespace shoal
