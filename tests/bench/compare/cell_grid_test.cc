#include "bench/compare/cell_grid.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GridOptions Options() {
  GridOptions options;
  options.models = {{"A", {}, 5e-4}};
  options.modes = {{"async"}, {"ring"}};
  options.hosts = {1, 2};
  options.batch_sizes = {1024};
  options.networks = {{"1gbit", 1e9}, {"10gbit", 1e10}};
  return options;
}

std::vector<std::string> Names(const GridOptions& options) {
  std::vector<std::string> names;
  const auto cells = MakeGrid(options);
  EXPECT_TRUE(cells.ok()) << cells.status();
  if (!cells.ok()) return names;
  for (const Cell& cell : *cells) names.push_back(cell.name);
  return names;
}

std::string ErrorOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(MakeGridTest, AHostAloneHasNoNetwork) {
  EXPECT_THAT(Names(Options()),
              ElementsAre("A_async_h1_b1024_none", "A_ring_h1_b1024_none",
                          "A_async_h2_b1024_1gbit", "A_ring_h2_b1024_1gbit",
                          "A_async_h2_b1024_10gbit",
                          "A_ring_h2_b1024_10gbit"));
}

TEST(MakeGridTest, TheBatchOfAWorkerOrOfAllIsEqual) {
  GridOptions options = Options();
  options.hosts = {4};
  options.modes = {{"async"}};
  options.networks = {{"none", 0}};
  const Cell rank = MakeGrid(options)->at(0);
  EXPECT_EQ(rank.batch_size, 1024);
  EXPECT_EQ(rank.global_batch, 4096);
  options.equal_global_batch = true;
  const Cell global = MakeGrid(options)->at(0);
  EXPECT_EQ(global.batch_size, 256);
  EXPECT_EQ(global.global_batch, 1024);
  EXPECT_EQ(global.name, "A_async_h4_b256_none");
  options.hosts = {3};
  EXPECT_THAT(ErrorOf(MakeGrid(options).status()),
              HasSubstr("3 hosts cannot share a global batch of 1024"));
  options.equal_global_batch = false;
  options.hosts = {128};
  options.batch_sizes = {1 << 24};
  EXPECT_THAT(ErrorOf(MakeGrid(options).status()),
              HasSubstr("16777216 on each of 128 hosts"));
}

TEST(MakeGridTest, AModeHasItsRateAndManyHostsAreReplayed) {
  GridOptions options = Options();
  options.rates = {{"ring", 1e-3}};
  options.hosts = {2, 16};  // without a host alone
  options.networks = {{"1gbit", 1e9}};
  options.ssp_bound = 2;
  options.modes = {{"ssp"}, {"ring"}};
  const auto cells = MakeGrid(options);
  ASSERT_TRUE(cells.ok());
  ASSERT_EQ(cells->size(), 4u);
  EXPECT_EQ((*cells)[0].learning_rate, 5e-4);
  EXPECT_EQ((*cells)[0].ssp_bound, 2);
  EXPECT_EQ((*cells)[1].learning_rate, 1e-3);
  EXPECT_EQ((*cells)[1].ssp_bound, 0);
  EXPECT_FALSE((*cells)[1].replayed());
  EXPECT_TRUE((*cells)[3].replayed());
}

TEST(MakeGridTest, AHostAloneIsReplayedTooIfMoreHostsAre) {
  GridOptions options = Options();
  options.hosts = {1, 2, 16};
  options.modes = {{"sync"}, {"sync", 1}};
  options.networks = {{"1gbit", 1e9}};
  const auto cells = MakeGrid(options);
  ASSERT_TRUE(cells.ok()) << cells.status();
  std::vector<std::string> names, replayed;
  for (const Cell& cell : *cells) {
    names.push_back(cell.name);
    if (cell.replayed()) replayed.push_back(cell.name);
  }
  EXPECT_THAT(
      names,
      ElementsAre("A_sync_h1_b1024_none", "A_sync_h1_b1024_none_replayed",
                  "A_sync_h2_b1024_1gbit", "A_sync+1_h2_b1024_1gbit",
                  "A_sync_h16_b1024_1gbit", "A_sync+1_h16_b1024_1gbit"));
  EXPECT_THAT(replayed,
              ElementsAre("A_sync_h1_b1024_none_replayed",
                          "A_sync_h16_b1024_1gbit",
                          "A_sync+1_h16_b1024_1gbit"));
  // All are replayed: the host alone is there once.
  options.replay_hosts = 1;
  options.hosts = {1};
  EXPECT_THAT(Names(options), ElementsAre("A_sync_h1_b1024_none"));
  EXPECT_TRUE(MakeGrid(options)->at(0).replayed());
}

TEST(MakeGridTest, TheMostHostsAreMeasuredWithTheStragglerToo) {
  GridOptions options = Options();
  options.modes = {{"sync"}};
  options.networks = {{"1gbit", 1e9}};
  options.straggler = Straggler{1, .5};
  EXPECT_THAT(Names(options),
              ElementsAre("A_sync_h1_b1024_none", "A_sync_h2_b1024_1gbit",
                          "A_sync_h2_b1024_1gbit_slow1x0.5"));
  options.straggler->host = 2;
  EXPECT_THAT(ErrorOf(MakeGrid(options).status()),
              HasSubstr("none of the hosts 0 to 1"));
}

TEST(MakeGridTest, BackupWorkersNeedOtherHosts) {
  GridOptions options = Options();
  options.modes = {{"sync", 1}};
  options.networks = {{"1gbit", 1e9}};
  EXPECT_THAT(Names(options), ElementsAre("A_sync+1_h2_b1024_1gbit"));
  options.modes = {{"sync", 2}};
  EXPECT_THAT(ErrorOf(MakeGrid(options).status()),
              HasSubstr("'sync+2' needs more than 2 hosts"));
}

TEST(ParseModesTest, ReadsModesAndBackupWorkers) {
  const auto modes = ParseModes("async, sync+2,ring");
  ASSERT_TRUE(modes.ok()) << modes.status();
  ASSERT_EQ(modes->size(), 3u);
  EXPECT_EQ((*modes)[1].mode, "sync");
  EXPECT_EQ((*modes)[1].backup_workers, 2);
  EXPECT_THAT(ErrorOf(ParseModes("asink").status()), HasSubstr("'asink'"));
  EXPECT_THAT(ErrorOf(ParseModes("ring+1").status()), HasSubstr("'ring+1'"));
  EXPECT_THAT(ErrorOf(ParseModes("sync+0").status()), HasSubstr("'sync+0'"));
  EXPECT_THAT(ErrorOf(ParseModes("ring,ring").status()), HasSubstr("twice"));
  EXPECT_THAT(ErrorOf(ParseModes("").status()), HasSubstr("''"));
}

TEST(ParseNetworksTest, ReadsRates) {
  const auto networks = ParseNetworks("none,1gbit,2.5gbit,250mbit,500kbit");
  ASSERT_TRUE(networks.ok()) << networks.status();
  std::vector<double> rates;
  for (const GridNetwork& network : *networks) {
    rates.push_back(network.bits_per_second);
  }
  EXPECT_THAT(rates, ElementsAre(0, 1e9, 2.5e9, 2.5e8, 5e5));
  for (const char* wrong :
       {"1", "gbit", "-1gbit", "0gbit", "1tbit", "nangbit"}) {
    EXPECT_THAT(ErrorOf(ParseNetworks(wrong).status()), HasSubstr(wrong));
  }
}

TEST(ParseRatesTest, ReadsRatesOfModes) {
  EXPECT_THAT(*ParseRates("async:5e-4,ring:1e-3"),
              ElementsAre(std::pair(std::string("async"), 5e-4),
                          std::pair(std::string("ring"), 1e-3)));
  EXPECT_TRUE(ParseRates("")->empty());
  for (const char* wrong : {"async", "fast:1", "ring:0", "ring:x",
                            "ring:1,ring:1"}) {
    EXPECT_THAT(ErrorOf(ParseRates(wrong).status()), HasSubstr("--rates"));
  }
  EXPECT_THAT(ErrorOf(ParseRates("fast:1").status()),
              HasSubstr("names none of the modes async"));
}

TEST(ParseStragglerTest, ReadsAHostAndItsShare) {
  EXPECT_EQ((*ParseStraggler("3:0.5"))->host, 3);
  EXPECT_EQ((*ParseStraggler("3:0.5"))->share, .5);
  EXPECT_FALSE(ParseStraggler("")->has_value());
  for (const char* wrong : {"3", "-1:0.5", "1:0", "1:1", "1:x", "h:0.5"}) {
    EXPECT_THAT(ErrorOf(ParseStraggler(wrong).status()), HasSubstr(wrong));
  }
}

TEST(ParseModelsTest, ReadsTheFlagsOfEachModel) {
  const auto models = ParseModels(
      "A:--embedding_size=16 --deep_layers=400,400; B:--embedding_size=32",
      "deepfm");
  ASSERT_TRUE(models.ok()) << models.status();
  ASSERT_EQ(models->size(), 2u);
  EXPECT_EQ((*models)[0].name, "A");
  EXPECT_THAT((*models)[0].flags, ElementsAre("--embedding_size=16",
                                              "--deep_layers=400,400"));
  EXPECT_EQ((*models)[1].name, "B");
  EXPECT_EQ(ParseModels("", "deepfm")->at(0).name, "deepfm");
  for (const char* wrong : {"A", "A_1:--x=1", ":--x=1", "A:x=1", "A:--x",
                            "A:--x=1;A:--x=2"}) {
    EXPECT_THAT(ErrorOf(ParseModels(wrong, "").status()),
                HasSubstr("--models"));
  }
}

}  // namespace
}  // namespace shoal
