#include "bench/compare/grey_reason.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(GreyReasonTest, SaysWhatDisturbedARun) {
  Cell cell;
  cell.runs.resize(2);
  for (int i = 0; i < 2; ++i) {
    cell.runs[i].repeat = i;
    cell.runs[i].ok = true;
  }
  EXPECT_EQ(GreyReason(cell), "");
  cell.runs[1].others_cores = .14;
  cell.runs[1].link_bits_per_second = .98e9;
  cell.runs[1].link_expected = 1e9;
  EXPECT_EQ(GreyReason(cell), "");
  cell.runs[1].link_bits_per_second = .5e9;
  EXPECT_THAT(
      GreyReason(cell),
      StartsWith("before run 2 the test stream reached 50.0 % of what "
                 "the link has to carry, where 97 to 103 % are asked for"));
  cell.runs[1].link_bits_per_second = 1.04e9;
  EXPECT_THAT(GreyReason(cell), HasSubstr("104.0 %"));
  cell.runs[1].link_bits_per_second = 1e9;
  cell.runs[1].others_cores = .16;
  EXPECT_EQ(GreyReason(cell),
            "other programs used 0.16 of a core during run 2");
  cell.runs[1].others_cores = 0;
  cell.runs[1].paused_speed_known = false;
  EXPECT_EQ(GreyReason(cell),
            "before run 2 it could not be measured how much pauses slow its "
            "hosts down");
  cell.runs[0].ok = false;
  cell.runs[0].error = "ps 0 was killed";
  EXPECT_EQ(GreyReason(cell), "run 1 failed: ps 0 was killed");
  cell.runs.clear();
  EXPECT_EQ(GreyReason(cell), "it was not measured");
}

}  // namespace
}  // namespace shoal
