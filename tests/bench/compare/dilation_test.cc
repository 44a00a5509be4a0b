#include "bench/compare/dilation.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Cell CellOf(int hosts, double cores, double bits) {
  Cell cell;
  cell.hosts = hosts;
  cell.cores_per_host = cores;
  cell.bits_per_second = bits;
  return cell;
}

TEST(DilationTest, IsTheLeastThatCoresAndLinksAllow) {
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(1, 1, 0), 2), 1);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(2, 1, 1e9), 2), 2);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(2, 1, 1e9), 2, .9), 2 / 1.8);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(8, 1, 1e9), 2), 8);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(8, 1, 1e9), 2, .9), 8 / 1.8);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(2, 1, 1e10), 2), 4);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(8, 1, 1e10), 2), 8);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(2, .5, 1e8), 2), 1);
  EXPECT_DOUBLE_EQ(DilationOf(CellOf(2, 1, 1e9), 64), 1);
}

// One host, two and eight at 1 Gbit/s, and two at 25 Gbit/s.
std::vector<Cell> CellsOfSeveralDilations() {
  return {CellOf(1, 1, 0), CellOf(2, 1, 1e9), CellOf(8, 1, 1e9),
          CellOf(2, 1, 2.5e10)};
}

std::vector<double> DilationsOf(const std::vector<Cell>& cells) {
  std::vector<double> dilations;
  for (const Cell& cell : cells) dilations.push_back(cell.dilation);
  return dilations;
}

TEST(DilateTest, AllCellsHaveThatOfTheSlowest) {
  std::vector<Cell> cells = CellsOfSeveralDilations();
  Dilate({}, 2, &cells);
  EXPECT_THAT(DilationsOf(cells), ElementsAre(10, 10, 10, 10));
  Dilate({12}, 2, &cells);
  EXPECT_THAT(DilationsOf(cells), ElementsAre(12, 12, 12, 12));
  Dilate({3}, 2, &cells);
  EXPECT_THAT(DilationsOf(cells), ElementsAre(10, 10, 10, 10));
}

TEST(DilateTest, EachCellHasItsOwn) {
  std::vector<Cell> cells = CellsOfSeveralDilations();
  Dilate({0, /*same=*/false}, 2, &cells);
  EXPECT_THAT(DilationsOf(cells), ElementsAre(1, 2, 8, 10));
  Dilate({3, /*same=*/false}, 2, &cells);
  EXPECT_THAT(DilationsOf(cells), ElementsAre(3, 3, 8 / 1.8, 10));
}

TEST(DilateTest, ReplayedCellsHaveOneOfTheirOwn) {
  std::vector<Cell> cells = CellsOfSeveralDilations();
  cells.push_back(CellOf(16, 1, 1e9));
  cells.push_back(CellOf(1, 1, 0));
  cells[4].compute = cells[5].compute = kReplayed;
  Dilate({}, 2, &cells);
  EXPECT_THAT(DilationsOf(cells), ElementsAre(10, 10, 10, 10, 16, 16));
}

TEST(DilationTest, AHostHasItsShareOfCoresAndLink) {
  Cell cell = CellOf(2, 1, 1e9);
  cell.dilation = 2;
  const HostShare share = ShareOf(cell, 0);
  EXPECT_DOUBLE_EQ(share.bits_per_second, 5e8);
  EXPECT_EQ(share.period, absl::Milliseconds(4));
  EXPECT_EQ(share.quota, absl::Milliseconds(2));
}

TEST(DilationTest, TheLargestPacketIsThatOfTheRealLink) {
  Cell cell = CellOf(2, 1, 1e9);
  EXPECT_EQ(ShareOf(cell, 0).packet_bytes, 31250);
  cell.dilation = 4;
  EXPECT_EQ(ShareOf(cell, 0).packet_bytes, 31250);
  EXPECT_EQ(ShareOf(CellOf(2, 1, 1e10), 0).packet_bytes, 65536);
  EXPECT_EQ(ShareOf(CellOf(2, 1, 1e8), 0).packet_bytes, 8192);
}

TEST(DilationTest, AHostWhoseCoresAreNotKnownIsNotLimited) {
  const HostShare share = ShareOf(CellOf(2, 0, 0), 0);
  EXPECT_EQ(share.quota, absl::InfiniteDuration());
  EXPECT_EQ(share.period, absl::Milliseconds(4));
}

TEST(DilationTest, ASmallShareHasALongerPeriod) {
  Cell cell = CellOf(8, 1, 1e10);
  cell.dilation = 10;
  const HostShare share = ShareOf(cell, 0);
  EXPECT_EQ(share.quota, absl::Milliseconds(1));
  EXPECT_EQ(share.period, absl::Milliseconds(10));
}

TEST(DilationTest, AShareThatTheKernelDoesNotGiveIsFound) {
  Cell cell = CellOf(2, .1, 1e10);
  cell.dilation = 10;
  EXPECT_TRUE(CheckPlayable(cell).ok());
  cell.straggler = Straggler{1, .05};
  EXPECT_THAT(std::string(CheckPlayable(cell).message()),
              HasSubstr("the least share of a core"));
  cell.cores_per_host = .25;
  EXPECT_TRUE(CheckPlayable(cell).ok());
}

TEST(DilationTest, NoCellIsPlayedTooSlowly) {
  Cell cell = CellOf(2, 2, 1e9);
  cell.dilation = 40;
  EXPECT_TRUE(CheckPlayable(cell).ok());
  cell.straggler = Straggler{1, .5};
  EXPECT_THAT(std::string(CheckPlayable(cell).message()),
              HasSubstr("would have to compute 80 times slower"));
  cell.straggler.reset();
  cell.dilation = 65;
  EXPECT_THAT(std::string(CheckPlayable(cell).message()),
              HasSubstr("played 65 times slower"));
}

TEST(DilationTest, AStragglerHasLessTime) {
  Cell cell = CellOf(4, 1, 1e9);
  cell.dilation = 2;
  cell.straggler = Straggler{1, .5};
  EXPECT_EQ(ShareOf(cell, 0).quota, absl::Milliseconds(2));
  EXPECT_EQ(ShareOf(cell, 1).quota, absl::Milliseconds(1));
  EXPECT_DOUBLE_EQ(ShareOf(cell, 1).bits_per_second, 5e8);
  // Which is all that slows it down.
  EXPECT_DOUBLE_EQ(ComputeScaleOf(cell, 1), 1);
}

TEST(DilationTest, AHostThatIsSlowerForItsPausesHasMoreTime) {
  Cell cell = CellOf(2, 1, 1e9);
  cell.dilation = 8;
  const HostShare share = ShareOf(cell, 0, /*paused_speed=*/.75);
  EXPECT_EQ(share.quota, absl::Milliseconds(1));
  EXPECT_EQ(share.period, absl::Milliseconds(6));
  EXPECT_DOUBLE_EQ(share.bits_per_second, 1.25e8);
}

TEST(DilationTest, HostsHaveNoMoreThanNineTenthsOfTheCores) {
  Cell cell = CellOf(8, 1, 1e9);
  cell.dilation = 8;
  EXPECT_DOUBLE_EQ(LeastPausedSpeed(cell, 2), 1 / 1.8);
  EXPECT_DOUBLE_EQ(LeastPausedSpeed(cell, 4), .5 / 1.8);
  cell.dilation = 4;
  EXPECT_EQ(LeastPausedSpeed(cell, 2), 1);
}

TEST(DilationTest, SharesMakeUpForPausesAsFarAsThereAreCores) {
  Cell cell = CellOf(8, 1, 1e9);
  cell.dilation = 8;
  cell.straggler = Straggler{1, .5};
  const auto shares = SharesOf(cell, /*paused_speed=*/.75, /*cores=*/2);
  ASSERT_EQ(shares.size(), 8u);
  EXPECT_EQ(shares[0].period, absl::Milliseconds(6));
  EXPECT_EQ(shares[1].period, absl::Milliseconds(12));
  const auto full = SharesOf(cell, /*paused_speed=*/.5, /*cores=*/2);
  EXPECT_EQ(full[0].quota, absl::Milliseconds(1));
  EXPECT_NEAR(absl::ToDoubleMilliseconds(full[0].period), 8 / 1.8, 1e-6);
  // As they would have more in any case.
  EXPECT_EQ(SharesOf(cell, .5, /*cores=*/1)[0].period, absl::Milliseconds(8));
}

TEST(DilationTest, OneThreadHasNoMoreThanACore) {
  Cell cell = CellOf(4, 2, 1e9);
  cell.dilation = 8;
  cell.straggler = Straggler{1, .5};
  EXPECT_DOUBLE_EQ(ComputeScaleOf(cell, 0), 8);
  EXPECT_DOUBLE_EQ(ComputeScaleOf(cell, 1), 16);
  // Pauses slow a batch down too.
  EXPECT_DOUBLE_EQ(ComputeScaleOf(cell, 0, /*paused_speed=*/.75), 6);
  EXPECT_DOUBLE_EQ(ComputeScaleOf(cell, 0, /*paused_speed=*/.1), 1);
  cell.cores_per_host = 1;
  EXPECT_DOUBLE_EQ(ComputeScaleOf(cell, 0), 1);
}

TEST(DilationTest, AStreamGetsTheLinkWithoutItsHeaders) {
  EXPECT_NEAR(StreamRate(1e9), .9564e9, 1e5);
}

}  // namespace
}  // namespace shoal
