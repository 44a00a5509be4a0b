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

// What a worker tells `seconds` after its life began: it computes two thirds
// of the time, and exchanges 30 and 300 bytes a second.
Heartbeat Worked(double seconds) {
  Heartbeat beat;
  beat.time.seconds[static_cast<size_t>(StepState::kCompute)] = seconds * 2 / 3;
  beat.time.seconds[static_cast<size_t>(StepState::kWaitPull)] = seconds / 3;
  beat.bytes.pull.sent = static_cast<uint64_t>(30 * seconds);
  beat.bytes.pull.received = static_cast<uint64_t>(300 * seconds);
  const auto steps = static_cast<uint64_t>(seconds);
  if (steps > 0) beat.time.steps.micros.Add(500'000, steps);
  beat.time.steps.square_sum = 0.25 * static_cast<double>(steps);
  return beat;
}

TEST_F(JobProgressTest, TheTimeAndBytesOfADeadLifeCountAsOfItsLastHeartbeat) {
  progress_.Start(At(0));
  Beat(0, Worked(5), 5);
  progress_.NewLife(Role::kWorker, 0, "", At(8));
  Beat(0, Worked(3), 11);
  Beat(1, Worked(11), 11);
  progress_.End(At(11));
  const JobReport report = Fill(11);
  const auto compute = static_cast<size_t>(StepState::kCompute);
  EXPECT_DOUBLE_EQ(report.workers[0].seconds[compute], 8 * 2 / 3.0);
  EXPECT_DOUBLE_EQ(report.workers[1].seconds[compute], 11 * 2 / 3.0);
  EXPECT_EQ(report.worker_bytes.pull.sent, 30u * 19);
  EXPECT_EQ(report.worker_bytes.pull.received, 300u * 19);
  EXPECT_EQ(report.worker_bytes.push.sent, 0u);
  EXPECT_EQ(report.ps_bytes.pull.sent, 0u);
  EXPECT_EQ(report.step_times.micros.count(), 19u);
  EXPECT_DOUBLE_EQ(report.step_times.square_sum, 0.25 * 19);
}

TEST_F(JobProgressTest, TheBytesOfServersAreCountedApart) {
  Heartbeat beat;
  beat.bytes = {{1, 2}, {3, 4}, {5, 6}};
  progress_.OnHeartbeat(Role::kPs, 0, beat, At(1));
  progress_.OnHeartbeat(Role::kPs, 1, beat, At(1));
  const JobReport report = Fill(1);
  EXPECT_EQ(report.ps_bytes.pull.sent, 2u);
  EXPECT_EQ(report.ps_bytes.pull.received, 4u);
  EXPECT_EQ(report.ps_bytes.push.sent, 6u);
  EXPECT_EQ(report.ps_bytes.push.received, 8u);
  EXPECT_EQ(report.ps_bytes.ring.sent, 10u);
  EXPECT_EQ(report.ps_bytes.ring.received, 12u);
  EXPECT_EQ(report.worker_bytes.pull.sent, 0u);
}

TEST_F(JobProgressTest, TheSteadyWindowHasItsPartOfTheTimeAndBytes) {
  for (const int worker : {0, 1}) Beat(worker, Worked(10), 10);
  progress_.OpenSteady(0, At(12));
  for (const int worker : {0, 1}) Beat(worker, Worked(20), 20);
  progress_.CloseSteady(0, At(27));
  for (const int worker : {0, 1}) Beat(worker, Worked(30), 30);
  const JobReport report = Fill(30);
  double seconds = 0;
  for (const double state : report.steady_seconds) seconds += state;
  EXPECT_DOUBLE_EQ(seconds, 2 * 15) << "both workers, from 12 to 27";
  EXPECT_EQ(report.steady_worker_bytes.pull.sent, 2u * 30 * 15);
  EXPECT_EQ(report.steady_worker_bytes.pull.received, 2u * 300 * 15);
}

TEST_F(JobProgressTest, ASteadyWindowThatIsClosedAgainEndsLater) {
  Beat(0, Worked(10), 10);
  progress_.OpenSteady(0, At(12));
  progress_.CloseSteady(500, At(14));
  progress_.CloseSteady(600, At(15));
  Beat(0, Worked(20), 20);
  EXPECT_EQ(Fill(20).steady_worker_bytes.pull.sent, 30u * 3);
  progress_.CloseSteady(1500, At(27));
  Beat(0, Worked(30), 30);
  Beat(0, Worked(40), 40);  // what comes later does not count
  const JobReport report = Fill(40);
  EXPECT_EQ(report.steady_samples, 1500u);
  EXPECT_DOUBLE_EQ(report.steady_wall_seconds, 15);
  EXPECT_EQ(report.steady_worker_bytes.pull.sent, 30u * 15);
}

TEST_F(JobProgressTest, ASteadyWindowMayLoseTheStepsOfALostServer) {
  Beat(0, Worked(10), 10);
  progress_.OpenSteady(1000, At(12));
  progress_.CloseSteady(700, At(15));
  EXPECT_EQ(Fill(20).steady_samples, 0u);
}

TEST_F(JobProgressTest, TheCurveGoesFromTheFirstDataToTheEnd) {
  progress_.OnTrained(0, At(9));  // no data yet
  progress_.Start(At(10));
  progress_.OnTrained(0, At(10));
  Beat(0, Trained(100, 70, 0.6, 100), 11);
  progress_.OnTrained(100, At(11));
  progress_.OnTrained(110, At(11.1));  // not due
  EXPECT_TRUE(Fill(11.1).curve.empty()) << "only the summary has it";
  progress_.OnTrained(200, At(11.2), /*last=*/true);
  Beat(0, Trained(200, 120, 0.8, 100), 12);
  progress_.End(At(12.5));
  JobReport report;
  report.trained = 200;
  progress_.Fill(At(20), &report);
  ASSERT_EQ(report.curve.size(), 4u);
  EXPECT_EQ(report.curve[0].at, absl::ZeroDuration());
  EXPECT_EQ(report.curve[0].loss, 0);
  EXPECT_EQ(report.curve[1].at, absl::Seconds(1));
  EXPECT_EQ(report.curve[1].samples, 100u);
  EXPECT_DOUBLE_EQ(report.curve[1].loss, 0.7);
  EXPECT_DOUBLE_EQ(report.curve[1].auc, 0.6);
  EXPECT_EQ(report.curve[2].samples, 200u);
  EXPECT_DOUBLE_EQ(report.curve[2].auc, 0.6);
  EXPECT_EQ(report.curve[3].at, absl::Seconds(2.5));
  EXPECT_EQ(report.curve[3].samples, 200u);
  EXPECT_DOUBLE_EQ(report.curve[3].loss, 0.5);
  EXPECT_DOUBLE_EQ(report.curve[3].auc, 0.8);
}

TEST_F(JobProgressTest, AJobThatOnlyScoresHasNoCurve) {
  progress_.Start(At(10));
  progress_.OnScored(500, At(11));
  progress_.OnScored(1500, At(12));
  progress_.End(At(12));
  const JobReport report = Fill(12);
  EXPECT_TRUE(report.curve.empty());
  EXPECT_DOUBLE_EQ(report.samples_per_second, 750);
}

}  // namespace
}  // namespace shoal
