#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/compare/report.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"
#include "tests/bench/compare/read_report.h"

namespace shoal {
namespace {

TEST(ReportRunsTest, SaysHowMuchPausesSlowedHostsDown) {
  Comparison comparison = MadeComparison::Make();
  ExpectLacks(ReportHtml(comparison), "is paused most of the time");
  for (Cell& cell : comparison.cells) cell.dilation = 1;
  std::vector<CellRun>& first = comparison.cells[1].runs;
  std::vector<CellRun>& second = comparison.cells[2].runs;
  ASSERT_EQ(first.size(), 3u);
  ASSERT_EQ(second.size(), 3u);
  comparison.cells[1].dilation = comparison.cells[2].dilation = 8;
  first[0].paused_speed = .625;
  second[0].paused_speed = .75;
  second[1].paused_speed = .8125;
  std::string html = ReportHtml(comparison);
  ExpectHas(html,
            "it had 0.75 of its speed (0.62 to 0.81, its paused speed). The "
            "hosts of a run got 1 / paused speed times the processor time");
  ExpectHas(html, "In 3 runs hosts got no more");
  ExpectLacks(html, "too slow");
  first[1].paused_speed = first[2].paused_speed = second[2].paused_speed = .75;
  // Hosts that have .72 of the cores can have 1.25 times as much.
  Cell& full = comparison.cells[2];
  full.dilation = full.hosts * full.cores_per_host / comparison.cores / .72;
  html = ReportHtml(comparison);
  ExpectLacks(html, "hosts got no more");
  ExpectHas(html, "their hosts were up to 6 % too slow");
  // What could not be measured is a guess, and no measurement.
  first[1].paused_speed = .125;
  first[1].paused_speed_known = false;
  html = ReportHtml(comparison);
  ExpectHas(html, "(0.62 to 0.81, its paused speed)");
  ExpectLacks(html, "hosts got no more");
}

TEST(ReportRunsTest, SaysOfWhichModesAndHostsTheDilationWasChecked) {
  Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  std::map<std::string, std::string> differences;
  for (const ReadRow& row : ReadTables(html)) {
    if (row.table == "dilation") {
      differences[row.row] = absl::StrCat(row.figures.at("difference"), ", ",
                                          row.figures.at("means"));
    }
  }
  EXPECT_EQ(differences, (std::map<std::string, std::string>{
                             {"async on 2 hosts", "-1.1 %, as fast"},
                             {"hybrid on 2 hosts", "+0.5 %, as fast"},
                             {"ring on 2 hosts", "+0.1 %, as fast"},
                             {"ssp (bound 2) on 2 hosts", "-0.7 %, as fast"},
                             {"sync on 2 hosts", "-0.3 %, as fast"}}));
  ExpectHas(
      html,
      "Not tried, or disturbed each time, so that it is not known of them: "
      "async on 1 host, ");
  ExpectHas(html, ", ssp (bound 2) on 1 host, ");
  ExpectHas(html, ", replayed async on 1 host, ");
  ExpectHas(html, ", async on 4 hosts, ");
  ExpectHas(html, "sync+1 on 4 hosts");
  const std::map<std::string, std::string> said = {
      {kTriedWithinSpread, "spreads overlap"},
      {kTriedDiffers, "out of verdicts"},
      {kTriedFailed, "a try failed: out of verdicts"},
      {kNotTried, "–"}};  // in files of older versions
  for (const auto& [verdict, text] : said) {
    for (Cell& cell : comparison.cells) cell.dilation_verdict = verdict;
    for (const ReadRow& row : ReadTables(ReportHtml(comparison))) {
      if (row.table != "dilation") continue;
      EXPECT_EQ(row.figures.at("means"), text);
    }
  }
  for (Cell& cell : comparison.cells) {
    cell.dilation_difference.reset();
    cell.dilation_verdict = kTriedFailed;  // all tries
  }
  const std::string failed = ReportHtml(comparison);
  ExpectHas(failed, "a try failed: out of verdicts");
  ExpectHas(failed, "All modes and numbers of hosts were tried.");
  for (Cell& cell : comparison.cells) cell.dilation_verdict = kNotTried;
  ExpectHas(ReportHtml(comparison),
            "no cell was tried at twice its dilation");
  comparison.where = "loopback";
  ExpectLacks(ReportHtml(comparison), "Does the dilation change the figures?");
}

}  // namespace
}  // namespace shoal
