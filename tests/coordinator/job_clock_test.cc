#include "coordinator/job_clock.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::Optional;

// A heartbeat a second, two workers wanted; deadlines that no two waits share.
class JobClockTest : public testing::Test {
 protected:
  JobClockTest() {
    options_.num_workers = 2;
    options_.heartbeat_interval = absl::Seconds(1);
    options_.start_deadline = absl::Seconds(20);
    options_.worker_grace = absl::Seconds(3);
    options_.progress_deadline = absl::Seconds(30);
    options_.report_deadline = absl::Seconds(10);
    options_.linger = absl::Seconds(2);
  }

  JobClock Make() const { return JobClock(options_, absl::UnixEpoch()); }
  // Time passes with an event a second.
  static void Pass(JobClock& clock, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock.Advance(clock.clock() + absl::Seconds(1));
    }
  }

  CoordinatorOptions options_;
};

TEST_F(JobClockTest, ACoordinatorThatWasFrozenFindsNothingOverdue) {
  JobClock clock = Make();
  clock.Advance(absl::UnixEpoch() + absl::Hours(1));
  EXPECT_EQ(clock.clock(), absl::UnixEpoch() + absl::Hours(1));
  EXPECT_EQ(clock.now(), absl::UnixEpoch() + absl::Seconds(1));
  EXPECT_EQ(clock.Check(JobPhase::kGathering, false), std::nullopt);
  EXPECT_EQ(clock.LeftToStart(), absl::Seconds(19));
}

// ---- Gathering

TEST_F(JobClockTest, AServerThatFetchesItsFilesHasTheTimeAnew) {
  JobClock clock = Make();
  Pass(clock, 19);
  clock.SeeFetch();
  EXPECT_EQ(clock.LeftToStart(), absl::Seconds(20));
  Pass(clock, 19);
  EXPECT_EQ(clock.Check(JobPhase::kGathering, false), std::nullopt);
  Pass(clock, 1);
  EXPECT_THAT(clock.Check(JobPhase::kGathering, false),
              Optional(Overdue::kServers));
}

TEST_F(JobClockTest, AllThatAreExpectedBeginAtOnce) {
  JobClock clock = Make();
  EXPECT_FALSE(clock.Gather(false, 2));
  EXPECT_FALSE(clock.gathered());
  EXPECT_TRUE(clock.Gather(true, 2));
  EXPECT_TRUE(clock.gathered());
}

TEST_F(JobClockTest, OneWorkerWaitsForTheOthersForItsGrace) {
  JobClock clock = Make();
  EXPECT_FALSE(clock.Gather(true, 1));
  Pass(clock, 2);
  EXPECT_FALSE(clock.Gather(true, 1));
  Pass(clock, 1);
  EXPECT_TRUE(clock.Gather(true, 1));
}

TEST_F(JobClockTest, TheGraceBeginsAnewWhenAServerOrTheWorkerGoes) {
  for (const bool server : {true, false}) {
    JobClock clock = Make();
    EXPECT_FALSE(clock.Gather(true, 1));
    Pass(clock, 2);
    EXPECT_FALSE(server ? clock.Gather(false, 1) : clock.Gather(true, 0));
    EXPECT_FALSE(clock.gathered());
    Pass(clock, 2);
    EXPECT_FALSE(clock.Gather(true, 1));
    Pass(clock, 3);
    EXPECT_TRUE(clock.Gather(true, 1));
  }
}

TEST_F(JobClockTest, ThereIsNoGraceWhereEachWorkerHasFilesOfItsOwn) {
  options_.scopes.eval_by_host = true;
  JobClock clock = Make();
  EXPECT_FALSE(clock.Gather(true, 1));
  Pass(clock, 19);
  EXPECT_FALSE(clock.Gather(true, 1));
  EXPECT_EQ(clock.Check(JobPhase::kGathering, true), std::nullopt);
  clock.SeeWorker();
  Pass(clock, 1);
  EXPECT_THAT(clock.Check(JobPhase::kGathering, true),
              Optional(Overdue::kHosts));
}

TEST_F(JobClockTest, ThereIsNoGraceWhereTheWorkersAreRanks) {
  options_.lanes = true;
  JobClock clock = Make();
  Pass(clock, 19);
  EXPECT_FALSE(clock.Gather(true, 1));
}

// ---- Deadlines

TEST_F(JobClockTest, ServersMustComeBeforeTheStartDeadline) {
  JobClock clock = Make();
  Pass(clock, 19);
  EXPECT_EQ(clock.Check(JobPhase::kGathering, false), std::nullopt);
  Pass(clock, 1);
  EXPECT_THAT(clock.Check(JobPhase::kGathering, false),
              Optional(Overdue::kServers));
  EXPECT_EQ(clock.LeftToStart(), absl::ZeroDuration());
  // Where a checkpoint is read they have come.
  EXPECT_EQ(clock.Check(JobPhase::kRestoring, false), std::nullopt);
}

TEST_F(JobClockTest, AWorkerIsMissedOnceAllServersAreThere) {
  for (const JobPhase phase : {JobPhase::kGathering, JobPhase::kRestoring,
                               JobPhase::kTraining, JobPhase::kEvaluating}) {
    JobClock clock = Make();
    Pass(clock, 15);
    clock.SeeWorker();
    clock.SeeProgress();
    Pass(clock, 19);
    EXPECT_EQ(clock.Check(phase, true), std::nullopt);
    Pass(clock, 1);
    EXPECT_THAT(clock.Check(phase, true), Optional(Overdue::kWorker));
  }
}

TEST_F(JobClockTest, WorkThatDoesNotMoveIsOverdueWhereThereIsWork) {
  for (const JobPhase phase : {JobPhase::kTraining, JobPhase::kEvaluating}) {
    JobClock clock = Make();
    Pass(clock, 10);
    clock.BeginPhase();
    Pass(clock, 10);
    clock.SeeProgress();
    Pass(clock, 29);
    clock.SeeWorker();
    EXPECT_EQ(clock.Check(phase, true), std::nullopt);
    Pass(clock, 1);
    EXPECT_THAT(clock.Check(phase, true), Optional(Overdue::kProgress));
  }
  JobClock clock = Make();
  Pass(clock, 100);
  clock.SeeWorker();
  EXPECT_EQ(clock.Check(JobPhase::kRestoring, true), std::nullopt);
}

TEST_F(JobClockTest, ReportsAndByesHaveTheirTimeFromTheirPhaseOn) {
  JobClock clock = Make();
  Pass(clock, 100);
  clock.BeginPhase();
  Pass(clock, 9);
  EXPECT_EQ(clock.Check(JobPhase::kReporting, true), std::nullopt);
  Pass(clock, 1);
  EXPECT_THAT(clock.Check(JobPhase::kReporting, true),
              Optional(Overdue::kReport));
  clock.BeginPhase();
  EXPECT_EQ(clock.Check(JobPhase::kEnding, true), std::nullopt);
  Pass(clock, 1);
  EXPECT_FALSE(clock.LingerOver());
  Pass(clock, 1);
  EXPECT_TRUE(clock.LingerOver());
}

}  // namespace
}  // namespace shoal
