#include "bench/compare/report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/text_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// Pages are long, so a failure does not print them.
void ExpectHas(const std::string& page, const std::string& text) {
  EXPECT_TRUE(absl::StrContains(page, text)) << "the page lacks " << text;
}
void ExpectLacks(const std::string& page, const std::string& text) {
  EXPECT_FALSE(absl::StrContains(page, text)) << "the page has " << text;
}

// A row of a table as a program reads it back from the page.
struct ReadRow {
  std::string table;
  std::string row;
  bool grey = false;
  std::map<std::string, std::string> figures;  // texts by data-figure
};

std::string Unescaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&lt;", "<"},
                                    {"&gt;", ">"},
                                    {"&quot;", "\""},
                                    {"&#39;", "'"},
                                    {"&amp;", "&"}});
}

std::vector<ReadRow> ReadTables(const std::string& html) {
  static const std::regex kTable("<table data-table=\"(\\w+)\">");
  static const std::regex kRow(
      "<tr data-row=\"([^\"]*)\"( class=\"[^\"]*\")?>");
  static const std::regex kFigure(
      "<td data-figure=\"([^\"]+)\"[^>]*>([^<]*)</td>");
  std::vector<ReadRow> rows;
  std::string table;
  for (const absl::string_view view : absl::StrSplit(html, '\n')) {
    const std::string line(view);
    std::smatch match;
    if (std::regex_search(line, match, kTable)) table = match[1];
    if (!std::regex_search(line, match, kRow)) continue;
    ReadRow row = {table, Unescaped(match[1]), match[2].matched, {}};
    for (auto cell = std::sregex_iterator(line.begin(), line.end(), kFigure);
         cell != std::sregex_iterator(); ++cell) {
      row.figures[(*cell)[1]] = Unescaped((*cell)[2]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// A number of the page, and half of its last digit.
struct ReadNumber {
  double value = 0;
  double half = 0;
};

ReadNumber ReadOne(std::string text) {
  text = absl::StrReplaceAll(text, {{",", ""}, {" %", ""}});
  ReadNumber number;
  EXPECT_TRUE(absl::SimpleAtod(text, &number.value)) << text;
  const size_t e = text.find('e');
  const std::string digits = text.substr(0, e);
  const size_t point = digits.find('.');
  const int decimals = point == std::string::npos
                           ? 0
                           : static_cast<int>(digits.size() - point) - 1;
  const int power = e == std::string::npos ? 0 : std::stoi(text.substr(e + 1));
  number.half = .5000001 * std::pow(10, power - decimals);
  return number;
}

void ExpectReads(const std::string& text, double value) {
  const ReadNumber number = ReadOne(text);
  EXPECT_NEAR(number.value, value, number.half + std::abs(value) * 1e-12)
      << text;
}

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
          rows.at(absl::StrCat("runs ", cell.name, "#", run.repeat)).figures;
      if (!run.ok) {
        EXPECT_EQ(row.at("ok"), run.error);
        EXPECT_EQ(row.at("samples_per_second"), "–");
        continue;
      }
      EXPECT_EQ(row.at("ok"), "well");
      ExpectReads(row.at("seconds"), run.seconds);
      ExpectReads(row.at("samples_per_second"), *run.samples_per_second);
      ExpectReads(row.at("step_p99"), run.step_seconds->p99 * 1e3);
      ExpectReads(row.at("others_cores"), run.others_cores);
      if (run.auc) ExpectReads(row.at("auc"), *run.auc);
      EXPECT_EQ(row.at("auc") == "–", !run.auc.has_value());
      if (!run.link_expected) continue;
      ExpectReads(row.at("link"), *run.link_bits_per_second / 1e6);
      ExpectReads(row.at("link_expected"), *run.link_expected / 1e6);
    }
  }
  for (const CollectivePoint& point : comparison.collective) {
    const auto& row =
        rows.at(absl::StrCat("collective ", point.ranks, "_", point.bytes))
            .figures;
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

TEST(CompareReportTest, VerdictsStandBeforePicturesAndTheirRulesArePrinted) {
  const Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  size_t at = 0;
  for (const ModeVerdict& verdict : comparison.verdicts) {
    at = html.find(verdict.text, at);
    ASSERT_NE(at, std::string::npos) << verdict.text;
  }
  const size_t rule = html.find(comparison.verdicts[0].rule);
  EXPECT_LT(at, rule);
  EXPECT_LT(rule, html.find("<svg"));
  EXPECT_EQ(html.find(comparison.verdicts[0].rule, rule + 1),
            std::string::npos);
  for (const std::string& what : comparison.not_played) {
    ExpectHas(html, what);
  }
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
  ExpectHas(ReportHtml(comparison), "stopped before its end");
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
  }
  ExpectLacks(ReportHtml(comparison), "<script");
}

TEST(CompareReportTest, TheArticlesTableIsFilledByTheTimeOnTheLink) {
  const Comparison comparison = MadeComparison::Make();
  std::map<std::string, std::string> time, won;
  for (const ReadRow& row : ReadTables(ReportHtml(comparison))) {
    if (row.table != "articles") continue;
    time[row.row] = row.figures.at("time");
    won[row.row] = row.figures.at("won");
    const double link = ReadOne(row.figures.at("link")).value;
    const double compute = ReadOne(row.figures.at("compute")).value;
    EXPECT_EQ(row.figures.at("time"), link > compute ? "long" : "short");
  }
  // Half of 2,600 + 2,470 bytes leave a host of two, 8 bits each, at 1 Gbit/s:
  // 20 µs; the worker computes for 26 µs.
  EXPECT_EQ(time.at("B_1024_1gbit_2"), "short");
  EXPECT_EQ(time.at("B_1024_1gbit_8"), "long");
  EXPECT_EQ(won.at("A_1024_10gbit_4"), "no best mode");
  EXPECT_EQ(won.at("A_1024_1gbit_8"), "async");
  EXPECT_EQ(time.size(), 10);
}

TEST(CompareReportTest, IsWrittenWholeAndErrorsNameThePath) {
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const std::string path = absl::StrCat(testing::TempDir(), "report.html");
  ASSERT_TRUE(WriteReport(MadeComparison::Make(), *files, path).ok());
  const auto text = ReadTextFile(*files, path);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(*text == ReportHtml(MadeComparison::Make()));
  const absl::Status failed =
      WriteReport(MadeComparison::Make(), path + "/no/report.html");
  EXPECT_FALSE(failed.ok());
  EXPECT_THAT(std::string(failed.message()), HasSubstr("report.html"));
}

}  // namespace
}  // namespace shoal
