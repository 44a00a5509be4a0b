#include "report/mode_style.h"

#include <set>
#include <string>

#include "core/training_mode.h"
#include "gtest/gtest.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

TEST(ModeStyleTest, NoTwoModesLookAlike) {
  std::set<int> styles = {ModeStyle("sync", /*has_backup_workers=*/true),
                          ModeStyle("of another program")};
  std::set<std::string> colours;
  size_t count = 2;
  for (const TrainingModeRow& mode : kTrainingModes) {
    styles.insert(ModeStyle(mode.word));
    ++count;
  }
  EXPECT_EQ(styles.size(), count);
  for (const int style : styles) colours.insert(ChartColour(style));
  EXPECT_EQ(colours.size(), count);
}

}  // namespace
}  // namespace shoal
