#include <map>
#include <string>

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
  comparison.cells[1].runs[0].paused_speed = .625;
  comparison.cells[2].runs[0].paused_speed = .75;
  comparison.cells[2].runs[1].paused_speed = .8125;
  ExpectHas(ReportHtml(comparison),
            "it had 0.75 of its speed (0.62 to 0.81). The hosts of a run got "
            "that much more processor time");
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
      "async on 1 host, ssp "
      "(bound 2) on 1 host, sync on 1 host, ring on 1 host, hybrid on 1 "
      "host, async on 4 hosts,");
  ExpectHas(html, "sync+1 on 4 hosts");
  for (Cell& cell : comparison.cells) cell.dilation_difference.reset();
  ExpectHas(ReportHtml(comparison),
            "no cell was tried at twice its dilation");
  comparison.where = "loopback";
  ExpectLacks(ReportHtml(comparison), "Does the dilation change the figures?");
}

}  // namespace
}  // namespace shoal
