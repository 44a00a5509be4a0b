#include "cluster/job_progress.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

absl::Time At(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

Heartbeat Trained(uint64_t examples, double loss_sum, double auc = 0,
                  uint64_t recent = 0) {
  Heartbeat heartbeat;
  heartbeat.usage.cpu_seconds = static_cast<double>(examples) / 100;
  heartbeat.progress.examples = examples;
  heartbeat.progress.loss_sum = loss_sum;
  heartbeat.progress.recent_auc = auc;
  heartbeat.progress.recent_examples = recent;
  return heartbeat;
}

class JobProgressTest : public testing::Test {
 protected:
  JobProgressTest() {
    for (int i = 0; i < 2; ++i) {
      progress_.NewLife(Role::kPs, i, "h", At(0));
      progress_.NewLife(Role::kWorker, i, "", At(0));
    }
  }
  JobReport Fill(double seconds) {
    JobReport report;
    progress_.Fill(At(seconds), &report);
    return report;
  }
  void Beat(int worker, const Heartbeat& heartbeat, double seconds) {
    progress_.OnHeartbeat(Role::kWorker, worker, heartbeat, At(seconds));
  }

  JobProgress progress_{PsMembers{.count = 2}};
};

TEST_F(JobProgressTest, LossIsTheMeanOverTheNewestExamples) {
  Beat(0, Trained(100, 70), 1);
  Beat(0, Trained(200, 120), 2);  // .5 over the newest 100
  Beat(1, Trained(300, 90), 2);   // .3 over 300
  EXPECT_DOUBLE_EQ(Fill(2).loss, (50.0 + 90) / 400);
  Beat(0, Trained(200, 120), 3);  // nothing new
  EXPECT_DOUBLE_EQ(Fill(3).loss, (50.0 + 90) / 400);
}

TEST_F(JobProgressTest, ProgressiveAucWeighsWorkersByTheirExamples) {
  EXPECT_EQ(Fill(0).progressive_auc, 0);
  Beat(0, Trained(1, 1, 0.6, 100), 1);
  Beat(1, Trained(1, 1, 0.8, 300), 1);
  EXPECT_DOUBLE_EQ(Fill(1).progressive_auc, 0.75);
}

TEST_F(JobProgressTest, ANewLifeAddsToWhatTheDeadOneDid) {
  Beat(0, Trained(500, 1), 1);
  progress_.NewLife(Role::kWorker, 0, "", At(2));
  EXPECT_EQ(Fill(2).workers[0].samples, 500u);
  Beat(0, Trained(30, 1), 3);
  const JobReport report = Fill(3);
  EXPECT_EQ(report.workers[0].samples, 530u);
  EXPECT_DOUBLE_EQ(report.workers[0].cpu_seconds, 5.3);
  EXPECT_EQ(report.workers[1].samples, 0u);
}

TEST_F(JobProgressTest, StalenessIsMergedFromHeartbeatsUntilTheShardsReport) {
  Heartbeat beat;
  beat.staleness.Add(2, 10);
  progress_.OnHeartbeat(Role::kPs, 0, beat, At(1));
  progress_.OnHeartbeat(Role::kPs, 1, beat, At(1));
  EXPECT_EQ(Fill(1).staleness.count(), 20u);
  StatsReply stats;
  stats.digest = 7;
  Histogram last;
  last.Add(2, 12);
  stats.staleness = {{Life{1, 1}, last}, {Life{1, 2}, last}};
  progress_.OnShardReport(0, stats);
  stats.digest = ~uint64_t{0};
  progress_.OnShardReport(1, stats);
  const JobReport report = Fill(2);
  EXPECT_EQ(report.staleness.count(), 48u);
  EXPECT_EQ(report.digest, 6u) << "modulo 2^64";
  EXPECT_EQ(report.ps[1].stats.digest, ~uint64_t{0});
}

TEST_F(JobProgressTest, AReplicatedShardCountsOnce) {
  StatsReply stats;
  // Members 0, 1 and 2, of which the last two hold copies of shard 1.
  JobProgress progress(PsMembers{.count = 3, .replicated = 1});
  for (int member = 0; member < 3; ++member) {
    progress.NewLife(Role::kPs, member, "h", At(0));
    ResourceUsage usage;
    usage.cpu_seconds = 2;
    progress.OnUsage(Role::kPs, member, usage, At(1));
    stats.digest = member == 0 ? 5 : 100;
    stats.bytes = stats.digest;
    progress.OnShardReport(member, stats);
  }
  EXPECT_EQ(progress.reports(), 3u) << "every copy reports";
  JobReport report;
  progress.Fill(At(2), &report);
  EXPECT_EQ(report.digest, 105u);
  ASSERT_EQ(report.ps.size(), 3u);
  EXPECT_EQ(report.ps[2].index, 2);
  EXPECT_EQ(report.ps[2].shard, 1);
  EXPECT_DOUBLE_EQ(report.ps[2].cpu_seconds, 2) << "it is a process of its own";
  const auto shards = ShardReports(report);
  ASSERT_EQ(shards.size(), 2u);
  EXPECT_EQ(shards[0]->stats.bytes, 5u);
  EXPECT_EQ(shards[1]->index, 1);
  EXPECT_EQ(shards[1]->stats.bytes, 100u);
}

TEST_F(JobProgressTest, TheSteadyWindowHasItsOwnSamplesTimeAndCpu) {
  progress_.Start(At(10));
  Beat(0, Trained(0, 0), 10);
  progress_.OpenSteady(1000, At(20));
  Beat(0, Trained(2000, 0), 30);  // 20 s of cpu by then, 10 at the opening
  progress_.CloseSteady(5000, At(30));
  progress_.End(At(40));
  const JobReport report = Fill(100);
  EXPECT_EQ(report.steady_samples, 4000u);
  EXPECT_DOUBLE_EQ(report.steady_wall_seconds, 10);
  EXPECT_DOUBLE_EQ(report.steady_worker_cpu_seconds, 10);
  EXPECT_DOUBLE_EQ(report.steady_ps_cpu_seconds, 0);
  EXPECT_EQ(report.wall, absl::Seconds(30));
}

TEST_F(JobProgressTest, WithoutASteadyWindowThereAreNoSteadyFigures) {
  Beat(0, Trained(2000, 0), 30);
  const JobReport report = Fill(30);
  EXPECT_EQ(report.steady_samples, 0u);
  EXPECT_EQ(report.steady_worker_cpu_seconds, 0);
}

TEST_F(JobProgressTest, ALostReplicaSpeaksForNothing) {
  JobProgress progress({.count = 3, .replicated = 0});
  StatsReply stats;
  stats.digest = 7;
  for (int member = 0; member < 3; ++member) {
    progress.NewLife(Role::kPs, member, "", At(0));
    progress.OnShardReport(member, stats);
  }
  progress.OnReplicaLost(0);
  EXPECT_EQ(progress.reports(), 2u);
  JobReport report;
  progress.Fill(At(1), &report);
  EXPECT_EQ(report.digest, 7u) << "once";
  EXPECT_TRUE(report.ps[0].lost);
  const auto shards = ShardReports(report);
  ASSERT_EQ(shards.size(), 1u);
  EXPECT_EQ(shards[0]->index, 1);
}

}  // namespace
}  // namespace shoal
