#include "bench/compare/report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/text_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"
#include "tests/bench/compare/read_report.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// The reader's own arithmetic: that of the report is what is tested.
using OfRun = std::function<std::optional<double>(const CellRun&)>;

std::vector<double> ValuesOf(const Cell& cell, const OfRun& figure) {
  std::vector<double> values;
  for (const CellRun& run : cell.runs) {
    if (run.ok && figure(run).has_value()) values.push_back(*figure(run));
  }
  std::sort(values.begin(), values.end());
  return values;
}

double MedianOf(const std::vector<double>& values) {
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void ExpectSpread(const std::string& text, const Cell& cell, const OfRun& of) {
  const std::vector<double> values = ValuesOf(cell, of);
  if (values.empty()) {
    EXPECT_EQ(text, "–");
    return;
  }
  const std::vector<std::string> parts = absl::StrSplit(
      absl::StrReplaceAll(text, {{" (", "|"}, {" to ", "|"}, {")", ""}}), '|');
  ASSERT_TRUE(parts.size() == 1 || parts.size() == 3) << text;
  ExpectReads(parts[0], MedianOf(values));
  ExpectReads(parts.size() == 1 ? parts[0] : parts[1], values.front());
  ExpectReads(parts.size() == 1 ? parts[0] : parts[2], values.back());
}

const OfRun kRate = [](const CellRun& run) { return run.samples_per_second; };

// The figures of a run by the keys of columns, in the columns' units.
std::map<std::string, OfRun> RunFigures(const Comparison& comparison,
                                        const Cell& cell) {
  std::map<std::string, OfRun> of = {{"samples_per_second", kRate}};
  of["epoch_seconds"] = [](const CellRun& r) { return r.epoch_seconds; };
  of["auc"] = [](const CellRun& r) { return r.auc; };
  of["logloss"] = [](const CellRun& r) { return r.logloss; };
  of["seconds_to_target"] = [](const CellRun& r) {
    return r.seconds_to_target;
  };
  of["cost"] = [&](const CellRun& r) -> std::optional<double> {
    if (!r.seconds_to_target) return {};
    return *comparison.price_per_host_hour * cell.hosts * *r.seconds_to_target /
           3600;
  };
  of["epoch_cost"] = [&](const CellRun& r) -> std::optional<double> {
    if (!r.epoch_seconds) return {};
    return *comparison.price_per_host_hour * cell.hosts * *r.epoch_seconds /
           3600;
  };
  of["curve_auc"] = [](const CellRun& r) -> std::optional<double> {
    if (r.curve.empty()) return {};
    return r.curve.back().auc;
  };
  const auto part = [&](const std::string& key, auto member, auto figure,
                        double scale) {
    of[key] = [=](const CellRun& r) -> std::optional<double> {
      if (!(r.*member).has_value()) return {};
      return (*(r.*member)).*figure * scale;
    };
  };
  part("step_p50", &CellRun::step_seconds, &RunSteps::p50, 1e3);
  part("staleness_mean", &CellRun::staleness, &RunStaleness::mean, 1);
  part("staleness_p50", &CellRun::staleness, &RunStaleness::p50, 1);
  part("staleness_p99", &CellRun::staleness, &RunStaleness::p99, 1);
  part("staleness_max", &CellRun::staleness, &RunStaleness::max, 1);
  const auto cpu = &CellRun::cpu_seconds_per_sample;
  part("cpu_worker", cpu, &RoleFigures::worker, 1e6);
  part("cpu_ps", cpu, &RoleFigures::ps, 1e6);
  of["busy_cores"] = [&](const CellRun& r) -> std::optional<double> {
    if (!r.cpu_seconds_per_sample) return {};
    return (r.cpu_seconds_per_sample->worker + r.cpu_seconds_per_sample->ps) *
           *r.samples_per_second / cell.hosts;
  };
  part("rss_worker", &CellRun::peak_rss_bytes, &RoleFigures::worker, 1e-6);
  part("rss_ps", &CellRun::peak_rss_bytes, &RoleFigures::ps, 1e-6);
  of["rss_host"] = [](const CellRun& r) -> std::optional<double> {
    if (!r.peak_rss_bytes) return {};
    return (r.peak_rss_bytes->worker + r.peak_rss_bytes->ps) / 1e6;
  };
  part("balance", &CellRun::balance, &RunBalance::max_over_mean_bytes, 1);
  of["bytes"] = [](const CellRun& r) -> std::optional<double> {
    if (!r.bytes_per_sample) return {};
    const RoleBytes& b = *r.bytes_per_sample;
    return b.worker_sent + b.worker_received + b.ps_sent + b.ps_received;
  };
  return of;
}

const std::map<std::string, double RoleBytes::*> kRoleBytes = {
    {"worker_sent", &RoleBytes::worker_sent},
    {"worker_received", &RoleBytes::worker_received},
    {"ps_sent", &RoleBytes::ps_sent},
    {"ps_received", &RoleBytes::ps_received}};

const Cell* FindCell(const Comparison& comparison,
                     const std::function<bool(const Cell&)>& is) {
  for (const Cell& cell : comparison.cells) {
    if (is(cell)) return &cell;
  }
  return nullptr;
}

double RateOf(const Cell& cell) { return MedianOf(ValuesOf(cell, kRate)); }

class ReadBack {
 public:
  explicit ReadBack(const Comparison& comparison) : comparison_(comparison) {}

  // Expects each figure of a row of a table of cells to be the comparison's.
  void Check(const ReadRow& row) {
    const Cell* found = FindCell(
        comparison_, [&](const Cell& cell) { return cell.name == row.row; });
    ASSERT_NE(found, nullptr) << row.row;
    const std::map<std::string, OfRun> of_run = RunFigures(comparison_, *found);
    for (const auto& [key, text] : row.figures) {
      SCOPED_TRACE(absl::StrCat(row.table, " ", row.row, " ", key));
      const auto spread = of_run.find(key);
      if (spread != of_run.end()) {
        ExpectSpread(text, *found, spread->second);
        ++numbers;
      } else {
        CheckOther(*found, key, text);
      }
    }
  }

  int numbers = 0;

 private:
  void CheckOther(const Cell& cell, const std::string& key,
                  const std::string& text) {
    if (key == "mode") {
      EXPECT_THAT(text, HasSubstr(cell.mode));
    } else if (key == "hosts") {
      ExpectReads(text, cell.hosts);
    } else if (key == "batch_size") {
      ExpectReads(text, cell.batch_size);
    } else if (key == "global_batch") {
      ExpectReads(text, cell.global_batch);
    } else if (key == "compute") {
      EXPECT_EQ(text, cell.compute);
    } else if (key == "grey") {
      EXPECT_EQ(text, absl::StrCat("out of verdicts: ", cell.grey));
    } else if (key == "learning_rate") {
      ExpectReads(text, cell.learning_rate);
    } else if (key == "dilation") {
      ExpectReads(text, cell.dilation);
    } else if (key == "link_use" && LinkUse(cell).has_value()) {
      ExpectReads(text, 100 * LinkUse(cell)->median);
    } else if (key == "link_use") {
      EXPECT_EQ(text, "–");
    } else if (key == "cores_per_host") {
      ExpectReads(text, cell.cores_per_host);
    } else if (key == "efficiency") {
      const Cell* one = FindCell(comparison_, [&](const Cell& other) {
        return other.model == cell.model && other.mode == cell.mode &&
               other.compute == cell.compute && other.hosts == 1;
      });
      if (one == nullptr) {
        EXPECT_EQ(text, "–");
      } else {
        ExpectReads(text, RateOf(cell) / (cell.hosts * RateOf(*one)));
      }
    } else if (key == "without" || key == "ratio") {
      const Cell* twin = FindCell(comparison_, [&](const Cell& other) {
        return other.model == cell.model && other.mode == cell.mode &&
               other.hosts == cell.hosts && other.network == cell.network &&
               other.backup_workers == cell.backup_workers &&
               !other.straggler.has_value();
      });
      ASSERT_NE(twin, nullptr);
      if (key == "without") {
        ExpectSpread(text, *twin, kRate);
      } else {
        ExpectReads(text, RateOf(cell) / RateOf(*twin));
      }
    } else if (key == "reached") {
      const auto reached =
          ValuesOf(cell, [](const CellRun& r) { return r.seconds_to_target; });
      EXPECT_EQ(text, absl::StrCat(reached.size(), " of ",
                                   ValuesOf(cell, kRate).size()));
    } else if (key == "bytes_difference") {
      const RoleBytes& b = *cell.formula;
      const double formula =
          b.worker_sent + b.worker_received + b.ps_sent + b.ps_received;
      const double bytes =
          MedianOf(ValuesOf(cell, RunFigures(comparison_, cell).at("bytes")));
      if (formula > 0) ExpectReads(text, (bytes / formula - 1) * 100);
    } else if (key.substr(0, 6) == "state_") {
      double sum = 0, runs = 0;
      for (const CellRun& run : cell.runs) {
        if (!run.ok) continue;
        ++runs;
        const auto share = run.state_shares.find(key.substr(6));
        if (share != run.state_shares.end()) sum += share->second;
      }
      ExpectReads(text, sum / runs * 100);
    } else if (kRoleBytes.count(key) > 0) {
      const auto member = kRoleBytes.at(key);
      ExpectReads(text, MedianOf(ValuesOf(cell, [&](const CellRun& r) {
                    return std::optional<double>((*r.bytes_per_sample).*member);
                  })));
    } else if (key.substr(0, 8) == "formula_") {
      ExpectReads(text, (*cell.formula).*kRoleBytes.at(key.substr(8)));
    } else {
      ADD_FAILURE() << "a figure that no test knows";
      return;
    }
    ++numbers;
  }

  const Comparison& comparison_;
};

const std::set<std::string> kCellTables = {"speed",     "straggler", "auc",
                                           "target",    "bytes",     "states",
                                           "staleness", "cpu",       "memory"};

// Pictures that stand beside another one.
int PairsOf(const std::string& html) {
  int pairs = 0;
  size_t at = 0;
  while ((at = html.find("<div class=\"pair\">", at)) != std::string::npos) {
    ++pairs;
    ++at;
  }
  return pairs;
}

TEST(CompareReportTest, TheFiguresOfTheTablesAreThoseOfTheJson) {
  const auto comparison =
      ParseComparison(ComparisonJson(MadeComparison::Make()));
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ReadBack back(*comparison);
  std::set<std::string> tables, cells;
  for (const ReadRow& row : ReadTables(ReportHtml(*comparison))) {
    tables.insert(row.table);
    if (kCellTables.count(row.table) == 0) continue;
    if (row.table == "speed" || row.table == "straggler") cells.insert(row.row);
    back.Check(row);
  }
  for (const std::string& table : kCellTables) {
    EXPECT_EQ(tables.count(table), 1) << table;
  }
  EXPECT_EQ(cells.size(), comparison->cells.size());
  EXPECT_GT(back.numbers, 5000);
}

// The words at a point, which the mouse shows.
TEST(CompareReportTest, ThePointsOfThePictureAreThoseOfTheJson) {
  const Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  static const std::regex kTip("<title>([^:<]+): ([^<;]+) samples/s");
  std::map<std::string, std::string> points;
  for (auto tip = std::sregex_iterator(html.begin(), html.end(), kTip);
       tip != std::sregex_iterator(); ++tip) {
    points[(*tip)[1]] = (*tip)[2];
  }
  int cells = 0;
  for (const Cell& cell : comparison.cells) {
    const OfRun speed = [](const CellRun& run) {
      return run.samples_per_second;
    };
    if (cell.straggler.has_value() || ValuesOf(cell, speed).empty()) continue;
    ++cells;
    ExpectSpread(points[cell.name], cell, speed);
  }
  EXPECT_GT(cells, 50);
}

// Beside a point stands its efficiency, which the table below it has too.
TEST(CompareReportTest, EfficienciesInThePicturesAreThoseOfTheTables) {
  const Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  const size_t begin = html.find("<section id=\"speed\">");
  const size_t end = html.find("</section>", begin);
  ASSERT_LT(begin, end);
  const std::string section = html.substr(begin, end - begin);
  static const std::regex kLabel(">([0-9]+\\.[0-9]{2})(  [^<]*)?</text>");
  std::multiset<std::string> labels, figures;
  for (auto label =
           std::sregex_iterator(section.begin(), section.end(), kLabel);
       label != std::sregex_iterator(); ++label) {
    labels.insert((*label)[1]);
  }
  for (const ReadRow& row : ReadTables(section)) {
    if (row.figures.count("efficiency") == 0) continue;  // why a cell is grey
    const Cell* const cell = FindCell(
        comparison, [&](const Cell& one) { return one.name == row.row; });
    ASSERT_NE(cell, nullptr) << row.row;
    const std::string& efficiency = row.figures.at("efficiency");
    if (cell->hosts > 1 && efficiency != "–") figures.insert(efficiency);
  }
  EXPECT_GT(figures.size(), 30u);
  EXPECT_EQ(labels, figures);
}

TEST(CompareReportTest, EveryRunAndEveryAllReduceStandsInATable) {
  const Comparison comparison = MadeComparison::Make();
  std::map<std::string, ReadRow> rows;
  for (const ReadRow& row : ReadTables(ReportHtml(comparison))) {
    rows[absl::StrCat(row.table, " ", row.row)] = row;
  }
  for (const Cell& cell : comparison.cells) {
    for (const CellRun& run : cell.runs) {
      SCOPED_TRACE(absl::StrCat(cell.name, " ", run.repeat));
      const auto& row =
          rows.at(absl::StrCat("runs ", cell.name, "#", run.repeat + 1))
              .figures;
      // As in the name of the run's file.
      EXPECT_EQ(row.at("repeat"), absl::StrCat(run.repeat + 1));
      if (!run.ok) {
        EXPECT_EQ(row.at("ok"), run.error);
        EXPECT_EQ(row.at("samples_per_second"), "–");
        continue;
      }
      EXPECT_EQ(row.at("ok"), "well");
      EXPECT_EQ(row.at("compute"), cell.compute);
      ExpectReads(row.at("dilation"), cell.dilation);
      ExpectReads(row.at("seconds"), run.seconds);
      ExpectReads(row.at("samples_per_second"), *run.samples_per_second);
      ExpectReads(row.at("step_p99"), run.step_seconds->p99 * 1e3);
      ExpectReads(row.at("others_cores"), run.others_cores);
      ExpectReads(row.at("paused_speed"), run.paused_speed);
      if (run.auc) ExpectReads(row.at("auc"), *run.auc);
      EXPECT_EQ(row.at("auc") == "–", !run.auc.has_value());
      if (!run.link_expected) continue;
      ExpectReads(row.at("link"), *run.link_bits_per_second / 1e6);
      ExpectReads(row.at("link_expected"), *run.link_expected / 1e6);
    }
  }
  for (const CollectivePoint& point : comparison.collective) {
    const auto& row =
        rows.at(absl::StrCat("collective ", point.network, "_", point.ranks,
                             "_", point.bytes))
            .figures;
    EXPECT_EQ(row.at("network"), point.network);
    ExpectReads(row.at("ranks"), point.ranks);
    ExpectReads(row.at("bytes"), static_cast<double>(point.bytes));
    ExpectReads(row.at("seconds"), point.seconds * 1e6);
    ExpectReads(row.at("bus_rate"), 2e-9 * (point.ranks - 1) / point.ranks *
                                        static_cast<double>(point.bytes) /
                                        point.seconds);
  }
}

TEST(CompareReportTest, GreyCellsAreGreyWithTheirReason) {
  const Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  std::set<std::string> grey, reasons;
  for (const ReadRow& row : ReadTables(html)) {
    if (row.table != "speed") continue;
    if (row.grey && row.figures.count("mode") > 0) grey.insert(row.row);
    if (row.figures.count("grey") > 0) reasons.insert(row.row);
  }
  EXPECT_THAT(grey, testing::UnorderedElementsAre("A_sync_h8_b1024_1gbit",
                                                  "A_hybrid_h4_b1024_10gbit"));
  EXPECT_EQ(reasons, grey);
  ExpectHas(html, ">out of verdicts</text>");

  Comparison none = comparison;
  for (Cell& cell : none.cells) cell.grey.clear();
  ExpectLacks(ReportHtml(none), ">out of verdicts</text>");
}

TEST(CompareReportTest, ReplayedCellsAreMarkedAndHaveNoAuc) {
  const Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  ExpectHas(html, ">replayed</text>");
  for (const ReadRow& row : ReadTables(html)) {
    if (row.row.find("replayed") == std::string::npos) continue;
    EXPECT_NE(row.table, "auc");
    EXPECT_NE(row.table, "target");
    EXPECT_NE(row.table, "cpu");
    if (row.table == "speed") {
      EXPECT_EQ(row.figures.at("compute"), "replayed");
    }
  }
}

TEST(CompareReportTest, ReplayedCellsHaveAnEfficiencyOfTheirOwn) {
  std::map<std::string, std::string> efficiency;
  for (const ReadRow& row : ReadTables(ReportHtml(MadeComparison::Make()))) {
    if (row.table == "speed" && row.figures.count("efficiency") > 0) {
      efficiency[row.row] = row.figures.at("efficiency");
    }
  }
  EXPECT_EQ(efficiency.at("A_async_h1_b1024_none_replayed"), "1.00");
  EXPECT_NE(efficiency.at("A_async_h16_b1024_1gbit_replayed"), "–");
}

TEST(CompareReportTest, LoopbackSaysThatItTellsNothingOfNetworks) {
  Comparison comparison = MadeComparison::Make();
  ExpectLacks(ReportHtml(comparison), "tells nothing of networks");
  ExpectHas(ReportHtml(comparison), "8.889 times slower");
  comparison.where = "loopback";
  ExpectHas(ReportHtml(comparison), "tells nothing of networks");
  comparison.where = "hosts";
  ExpectLacks(ReportHtml(comparison), "tells nothing of networks");
  ExpectHas(ReportHtml(comparison), "a real machine");
}

TEST(CompareReportTest, AStoppedComparisonSaysSo) {
  Comparison comparison = MadeComparison::Make();
  ExpectLacks(ReportHtml(comparison), "stopped before its end");
  comparison.ended.clear();
  ExpectHas(ReportHtml(comparison),
            "stopped before its end: each cell has its runs, but what follows "
            "them is missing");
  comparison.cells[1].runs.pop_back();
  ExpectHas(ReportHtml(comparison),
            "stopped before its end: 1 run is missing. The same command goes");
}

TEST(CompareReportTest, APictureWithoutDataSaysWhy) {
  Comparison comparison = MadeComparison::Make();
  comparison.target_auc.reset();
  comparison.collective.clear();
  std::vector<Cell> cells;
  for (const Cell& cell : comparison.cells) {
    if (cell.replayed()) cells.push_back(cell);
  }
  comparison.cells = cells;
  const std::string html = ReportHtml(comparison);
  for (const char* why : {"no target was given (--target_auc)",
                          "all cells were replayed, and a replay has no AUC",
                          "no AllReduce was measured by itself",
                          "no cell had a slow host (--straggler=HOST:SHARE)",
                          "no computed cell has figures of its processor time",
                          "no computed cell has pushes with a staleness"}) {
    ExpectHas(html, absl::StrCat("There is no picture here: ", why, "."));
  }
  ExpectHas(html, "Payload bytes a sample: model A");
}

TEST(CompareReportTest, AllReduceHasALineForEachNetworkAndNumberOfRanks) {
  Comparison comparison = MadeComparison::Make();
  std::string html = ReportHtml(comparison);
  for (const char* line : {"2 ranks, 1gbit", "8 ranks, 1gbit",
                           "2 ranks, 10gbit", "8 ranks, 10gbit",
                           "Latency is not played",
                           "AllReduce of 16 hosts over 1gbit was not measured: "
                           "rank 3 exited with code 1."}) {
    ExpectHas(html, line);
  }
  comparison.where = "loopback";
  for (CollectivePoint& point : comparison.collective) point.network = "none";
  html = ReportHtml(comparison);
  ExpectHas(html, ">4 ranks<");
  ExpectHas(html, "that of its processor and memory");
  // Why there is no picture stands there too.
  comparison.collective.clear();
  html = ReportHtml(comparison);
  ExpectHas(html, "no AllReduce was measured by itself");
  ExpectHas(html, "rank 3 exited with code 1.");
}

TEST(CompareReportTest, AComparisonWithoutCellsIsAPage) {
  const std::string html = ReportHtml(Comparison());
  ExpectHas(html, "Nothing was measured.");
  ExpectHas(html, "There is no verdict");
  ExpectHas(html, "</html>");
  ExpectLacks(html, "<svg");
}

TEST(CompareReportTest, CellsWithoutAGoodRunAreNamedWithTheirError) {
  Comparison comparison = MadeComparison::Make();
  for (Cell& cell : comparison.cells) {
    for (CellRun& run : cell.runs) {
      run = CellRun();
      run.error = "host h3 cannot be reached";
    }
  }
  comparison.collective.clear();
  const std::string html = ReportHtml(comparison);
  ExpectHas(html, "no run ended well: host h3 cannot be reached");
  ExpectLacks(html, "<svg");
}

TEST(CompareReportTest, ThePageNeedsNothingElse) {
  std::string html = ReportHtml(MadeComparison::Make());
  for (const char* outside : {"<script", "<link", "<img", "@import", "src="}) {
    ExpectLacks(html, outside);
  }
  html = absl::StrReplaceAll(html, {{"http://www.w3.org/2000/svg", ""}});
  ExpectLacks(html, "http");
}

TEST(CompareReportTest, EachPictureHasItsTableBelow) {
  const std::string html = ReportHtml(MadeComparison::Make());
  int pictures = 0;
  size_t begin = 0;
  while ((begin = html.find("<figure>", begin)) != std::string::npos) {
    const std::string figure =
        html.substr(begin, html.find("</figure>", begin) - begin);
    begin += figure.size();
    const size_t svg = figure.rfind("</svg>");
    if (svg == std::string::npos) continue;  // a table alone
    ++pictures;
    EXPECT_NE(figure.find("<table", svg), std::string::npos)
        << figure.substr(0, 200);
  }
  EXPECT_GT(pictures, 30);
  // And there is no picture elsewhere.
  static const std::regex kPicture("<svg");
  const auto begin_svg =
      std::sregex_iterator(html.begin(), html.end(), kPicture);
  EXPECT_EQ(std::distance(begin_svg, std::sregex_iterator()),
            pictures + PairsOf(html));
}

TEST(CompareReportTest, PartsOfThePageHaveDifferentIds) {
  const std::string html = ReportHtml(MadeComparison::Make());
  static const std::regex kId(" id=\"([^\"]+)\"");
  std::set<std::string> ids;
  for (auto match = std::sregex_iterator(html.begin(), html.end(), kId);
       match != std::sregex_iterator(); ++match) {
    EXPECT_TRUE(ids.insert((*match)[1]).second) << (*match)[1];
  }
  static const std::regex kUse("(?:url\\(#|href=\"#)([^\")]+)");
  for (auto match = std::sregex_iterator(html.begin(), html.end(), kUse);
       match != std::sregex_iterator(); ++match) {
    EXPECT_EQ(ids.count((*match)[1]), 1) << (*match)[1];
  }
}

TEST(CompareReportTest, TextOfAFileIsEscaped) {
  Comparison comparison = MadeComparison::Make();
  const std::string bad = "<script>&\"'";
  comparison.command = comparison.cpu = comparison.version = bad;
  comparison.started = comparison.ended = bad;
  comparison.not_played = {bad};
  comparison.models[bad].flags[bad] = bad;
  for (Cell& cell : comparison.cells) {
    cell.name += bad;
    cell.model = cell.network = cell.mode = cell.compute = bad;
    cell.grey = bad;
    for (CellRun& run : cell.runs) run.state_shares[bad] = .1;
    cell.runs[0].ok = false;
    cell.runs[0].error = bad;
  }
  for (ModeVerdict& verdict : comparison.verdicts) {
    verdict.best = verdict.text = verdict.rule = bad;
    verdict.model = verdict.network = bad;
    verdict.turn = verdict.no_turn = bad;
  }
  ExpectLacks(ReportHtml(comparison), "<script");
}

TEST(CompareReportTest, IsWrittenWholeAndErrorsNameThePath) {
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const std::string path = absl::StrCat(testing::TempDir(), "report.html");
  ASSERT_TRUE(WriteReport(MadeComparison::Make(), *files, path).ok());
  const auto text = ReadTextFile(*files, path);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(*text == ReportHtml(MadeComparison::Make()));
  const absl::Status failed =
      WriteReport(MadeComparison::Make(), *files, path + "/no/report.html");
  EXPECT_FALSE(failed.ok());
  EXPECT_THAT(std::string(failed.message()), HasSubstr("report.html"));
}

}  // namespace
}  // namespace shoal
