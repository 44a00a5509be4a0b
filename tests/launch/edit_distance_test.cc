#include "launch/edit_distance.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(EditDistance("seed", "seed"), 0);
  EXPECT_EQ(EditDistance("", "seed"), 4);
  EXPECT_EQ(EditDistance("sed", "seed"), 1);
  EXPECT_EQ(EditDistance("seeed", "seed"), 1);
  EXPECT_EQ(EditDistance("seep", "seed"), 1);
  EXPECT_EQ(EditDistance("esed", "seed"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"batch_size", "num_epochs", "seed"};
  EXPECT_EQ(NearestName("batchsize", names), "batch_size");
  EXPECT_EQ(NearestName("batch-size", names), "batch_size");
  EXPECT_EQ(NearestName("epochs", names), "");
  EXPECT_EQ(NearestName("num_epoch", names), "num_epochs");
}

TEST(NearestName, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(NearestName("verbosity", {"seed", "mode"}), "");
  EXPECT_EQ(NearestName("x", {}), "");
}

}  // namespace
}  // namespace shoal
