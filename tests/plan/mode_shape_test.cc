#include "plan/mode_shape.h"

#include <string>

#include "core/training_mode.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(ModeShapeTest, EveryModeOfTrainingHasAShapeThatAgreesWithItsRow) {
  size_t i = 0;
  for (const TrainingModeRow& row : kTrainingModes) {
    ASSERT_LT(i, ModeShapes().size());
    const ModeShape& shape = ModeShapes()[i++];
    EXPECT_EQ(std::string(shape.name), row.word);
    EXPECT_EQ(shape.servers(), row.servers) << row.word;
    EXPECT_EQ(shape.ring(), row.copies) << row.word;
    EXPECT_EQ(shape.pipelined, row.depth_over_network > 0) << row.word;
    EXPECT_EQ(FindModeShape(row.word), &shape);
  }
  EXPECT_EQ(i, ModeShapes().size());
  EXPECT_EQ(FindModeShape("other"), nullptr);
}

}  // namespace
}  // namespace shoal
