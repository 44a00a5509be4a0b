#include "plan/cluster_description.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

TEST(ClusterDescriptionTest, EveryEntryIsReadWithItsUnit) {
  const auto cluster =
      ParseCluster("hosts=32,cores=8,network=10gbit,latency=60us,memory=64GiB");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->hosts, 32);
  EXPECT_EQ(cluster->cores, 8);
  EXPECT_EQ(cluster->bits_per_second, 1e10);
  EXPECT_DOUBLE_EQ(cluster->latency_seconds, 60e-6);
  EXPECT_EQ(cluster->memory_bytes, 64.0 * (1ull << 30));
}

TEST(ClusterDescriptionTest, EntriesComeInAnyOrderAndSomeMayBeLeftOut) {
  const auto cluster = ParseCluster(" network=2.5Gbit, hosts=1 ");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->bits_per_second, 2.5e9);
  EXPECT_EQ(cluster->memory_bytes, 0);
}

TEST(ClusterDescriptionTest, AnErrorNamesTheEntryAndWhatWouldBeRight) {
  const struct {
    const char* text;
    const char* entry;
    const char* why;
  } cases[] = {
      {"hosts=0,network=1gbit", "'hosts=0'", "from 1 to 100000"},
      {"hosts=2.5,network=1gbit", "'hosts=2.5'", "whole number"},
      {"hosts=nan,network=1gbit", "'hosts=nan'", "from 1 to 100000"},
      {"hosts=2,network=10", "'network=10'", "as in 10gbit or 500mbit"},
      {"hosts=2,network=-1gbit", "'network=-1gbit'", "above 0"},
      {"hosts=2,network=1gbit,latency=5", "'latency=5'", "60us"},
      {"hosts=2,network=1gbit,memory=4", "'memory=4'", "64GiB"},
      {"hosts=2,network=1gbit,cores=0", "'cores=0'", "from 0.01"},
      {"hosts=2,network=1gbit,disk=1", "'disk=1'", "the keys are hosts"},
      {"hosts=2,hosts=3,network=1gbit", "'hosts=3'", "given twice"},
      {"hosts=2,network", "'network'", "key=value"},
      {"", "''", "key=value"},
  };
  for (const auto& c : cases) {
    const std::string said(ParseCluster(c.text).status().message());
    EXPECT_THAT(said, HasSubstr("--cluster")) << c.text;
    EXPECT_THAT(said, HasSubstr(c.entry));
    EXPECT_THAT(said, HasSubstr(c.why));
  }
}

TEST(ClusterDescriptionTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(std::string(ParseCluster("hosts=2").status().message()),
              HasSubstr("network is missing"));
  EXPECT_THAT(std::string(ParseCluster("network=1gbit").status().message()),
              HasSubstr("hosts is missing"));
}

TEST(ClusterDescriptionTest, NetworksHaveATextForPeople) {
  EXPECT_EQ(NetworkText(1e10), "10 Gbit/s");
  EXPECT_EQ(NetworkText(2.54e9), "2.54 Gbit/s");
  EXPECT_EQ(NetworkText(5e8), "500 Mbit/s");
}

}  // namespace
}  // namespace shoal
