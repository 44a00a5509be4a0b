#include "bench/compare/cell_figures.h"

#include <string>
#include <vector>

#include "bench/compare/report_panels.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

Cell OneCell(const std::string& mode, int hosts, const std::string& network,
             double bits, const std::vector<double>& rates) {
  Cell cell;
  cell.name = mode + std::to_string(hosts) + network;
  cell.model = "A";
  cell.mode = mode;
  cell.hosts = hosts;
  cell.global_batch = 1024 * hosts;
  cell.network = network;
  cell.bits_per_second = bits;
  for (const double rate : rates) {
    CellRun run;
    run.ok = rate > 0;
    run.samples_per_second = rate;
    cell.runs.push_back(run);
  }
  return cell;
}

std::vector<std::string> Names(const ReportPanel& panel) {
  std::vector<std::string> names;
  for (const Cell* cell : panel.cells) names.push_back(cell->name);
  return names;
}

TEST(CellFiguresTest, ASpreadIsTheMedianOfTheGoodRuns) {
  const auto spread =
      SamplesPerSecond(OneCell("async", 1, "none", 0, {30, 10, -1, 20, 50}));
  ASSERT_TRUE(spread.has_value());
  EXPECT_EQ(spread->median, 25);
  EXPECT_EQ(spread->least, 10);
  EXPECT_EQ(spread->most, 50);
  EXPECT_EQ(spread->count, 4);
  EXPECT_EQ(SpreadText(spread), "25 (10 to 50)");
  EXPECT_FALSE(SamplesPerSecond(OneCell("async", 1, "none", 0, {-1})));
  EXPECT_EQ(SpreadText(std::nullopt), "–");
  EXPECT_EQ(SpreadText(SpreadOfValues({2.5, 2.5})), "2.500");
}

TEST(CellFiguresTest, SpreadsOverlapIfTheyShareAValue) {
  const FigureSpread low{2, 1, 3, 3}, high{4, 3, 5, 3}, far{6, 5.5, 7, 3};
  EXPECT_TRUE(low.Overlaps(high));
  EXPECT_TRUE(high.Overlaps(low));
  EXPECT_TRUE(low.Overlaps(low));
  EXPECT_FALSE(high.Overlaps(far));
  EXPECT_FALSE(far.Overlaps(high));
}

TEST(CellFiguresTest, NumbersHaveFourDigitsThatCount) {
  EXPECT_EQ(FigureText(12345.6), "12,346");
  EXPECT_EQ(FigureText(1234567.5), "1,234,568");
  EXPECT_EQ(FigureText(123.456), "123.5");
  EXPECT_EQ(FigureText(1.23456), "1.235");
  EXPECT_EQ(FigureText(.771234), "0.7712");
  EXPECT_EQ(FigureText(2.5e-5), "2.500e-05");
  EXPECT_EQ(FigureText(7), "7");
  EXPECT_EQ(FigureText(0), "0");
  EXPECT_EQ(FigureText(-1234.5), "-1,234");
  EXPECT_EQ(DifferenceText(101.2, 100), "+1.2 %");
  EXPECT_EQ(DifferenceText(99.96, 100), "0.0 %");
  EXPECT_EQ(DifferenceText(99.94, 100), "-0.1 %");
  EXPECT_EQ(DifferenceText(1, 0), "–");
}

TEST(CellFiguresTest, EfficiencyIsBesideTheSameJobOnOneHost) {
  Comparison all;
  all.cells = {OneCell("async", 4, "1gbit", 1e9, {3000}),
               OneCell("async", 1, "none", 0, {1000}),
               OneCell("ring", 4, "1gbit", 1e9, {2000}),
               OneCell("sync", 4, "1gbit", 1e9, {2000}),
               OneCell("sync", 1, "none", 0, {800}),
               OneCell("sync", 4, "1gbit", 1e9, {2400})};
  all.cells[5].backup_workers = 1;
  EXPECT_DOUBLE_EQ(*Efficiency(all, all.cells[0]), .75);
  EXPECT_DOUBLE_EQ(*Efficiency(all, all.cells[1]), 1);
  EXPECT_FALSE(Efficiency(all, all.cells[2]).has_value());
  EXPECT_DOUBLE_EQ(*Efficiency(all, all.cells[5]), .75);
  // A cell of one host that was replayed, or of another batch, does not serve.
  all.cells[1].compute = "replayed";
  EXPECT_FALSE(Efficiency(all, all.cells[0]).has_value());
  all.cells[1].compute = "computed";
  all.cells[1].batch_size = 512;
  EXPECT_FALSE(Efficiency(all, all.cells[0]).has_value());
}

TEST(CellFiguresTest, AGreyCellOfOneHostIsNoMeasureOfEfficiency) {
  Comparison all;
  all.cells = {OneCell("async", 4, "1gbit", 1e9, {3000}),
               OneCell("async", 1, "none", 0, {1000})};
  EXPECT_DOUBLE_EQ(*Efficiency(all, all.cells[0]), .75);
  all.cells[1].grey = "other programs used 0.4 of a core";
  EXPECT_FALSE(Efficiency(all, all.cells[0]).has_value());
  // Another one that is not grey serves.
  all.cells.push_back(OneCell("async", 1, "1gbit", 1e9, {1500}));
  EXPECT_DOUBLE_EQ(*Efficiency(all, all.cells[0]), .5);
}

TEST(CellFiguresTest, OneHostStandsInThePanelsOfAllNetworks) {
  Comparison all;
  all.cells = {OneCell("ring", 2, "10gbit", 1e10, {1}),
               OneCell("async", 2, "1gbit", 1e9, {1}),
               OneCell("async", 1, "none", 0, {1}),
               OneCell("async", 2, "10gbit", 1e10, {1})};
  all.cells.push_back(all.cells[1]);
  all.cells.back().straggler = Straggler{0, .5};
  const std::vector<ReportPanel> panels = PanelsOf(all);
  ASSERT_EQ(panels.size(), 2);
  EXPECT_EQ(panels[0].network, "1gbit");
  EXPECT_THAT(Names(panels[0]), ElementsAre("async1none", "async21gbit"));
  EXPECT_THAT(Names(panels[1]),
              ElementsAre("async1none", "async210gbit", "ring210gbit"));
}

TEST(CellFiguresTest, APanelOfOneHostAloneIsThere) {
  Comparison all;
  all.cells = {OneCell("async", 1, "none", 0, {1}),
               OneCell("ring", 1, "none", 0, {1})};
  const std::vector<ReportPanel> panels = PanelsOf(all);
  ASSERT_EQ(panels.size(), 1);
  EXPECT_THAT(Names(panels[0]), ElementsAre("async1none", "ring1none"));
}

TEST(CellFiguresTest, BatchesThatAreNotEqualHavePanelsOfTheirOwn) {
  Comparison all;
  all.cells = {OneCell("async", 2, "1gbit", 1e9, {1}),
               OneCell("async", 4, "1gbit", 1e9, {1})};
  EXPECT_EQ(PanelsOf(all).size(), 1);
  all.equal_batch = "global";
  EXPECT_EQ(PanelsOf(all).size(), 2);
}

TEST(CellFiguresTest, WhatGoesToTheOwnServerDoesNotLeaveAHost) {
  const RoleBytes served = {.worker_sent = 400,
                            .worker_received = 300,
                            .ps_sent = 300,
                            .ps_received = 400};
  EXPECT_EQ(BytesThatLeaveHost(served, 4), 525);
  EXPECT_EQ(BytesThatLeaveHost(served, 1), 0);
  // What a worker sends and no server receives goes to the next rank.
  RoleBytes hybrid = served;
  hybrid.worker_sent += 600;
  EXPECT_EQ(BytesThatLeaveHost(hybrid, 4), 1125);

  Cell cell = OneCell("hybrid", 4, "1gbit", 1e9, {40'000});
  EXPECT_FALSE(LinkUse(cell).has_value());
  cell.runs[0].bytes_per_sample = hybrid;
  EXPECT_DOUBLE_EQ(LinkUse(cell)->median, .09);
  cell.bits_per_second = 0;
  EXPECT_FALSE(LinkUse(cell).has_value());
}

TEST(CellFiguresTest, ACellWithoutAGoodRunIsOut) {
  EXPECT_EQ(WhyOut(OneCell("async", 1, "none", 0, {1})), "");
  Cell cell = OneCell("async", 1, "none", 0, {-1});
  cell.runs[0].error = "killed";
  EXPECT_EQ(WhyOut(cell), "no run ended well: killed");
  EXPECT_EQ(LookOf(cell), ChartLook::kGrey);
  EXPECT_EQ(WhyOut(OneCell("async", 1, "none", 0, {})), "not run");
}

}  // namespace
}  // namespace shoal
