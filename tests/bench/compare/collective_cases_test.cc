#include "bench/compare/collective_cases.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Cell MakeCell(const std::string& mode, int hosts, const std::string& network,
              double bits_per_second) {
  Cell cell;
  cell.mode = mode;
  cell.hosts = hosts;
  cell.network = network;
  cell.bits_per_second = bits_per_second;
  cell.name = absl::StrCat("A_", mode, "_h", hosts, "_", network);
  return cell;
}

std::vector<std::string> NamesOf(const std::vector<Cell>& cells) {
  std::vector<std::string> names;
  for (const CollectiveCase& ring : CollectiveCases(cells)) {
    names.push_back(ring.name());
  }
  return names;
}

TEST(CollectiveCasesTest, ThereIsARingForEachNetworkAndNumberOfHosts) {
  std::vector<Cell> cells;
  for (const char* mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    for (const int hosts : {1, 2, 4}) {
      cells.push_back(MakeCell(mode, hosts, "1gbit", 1e9));
      cells.push_back(MakeCell(mode, hosts, "10gbit", 1e10));
    }
  }
  // Another batch of the same hosts is no other ring.
  cells.push_back(MakeCell("ring", 4, "10gbit", 1e10));
  EXPECT_THAT(NamesOf(cells), ElementsAre("h2_1gbit", "h2_10gbit", "h4_1gbit",
                                          "h4_10gbit"));
}

TEST(CollectiveCasesTest, ModesWithoutARingAndSlowHostsHaveNone) {
  EXPECT_THAT(NamesOf({MakeCell("async", 2, "none", 0),
                       MakeCell("sync", 4, "none", 0),
                       MakeCell("ring", 1, "none", 0)}),
              IsEmpty());
  Cell slow = MakeCell("ring", 2, "none", 0);
  slow.straggler = Straggler{1, .5};
  EXPECT_THAT(NamesOf({slow}), IsEmpty());
  EXPECT_THAT(NamesOf({slow, MakeCell("hybrid", 2, "none", 0)}),
              ElementsAre("h2_none"));
}

TEST(CollectiveCasesTest, SaysTheHostsAndTheNetwork) {
  EXPECT_EQ(CollectiveCase{MakeCell("ring", 4, "1gbit", 1e9)}.text(),
            "4 hosts over 1gbit");
  EXPECT_EQ(CollectiveCase{MakeCell("ring", 2, "none", 0)}.text(), "2 hosts");
}

TEST(CollectiveCasesTest, ASlowNetworkHasNoLargeSizes) {
  const auto most = [](double bits_per_second) {
    return TurnsOf({MakeCell("ring", 2, "x", bits_per_second)}, 1).sizes.back();
  };
  EXPECT_EQ(most(0), 64 << 20);
  EXPECT_EQ(most(1e9), 64 << 20);
  // 2 x 16 MiB are 2.7 s of 100 Mbit/s, and 2 x 4 MiB 0.7 s.
  EXPECT_EQ(most(1e8), 4 << 20);
  EXPECT_THAT(TurnsOf({MakeCell("ring", 2, "x", 1)}, 1).sizes, IsEmpty());
}

TEST(CollectiveCasesTest, ATurnHasManyPeriodsOfTheHostsProcessorTime) {
  Cell cell = MakeCell("ring", 8, "1gbit", 1e9);
  cell.cores_per_host = 1;
  cell.dilation = 4;  // a quarter of a core: 1 ms of 4
  CollectiveTurns turns = TurnsOf({cell}, 3);
  EXPECT_EQ(turns.turn_time, absl::Milliseconds(48));
  EXPECT_EQ(turns.repeats, 7);
  cell.dilation = 40;  // 1 ms of 40
  turns = TurnsOf({cell}, 1);
  EXPECT_EQ(turns.turn_time, absl::Milliseconds(480));
  EXPECT_GE(turns.size_time, turns.repeats * turns.turn_time);
}

TEST(CollectiveCasesTest, TimesOfADilatedRingAreMultipliedBack) {
  CollectiveCase ring{MakeCell("ring", 4, "1gbit", 1e9)};
  ring.cell.dilation = 5;
  AllReduceResult result;
  result.ranks = 4;
  result.points = {{4096, 1e-3, 0, 0, 1}, {65536, 2e-2, 0, 0, 1}};
  const std::vector<CollectivePoint> points = PointsOf(ring, result);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].network, "1gbit");
  EXPECT_EQ(points[0].ranks, 4);
  EXPECT_EQ(points[0].bytes, 4096u);
  EXPECT_DOUBLE_EQ(points[0].seconds, 2e-4);
  EXPECT_DOUBLE_EQ(points[1].seconds, 4e-3);
}

TEST(CollectiveCasesTest, TheFileGivesBackWhatWasWritten) {
  CollectiveFile file;
  file.settings = "seed=1\nring=h2_1gbit";
  file.others_cores = .25;
  file.result.ranks = 2;
  file.result.reduction = "fast";
  file.result.points = {{4096, 1e-4, 9e-5, 2e-4, 700}};
  const std::string json = CollectiveFileJson(file);
  const auto read = ParseCollectiveFile(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(CollectiveFileJson(*read), json);
  EXPECT_EQ(read->settings, file.settings);
  EXPECT_EQ(read->others_cores, .25);
  EXPECT_EQ(read->result.points.at(0).calls, 700u);
  const auto wrong = ParseCollectiveFile(
      absl::StrReplaceAll(json, {{"\"ranks\": 2", "\"ranks\": null"}}));
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("ranks"));
}

}  // namespace
}  // namespace shoal
