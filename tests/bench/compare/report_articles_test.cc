#include <map>
#include <string>
#include <vector>

#include "bench/compare/report.h"
#include "gtest/gtest.h"
#include "tests/bench/compare/made_comparison.h"
#include "tests/bench/compare/read_report.h"

namespace shoal {
namespace {

TEST(ReportArticlesTest, TheArticlesTableIsFilledByTheTimeOnTheLink) {
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

TEST(ReportArticlesTest, TheArticlesTableTakesTheVerdictOfTheSameCells) {
  Comparison comparison = MadeComparison::Make();
  // Another batch, for which ring is best, and verdicts on slow hosts and on
  // replayed cells, which come first.
  const std::vector<Cell> cells = comparison.cells;
  for (Cell cell : cells) {
    if (cell.model != "A" || cell.hosts != 8 || cell.straggler) continue;
    cell.name += "_large";
    cell.batch_size *= 2;
    cell.global_batch *= 2;
    comparison.cells.push_back(cell);
  }
  std::vector<ModeVerdict> verdicts;
  for (const ModeVerdict& verdict : comparison.verdicts) {
    if (verdict.model != "A" || verdict.hosts != 8) continue;
    ModeVerdict other = verdict;
    other.best = "sync";
    other.straggler = Straggler{1, .5};
    verdicts.push_back(other);
    other.straggler.reset();
    other.compute = kReplayed;
    verdicts.push_back(other);
    other.compute = kComputed;
    other.batch_size *= 2;
    other.best = "hybrid";
    verdicts.push_back(other);
  }
  comparison.verdicts.insert(comparison.verdicts.begin(), verdicts.begin(),
                             verdicts.end());
  const std::string html = ReportHtml(comparison);
  std::map<std::string, ReadRow> rows;
  for (const ReadRow& row : ReadTables(html)) {
    if (row.table == "articles") rows[row.row] = row;
  }
  EXPECT_EQ(rows.at("A_1024_1gbit_8").figures.at("won"), "async");
  EXPECT_EQ(rows.at("A_2048_1gbit_8").figures.at("won"), "hybrid");
  EXPECT_EQ(rows.at("A_2048_1gbit_8").figures.at("batch"), "2,048");
  ExpectHas(html, "A, 8 hosts, 1gbit, batch 2,048");
  ExpectHas(html, "A, 8 hosts, 1gbit, batch 1,024");
}

}  // namespace
}  // namespace shoal
