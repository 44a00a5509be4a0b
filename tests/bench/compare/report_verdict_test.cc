#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bench/compare/report.h"
#include "core/training_mode.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"
#include "tests/bench/compare/read_report.h"

namespace shoal {
namespace {

TEST(ReportVerdictTest, VerdictsStandBeforePicturesAndTheirRulesArePrinted) {
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

TEST(ReportVerdictTest, SaysWhatIsPredictedAndWhyTheRestIsNot) {
  Comparison comparison = MadeComparison::Make();
  const std::string html = ReportHtml(comparison);
  ExpectHas(html, "from about 6 Gbit/s on, ring would be faster than async");
  ExpectHas(html, "What is predicted was not measured");
  // Each reason once, with its places.
  ExpectHas(html,
            "<li>A, 4 hosts, 10gbit, batch 1024: no two modes could be ranked "
            "here</li>");
  ExpectHas(html,
            "<li>A, 2 hosts, 10gbit, batch 1024; A, 8 hosts, 10gbit, batch "
            "1024; B, 2 hosts, 10gbit, batch 1024; B, 8 hosts, 10gbit, batch "
            "1024: the planner takes ");
  ModeVerdict& first = comparison.verdicts.front();
  first.no_turn = "the planner knows no slow hosts";
  first.network = "none";
  first.straggler = Straggler{1, .5};
  ExpectHas(ReportHtml(comparison),
            "<li>A, 2 hosts, batch 1024, with a slow host: the planner knows "
            "no slow hosts</li>");
  for (ModeVerdict& verdict : comparison.verdicts) {
    verdict.turn = verdict.no_turn = "";
  }
  ExpectLacks(ReportHtml(comparison), "What is predicted was not measured");
  ExpectLacks(ReportHtml(comparison), "What is not predicted");
}

// The rows of the table of all verdicts, in order.
std::vector<std::map<std::string, std::string>> RowsOf(
    const Comparison& comparison) {
  std::vector<std::map<std::string, std::string>> rows;
  for (const ReadRow& row : ReadTables(ReportHtml(comparison))) {
    if (row.table == "verdicts") rows.push_back(row.figures);
  }
  return rows;
}

TEST(ReportVerdictTest, ATableHasAllVerdictsAtAGlance) {
  Comparison comparison = MadeComparison::Make();
  // Those of older versions have no such table.
  EXPECT_TRUE(RowsOf(comparison).empty());
  ASSERT_GE(comparison.verdicts.size(), 4u);
  comparison.verdicts.resize(4);
  ModeVerdict& best = comparison.verdicts[0];
  best.best = "ring";
  best.first = {"ring"};
  best.behind = {{"ssp", 1.125}, {"sync+1", std::nullopt}};
  ModeVerdict& level = comparison.verdicts[1];
  level.best = "";
  level.first = {"ring", "async"};
  level.out = {"sync", "hybrid"};
  ModeVerdict& alone = comparison.verdicts[2];
  alone.best = "";
  alone.first = {"ring"};
  alone.straggler = Straggler{1, .5};
  comparison.verdicts[3].best = "";
  const auto rows = RowsOf(comparison);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("model"), best.model);
  EXPECT_EQ(rows[0].at("hosts"), absl::StrCat(best.hosts));
  EXPECT_EQ(rows[0].at("network"), best.network);
  EXPECT_EQ(rows[0].at("first"), "ring");
  EXPECT_EQ(rows[0].at("behind"), "ssp 1.12, sync+1 (target not reached)");
  EXPECT_EQ(rows[0].at("out"), "–");
  EXPECT_EQ(rows[0].at("slow_host"), "no");
  EXPECT_EQ(rows[1].at("first"), "no difference: ring, async");
  EXPECT_EQ(rows[1].at("behind"), "–");
  EXPECT_EQ(rows[1].at("out"), "sync, hybrid");
  EXPECT_EQ(rows[2].at("first"), "–");
  EXPECT_EQ(rows[2].at("slow_host"), "yes");
  EXPECT_EQ(rows[3].at("first"), "–");
}

TEST(ReportVerdictTest, WhoeverHasTheReportAloneReadsWhatTheModesDo) {
  const std::string html = ReportHtml(MadeComparison::Make());
  for (const TrainingModeRow& mode : kTrainingModes) {
    ExpectHas(html, absl::StrCat("<li>", mode.word, " ", mode.help, "</li>"));
  }
}

}  // namespace
}  // namespace shoal
