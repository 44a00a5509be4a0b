#include "launch/launched_rank.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::StartsWith;

// Rank 2 of 3, the second one on its host.
LaunchedRank Second() {
  LaunchedRank launched;
  launched.rank = {2, "A_RANK"};
  launched.size = {3, "A_SIZE"};
  launched.local_rank = {1, "A_LOCAL_RANK"};
  launched.local_size = {2, "A_LOCAL_SIZE"};
  launched.rank_variables = {"A_RANK", "B_RANK"};
  return launched;
}

constexpr char kOut[] =
    ". If this process is not one of those that the launcher has started for "
    "the job, start it with `env -u A_RANK -u B_RANK shoal-worker …`";

TEST(CheckLaunchedRankTest, TakesFlagsThatSayTheSame) {
  for (const PlaceFlags& flags :
       {PlaceFlags{2, "", "h1:2223"}, PlaceFlags{2, "h1:2223,h2,h2", ""},
        PlaceFlags{2, "h2,h1,h2", "h2:2223"},
        PlaceFlags{2, "H2:1,h1,h2:7", "h2:2223"}}) {
    const absl::Status status = CheckLaunchedRank(Second(), flags);
    EXPECT_TRUE(status.ok()) << status << flags.worker_hosts;
  }
}

TEST(CheckLaunchedRankTest, RefusesWithBothValues) {
  struct {
    PlaceFlags flags;
    std::string message;
  } const cases[] = {
      {{1, "", "h1:2223"},
       "--task_index=1 and A_RANK=2 contradict each other: the index is the "
       "rank; leave --task_index out"},
      {{2, "h1:2223,h2,h2,h3", ""},
       "--worker_hosts with 4 entries and A_SIZE=3 contradict each other: each "
       "worker has an entry; leave --worker_hosts out, and give --coordinator"},
      {{2, "h1:2223", ""},
       "--worker_hosts with 1 entry and A_SIZE=3 contradict each other: each "
       "worker has an entry; leave --worker_hosts out, and give --coordinator"},
      {{2, "h1:2223,h2,h3", ""},
       "--worker_hosts with 1 worker on h3 and A_LOCAL_SIZE=2 contradict each "
       "other: the entries must be in the order in which the launcher fills "
       "the hosts, or left out"},
      {{2, "", "localhost:2223"},
       "--coordinator=localhost:2223 and A_LOCAL_SIZE=2 of A_SIZE=3 contradict "
       "each other: workers of other hosts cannot reach a loopback address; "
       "give the name of the host of rank 0"}};
  for (const auto& c : cases) {
    const absl::Status status = CheckLaunchedRank(Second(), c.flags);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(status.message(), c.message + kOut);
  }
}

TEST(CheckLaunchedRankTest, TheOrderOfTheHostsIsTheLaunchers) {
  // As `mpirun --map-by node` fills two hosts.
  LaunchedRank launched = Second();
  launched.rank.value = 1;
  launched.size->value = 4;
  launched.local_rank->value = 0;
  EXPECT_TRUE(CheckLaunchedRank(launched, {1, "h1:1,h2,h1,h2", ""}).ok());
  EXPECT_THAT(
      std::string(
          CheckLaunchedRank(launched, {1, "h1:1,h1,h2,h2", ""}).message()),
      StartsWith("--worker_hosts with 1 of the workers of h1 before this one "
                 "and A_LOCAL_RANK=0 contradict each other: "));
}

TEST(CheckLaunchedRankTest, WhatTheLauncherDoesNotSayIsNotCompared) {
  LaunchedRank launched;
  launched.rank = {2, "A_RANK"};
  launched.rank_variables = {"A_RANK"};
  for (const char* hosts : {"h1:1,h2,h3", "h1:1,h2", ""}) {
    EXPECT_TRUE(CheckLaunchedRank(launched, {2, hosts, "localhost:1"}).ok());
  }
  EXPECT_FALSE(CheckLaunchedRank(launched, {1, "h1:1,h2,h3", ""}).ok());
}

TEST(CheckLaunchedRankTest, OnOneHostALoopbackAddressIsReached) {
  LaunchedRank launched = Second();
  launched.local_rank->value = 2;
  launched.local_size->value = 3;
  EXPECT_TRUE(CheckLaunchedRank(launched, {2, "", "127.0.0.1:2223"}).ok());
}

}  // namespace
}  // namespace shoal
