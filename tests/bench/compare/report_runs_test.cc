#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "bench/compare/report.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"
#include "tests/bench/compare/read_report.h"

namespace shoal {
namespace {

TEST(ReportRunsTest, VerdictsStandBeforePicturesAndTheirRulesArePrinted) {
  const Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  size_t at = 0;
  for (const ModeVerdict& verdict : comparison.verdicts) {
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(verdict.text, '\n'))) {
      at = html.find(line, at);
      ASSERT_NE(at, std::string::npos) << line;
    }
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

TEST(ReportRunsTest, SaysWhatIsPredictedAndWhyTheRestIsNot) {
  Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  ExpectHas(html, "from about 6 Gbit/s on, ring would be faster than async");
  ExpectHas(html, "What is predicted was not measured");
  // Each reason once, with its places.
  ExpectHas(html,
            "<li>no two modes could be ranked here (A, 4 hosts, 10gbit, batch "
            "1024)</li>");
  ExpectHas(html,
            "where it was not (A, 2 hosts, 10gbit, batch 1024; A, 8 hosts, "
            "10gbit, batch 1024; B, 2 hosts, 10gbit, batch 1024; B, 8 hosts, "
            "10gbit, batch 1024)</li>");
  ModeVerdict& first = comparison.verdicts.front();
  first.no_turn = "the planner knows no slow hosts";
  first.network = "none";
  first.straggler = Straggler{1, .5};
  ExpectHas(ReportHtml(comparison),
            "<li>the planner knows no slow hosts (A, 2 hosts, batch 1024, with "
            "a slow host)</li>");
  for (ModeVerdict& verdict : comparison.verdicts) {
    verdict.turn = verdict.no_turn = "";
  }
  ExpectLacks(ReportHtml(comparison), "What is predicted was not measured");
  ExpectLacks(ReportHtml(comparison), "What is not predicted");
}

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
  ExpectHas(html, "It was not measured for 3 runs");
  ExpectLacks(html, "too slow");
  first[1].paused_speed = first[2].paused_speed = second[2].paused_speed = .75;
  // Hosts that have .72 of the cores can have 1.25 times as much.
  Cell& full = comparison.cells[2];
  full.dilation = full.hosts * full.cores_per_host / comparison.cores / .72;
  html = ReportHtml(comparison);
  ExpectLacks(html, "It was not measured for");
  ExpectHas(html, "their hosts were up to 6 % too slow");
}

TEST(ReportRunsTest, SaysOfWhichModesAndHostsTheDilationWasChecked) {
  Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  std::map<std::string, std::string> differences;
  for (const ReadRow& row : ReadTables(html)) {
    if (row.table == "dilation") {
      differences[row.row] = row.figures.at("difference");
    }
  }
  EXPECT_EQ(differences,
            (std::map<std::string, std::string>{
                {"async on 2 hosts", "-1.1 %"},
                {"hybrid on 2 hosts", "+0.5 %"},
                {"ring on 2 hosts", "+0.1 %"},
                {"ssp (bound 2) on 2 hosts", "-0.7 %"},
                {"sync on 2 hosts", "-0.3 %"}}));
  ExpectHas(
      html,
      "Not tried, or disturbed each time, so that it is not known of them: "
      "async on 1 host, ");
  ExpectHas(html, ", ssp (bound 2) on 1 host, ");
  ExpectHas(html, ", replayed async on 1 host, ");
  ExpectHas(html, ", async on 4 hosts, ");
  ExpectHas(html, "sync+1 on 4 hosts");
  for (Cell& cell : comparison.cells) cell.dilation_difference.reset();
  ExpectHas(ReportHtml(comparison),
            "no cell was tried at twice its dilation");
  comparison.where = "loopback";
  ExpectLacks(ReportHtml(comparison), "Does the dilation change the figures?");
}

}  // namespace
}  // namespace shoal
