// Jobs whose processes die, stand still and come back, again and again. A
// failing seed is run again alone by
//   job_soak <seed> 1
// and many seeds by job_soak.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/fault_plan.h"
#include "tests/sim/simulated_job.h"
#include "tests/sim/troubled_job.h"

namespace shoal {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::IsEmpty;
using ::testing::Not;

// The digest of every troubled job, whatever its seed.
class JobFaultsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    digest_ = RunSerialProbe(TroubledJob(1).job).digest;
  }

  static uint64_t digest_;
};

uint64_t JobFaultsTest::digest_ = 0;

TEST_F(JobFaultsTest, WhateverDiesTheJobEndsWithTheModelOfOneProcess) {
  int jobs = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const SimulatedJobOptions options = TroubledJob(seed);
    const SimulatedJobResult result = RunSimulatedJob(options);
    EXPECT_THAT(Complaints(options, result, digest_), IsEmpty())
        << "again: job_soak " << seed << " 1";
    jobs += result.jobs;
  }
  EXPECT_GT(jobs, 24) << "servers died, and jobs followed";
}

TEST_F(JobFaultsTest, WorkersOfAJobThatIsOverChangeNothingInTheNext) {
  uint64_t stale = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const SimulatedJobOptions options = HauntedJob(seed);
    const SimulatedJobResult result = RunSimulatedJob(options);
    EXPECT_THAT(Complaints(options, result, digest_), IsEmpty())
        << "again: job_soak " << seed << " 1 --job=haunted";
    stale += result.jobs > 1 ? 1 : 0;
  }
  EXPECT_GT(stale, 0u);
}

TEST_F(JobFaultsTest, OneSeedIsOneRun) {
  const SimulatedJobOptions options = TroubledJob(5);
  const SimulatedJobResult first = RunSimulatedJob(options);
  const SimulatedJobResult second = RunSimulatedJob(options);
  EXPECT_EQ(first.took, second.took);
  EXPECT_EQ(first.befell, second.befell);
  EXPECT_EQ(LedgerLine(first.report), LedgerLine(second.report));
  EXPECT_EQ(first.network.duplicated, second.network.duplicated);
}

std::vector<std::string> Words(const std::vector<Fault>& faults) {
  std::vector<std::string> words;
  for (const Fault& fault : faults) words.push_back(ToString(fault));
  return words;
}

TEST(FaultPlanTest, WithoutOneKindOfFaultTheOthersComeAsBefore) {
  FaultCounts counts = TroubledJob(3).faults;
  const auto all = Words(PlanFaults(3, counts, 3, 4));
  FaultCounts fewer = counts;
  fewer.worker_kills = 0;
  std::vector<std::string> others;
  for (const std::string& word : all) {
    if (word.find("kill worker") == std::string::npos) others.push_back(word);
  }
  EXPECT_EQ(Words(PlanFaults(3, fewer, 3, 4)), others);
  EXPECT_EQ(others.size() + counts.worker_kills, all.size());
  counts.breaks += 3;
  EXPECT_EQ(PlanFaults(3, counts, 3, 4).size(), all.size() + 3);
}

// The same seed without one kind of fault: the others befall the same processes
// at the same times, and each message that is sent in both runs takes as long.
TEST(KeyedJobTest, WithoutOneKindOfFaultTheRestOfTheJobIsAsBefore) {
  struct Run {
    SimulatedJobResult result;
    std::map<uint64_t, absl::Duration> delays;
  };
  const auto run = [](int breaks, double drop) {
    Run run;
    SimulatedJobOptions options;
    options.faults.worker_kills = 8;
    options.faults.breaks = breaks;
    options.network.drop = drop;
    options.observe = [&run](uint64_t message, absl::Duration delay) {
      run.delays[message] = delay;
    };
    run.result = RunSimulatedJob(options);
    return run;
  };
  const auto of_kills = [](const SimulatedJobResult& result) {
    std::vector<std::string> kills;
    for (const std::string& what : result.befell) {
      if (what.find("kill") != std::string::npos) kills.push_back(what);
    }
    return kills;
  };
  const Run all = run(/*breaks=*/20, /*drop=*/0.01);
  EXPECT_GT(of_kills(all.result).size(), 3u);
  for (const Run& fewer : {run(0, 0.01), run(20, 0)}) {
    std::vector<std::string> kills = of_kills(fewer.result);
    std::vector<std::string> before = of_kills(all.result);
    // One of the jobs may end before the other's last kills.
    kills.resize(std::min(kills.size(), before.size()));
    before.resize(kills.size());
    EXPECT_EQ(kills, before);
    size_t common = 0;
    for (const auto& [message, delay] : fewer.delays) {
      const auto same = all.delays.find(message);
      if (same == all.delays.end()) continue;
      if (same->second == absl::InfiniteDuration()) continue;
      ++common;
      EXPECT_EQ(delay, same->second);
    }
    EXPECT_GT(common, fewer.delays.size() / 4);
  }
}

// ---- Planted bugs: the simulator must find them

// The complaints of each seed that has any, together.
std::vector<std::string> Found(SimulatedJobOptions (*job)(uint64_t seed),
                               const PlantedBugs& bugs, uint64_t seeds) {
  const uint64_t digest = RunSerialProbe(job(1).job).digest;
  std::vector<std::string> found;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SimulatedJobOptions options = job(seed);
    options.bugs = bugs;
    const auto complaints =
        Complaints(options, RunSimulatedJob(options), digest);
    if (complaints.empty()) continue;
    found.push_back(absl::StrJoin(complaints, "; "));
  }
  return found;
}

TEST(PlantedJobBugTest, AStartNumberThatRepeatsIsFoundOut) {
  PlantedBugs bugs;
  bugs.one_start_number = true;
  EXPECT_THAT(Found(HauntedJob, bugs, 8),
              Contains(ContainsRegex("took a push .* of the job of")));
}

std::vector<std::string> BeforeTheView(std::vector<std::string> found) {
  std::erase_if(found, [](const std::string& complaints) {
    return complaints.find("before its first view") == std::string::npos;
  });
  return found;
}

// Start numbers that never repeat hide it.
TEST(PlantedJobBugTest, AShardThatServesBeforeItIsSeenIsFoundOut) {
  PlantedBugs bugs;
  bugs.one_start_number = true;
  EXPECT_THAT(BeforeTheView(Found(HauntedJob, bugs, 8)), IsEmpty());
  bugs.serves_unseen = true;
  EXPECT_THAT(BeforeTheView(Found(HauntedJob, bugs, 8)), Not(IsEmpty()));
}

TEST(PlantedJobBugTest, AConnectionsEndThatIsADeathIsFoundOut) {
  PlantedBugs bugs;
  EXPECT_THAT(Found(BrokenJob, bugs, 2), IsEmpty());
  bugs.mortal_sessions = true;
  EXPECT_EQ(Found(BrokenJob, bugs, 2).size(), 2u);
}

}  // namespace
}  // namespace shoal
