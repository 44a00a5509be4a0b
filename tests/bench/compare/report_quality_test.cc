#include <cstdint>
#include <string>
#include <vector>

#include "bench/compare/report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"
#include "tests/bench/compare/read_report.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

TEST(ReportQualityTest, SaysWhereCurvesOfAPartOfTheDataEnd) {
  Comparison comparison = MadeComparison::Make();
  for (Cell& cell : comparison.cells) {
    for (CellRun& run : cell.runs) run.curve.clear();
  }
  comparison.cells[1].runs[0].curve = {{1, 100, .6, .55}, {2, 250, .5, .6}};
  comparison.data.rows = 1000;
  ExpectHas(ReportHtml(comparison),
            "within the first pass over the data, after at most 25 % of it");
  for (const uint64_t rows : {0, 250}) {
    comparison.data.rows = rows;
    ExpectLacks(ReportHtml(comparison),
                "within the first pass over the data, ");
  }
}

TEST(ReportQualityTest, CurvesAreThoseOfTheFirstPass) {
  Comparison comparison = MadeComparison::Make();
  for (Cell& cell : comparison.cells) {
    for (CellRun& run : cell.runs) run.curve.clear();
  }
  comparison.cells[1].runs[0].curve = {
      {1, 100, .6, .55}, {2, 250, .5, .6}, {3, 300, .4, .875}};
  const auto auc_at_the_end = [&](uint64_t rows) {
    comparison.data.rows = rows;
    std::vector<std::string> found;
    for (const ReadRow& row : ReadTables(ReportHtml(comparison))) {
      if (row.table == "auc") found.push_back(row.figures.at("curve_auc"));
    }
    return found;
  };
  EXPECT_THAT(auc_at_the_end(250), ElementsAre("0.6000"));
  EXPECT_THAT(auc_at_the_end(300), ElementsAre("0.8750"));
  EXPECT_THAT(auc_at_the_end(0), ElementsAre("0.8750"));
}

}  // namespace
}  // namespace shoal
