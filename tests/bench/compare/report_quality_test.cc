#include <cstdint>

#include "bench/compare/report.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"
#include "tests/bench/compare/read_report.h"

namespace shoal {
namespace {

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

}  // namespace
}  // namespace shoal
