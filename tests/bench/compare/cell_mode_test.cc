#include "bench/compare/cell_mode.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace shoal {
namespace {

Cell CellOf(const std::string& mode, int backup_workers = 0) {
  Cell cell;
  cell.mode = mode;
  cell.backup_workers = backup_workers;
  return cell;
}

TEST(CellModeTest, AModeIsARowOfTheTable) {
  for (const TrainingModeRow& row : kTrainingModes) {
    EXPECT_EQ(FindModeRow(row.word), &row);
    EXPECT_EQ(&ModeRowOf(CellOf(row.word)), &row);
  }
  EXPECT_EQ(FindModeRow("fast"), nullptr);
  EXPECT_EQ(FindModeRow(""), nullptr);
}

TEST(CellModeTest, TheWordIsThatOfTheFlagAndTheNameSaysMore) {
  EXPECT_EQ(ModeWord(CellOf("ring")), "ring");
  EXPECT_EQ(ModeName(CellOf("ring")), "ring");
  EXPECT_EQ(ModeWord(CellOf("sync", 2)), "sync+2");
  EXPECT_EQ(ModeName(CellOf("sync", 2)), "sync+2");
  Cell ssp = CellOf("ssp");
  ssp.ssp_bound = 2;
  EXPECT_EQ(ModeWord(ssp), "ssp");
  EXPECT_EQ(ModeName(ssp), "ssp (bound 2)");
}

TEST(CellModeTest, EachModeHasAnOrderAndAStyleOfItsOwn) {
  std::set<int> styles = {ModeStyle(CellOf("sync", 1))};
  int order = 0;
  for (const TrainingModeRow& row : kTrainingModes) {
    EXPECT_EQ(ModeOrder(CellOf(row.word)), order++);
    EXPECT_TRUE(styles.insert(ModeStyle(CellOf(row.word))).second) << row.word;
  }
  EXPECT_EQ(ModeOrder(CellOf("sync", 1)), ModeOrder(CellOf("sync")));
  EXPECT_LT(*styles.rbegin(), 8);  // so many styles differ
  // A mode of another version.
  EXPECT_EQ(ModeOrder(CellOf("fast")), order);
  EXPECT_EQ(ModeName(CellOf("fast")), "fast");
}

}  // namespace
}  // namespace shoal
