// Jobs of the synchronous modes on threads, as in `shoal train`: their weights
// are those of a serial loop, whenever threads run.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/notification.h"
#include "tests/job/step_job.h"
#include "tests/job/step_oracle.h"

namespace shoal {
namespace {

constexpr int kRanks = 3;

// Runs the job to its end.
JobReport RunOnThreads(const FakeFileSystem& files,
                       InProcessJobOptions options) {
  RealClock clock;
  Logger logger({"", LogLevel::kError});
  ThreadExecutor control({"control", 1}, &clock);
  ThreadExecutor completions({"completions", 2}, &clock);
  std::vector<std::unique_ptr<ThreadExecutor>> train;
  InProcessJobDependencies deps;
  for (int rank = 0; rank < options.workers; ++rank) {
    train.push_back(std::make_unique<ThreadExecutor>(
        ThreadExecutorOptions{absl::StrCat("train ", rank), 1}, &clock));
    deps.train.push_back(train.back().get());
  }
  deps.file_system = &files;
  deps.logger = &logger;
  deps.control = &control;
  deps.completions = &completions;
  // Reads ahead on threads of their own.
  options.prefetch = true;
  auto job = InProcessJob::Create(std::move(options), std::move(deps));
  EXPECT_TRUE(job.ok()) << job.status();
  JobReport report;
  Notification ended;
  (*job)->Start([&](JobReport last) {
    report = std::move(last);
    ended.Notify();
  });
  EXPECT_TRUE(ended.Wait(absl::Minutes(2))) << "hangs";
  // Tasks that are still queued may refer to the job.
  for (const auto& strand : train) strand->Shutdown();
  completions.Shutdown();
  control.Shutdown();
  EXPECT_TRUE(report.status.ok()) << report.status;
  return report;
}

class ThreadedStepsTest : public testing::Test {
 protected:
  ThreadedStepsTest()
      : options_(StepJobOptions(OptimizerKind::kAdam, kRanks)) {
    AddTenSteps(&files_, &options_);
    options_.coordinator.num_epochs = 3;
    serial_ = TrainStepsSerially(options_, files_, kStepJobIds);
  }

  void ExpectSame() {
    const JobReport report = RunOnThreads(files_, options_);
    EXPECT_EQ(report.digest, serial_.digest);
    EXPECT_EQ(report.trained, serial_.examples);
    for (const PsReport& ps : report.ps) {
      EXPECT_EQ(ps.stats.canary, (CanaryStats{serial_.batches, 0, 1, 1}));
      if (options_.mode->ring) {
        EXPECT_EQ(ps.stats.digest, serial_.digest);
      }
    }
  }

  FakeFileSystem files_;
  InProcessJobOptions options_;
  SerialSteps serial_;
};

TEST_F(ThreadedStepsTest, Sync) {
  SetMode(TrainingMode::kSync, &options_);
  for (const int ps : {1, 2}) {
    options_.ps = ps;
    ExpectSame();
  }
}

TEST_F(ThreadedStepsTest, Ring) {
  SetMode(TrainingMode::kRing, &options_);
  for (int run = 0; run < 2; ++run) ExpectSame();
}

TEST_F(ThreadedStepsTest, RingWithTheFastReductionHasOneDigestInAllRuns) {
  SetMode(TrainingMode::kRing, &options_);
  options_.ring.reduction = Reduction::kFast;
  const JobReport first = RunOnThreads(files_, options_);
  const JobReport second = RunOnThreads(files_, options_);
  EXPECT_EQ(second.digest, first.digest);
  for (const PsReport& ps : second.ps) {
    EXPECT_EQ(ps.stats.digest, first.digest);
  }
}

}  // namespace
}  // namespace shoal
