// Whole jobs under the simulated clock and a faulty network, whose workers die
// and whose servers do not (job_faults_test.cc has those). A failing seed is
// run again alone by:  job_simulation_test --gtest_filter='*/<seed>'

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/seeds.h"
#include "tests/sim/simulated_job.h"

namespace shoal {
namespace {

class JobSimulationTest : public testing::TestWithParam<uint64_t> {
 protected:
  SimulatedJobOptions Options() {
    SimulatedJobOptions options;
    options.seed = GetParam();
    options.pipeline_depth = GetParam() % 3;
    options.job.dynamic_table = GetParam() % 2 == 0;
    options.job.eval_every_epochs = GetParam() % 3;
    return options;
  }

  // What one process says of the same job, whatever the table and the PSs.
  static const JobReport& Serial(const ProbeJobOptions& job) {
    static auto* const reports = new std::map<std::pair<int, int>, JobReport>;
    const auto [at, fresh] =
        reports->try_emplace({job.epochs, job.eval_every_epochs});
    if (fresh) at->second = RunSerialProbe(job);
    return at->second;
  }

  // What is true of every job that ends well.
  void ExpectWhole(const SimulatedJobOptions& options,
                   const SimulatedJobResult& result) {
    ASSERT_TRUE(result.finished) << "hangs";
    ASSERT_TRUE(result.report.status.ok()) << result.report.status;
    const uint64_t samples =
        uint64_t{1} * options.job.rows * options.job.epochs;
    EXPECT_EQ(result.report.samples, samples);
    EXPECT_EQ(result.report.trained, samples);
    EXPECT_EQ(result.report.rejected, 0u);
    EXPECT_EQ(result.report.lost, 0u);
    const JobReport& serial = Serial(options.job);
    EXPECT_EQ(result.report.digest, serial.digest)
        << "a batch was applied twice or not at all: "
        << LedgerLine(result.report);
    // An evaluation sees exactly this number of epochs, and every row once.
    ASSERT_EQ(result.report.evals.size(), serial.evals.size());
    for (size_t i = 0; i < serial.evals.size(); ++i) {
      const EvalReport& eval = result.report.evals[i];
      EXPECT_EQ(eval.epoch, serial.evals[i].epoch);
      EXPECT_EQ(eval.step, serial.evals[i].step);
      EXPECT_EQ(eval.auc, serial.evals[i].auc);
      EXPECT_EQ(eval.logloss, serial.evals[i].logloss);
      EXPECT_EQ(eval.calibration, serial.evals[i].calibration);
      uint64_t scored = 0;
      for (const auto& [worker, rows] : eval.examples_of_worker) scored += rows;
      EXPECT_EQ(scored, static_cast<uint64_t>(options.job.rows) / 4);
      EXPECT_EQ(eval.examples, scored);
    }
    for (const PsReport& ps : result.report.ps) {
      EXPECT_EQ(ps.stats.pushes_applied, result.report.batches);
      EXPECT_EQ(ps.stats.canary, (CanaryStats{result.report.batches, 0, 1, 1}));
    }
  }
};

TEST_P(JobSimulationTest, AnAsynchronousJobEqualsTheSerialOneBitForBit) {
  const SimulatedJobOptions options = Options();
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_EQ(result.report.mended, 0u);
  EXPECT_EQ(result.report.repeats_refused, 0u);
  // Each push of a shard was measured once.
  EXPECT_EQ(result.report.staleness.count(),
            result.report.batches * options.job.ps);
}

TEST_P(JobSimulationTest, LostLateAndRepeatedMessagesChangeNothing) {
  SimulatedJobOptions options = Options();
  options.network.max_delay = absl::Milliseconds(40);
  options.network.drop = 0.02;
  options.network.duplicate = 0.2;
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_GT(result.network.duplicated, 0u);
  EXPECT_GT(result.report.repeats_refused, 0u);
}

TEST_P(JobSimulationTest, KilledWorkersCostNoSampleAndRepeatNone) {
  SimulatedJobOptions options = Options();
  options.network.duplicate = 0.05;
  options.faults.worker_kills = 20;
  options.job.epochs = 3;
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_GT(result.kills, 0);
  EXPECT_GT(result.report.recomputed + result.report.repeats_refused, 0u);
}

// --mode=ssp. Where the clocks keep a worker that died, all others wait for it
// until the job ends for want of progress.
TEST_P(JobSimulationTest, WorkersThatWaitForTheSlowestLoseNothingEither) {
  SimulatedJobOptions options = Options();
  options.ssp_bound = static_cast<uint32_t>(GetParam() % 4);
  options.network.duplicate = 0.05;
  options.network.drop = 0.01;
  options.faults.worker_kills = 15;
  options.faults.breaks = 20;
  options.faults.stalls = 4;
  options.save_steps = 40;
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_GT(result.kills, 0);
  EXPECT_EQ(result.report.checkpoint.voided, 0u)
      << result.report.checkpoint.last_error;
  for (const uint64_t digest : result.resumed_digests) {
    EXPECT_EQ(digest, result.report.digest);
  }
}

// Connections break at any moment: while processes register, train, report,
// and while they resume.
TEST_P(JobSimulationTest, BrokenSessionsResumeAndNothingIsLost) {
  SimulatedJobOptions options = Options();
  options.faults.breaks = 60;
  options.job.epochs = 3;
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_GT(result.network.broken, 10u);
  // A worker that starts last may find the job over.
  EXPECT_LE(result.network.registrations,
            static_cast<uint64_t>(options.job.ps - 1 + options.job.workers))
      << "each process keeps the life that it began with";
}

TEST_P(JobSimulationTest, BreaksKillsAndSavesTogetherLoseNothing) {
  SimulatedJobOptions options = Options();
  options.network.duplicate = 0.05;
  options.network.drop = 0.01;
  options.faults.breaks = 40;
  options.faults.worker_kills = 10;
  options.save_steps = 20;
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_GT(result.network.broken, 5u);
  EXPECT_EQ(result.report.checkpoint.voided, 0u)
      << result.report.checkpoint.last_error;
  for (const uint64_t digest : result.resumed_digests) {
    EXPECT_EQ(digest, result.report.digest);
  }
}

// One strand of a process stands still while its others go on: a server that
// takes calls and saves nothing, a worker that beats and does not train.
TEST_P(JobSimulationTest, StalledStrandsAndPushesInChunksChangeNothing) {
  SimulatedJobOptions options = Options();
  options.network.chunk_bytes = 200;
  options.network.duplicate = 0.05;
  options.network.drop = 0.002;
  options.faults.stalls = 8;
  options.save_steps = 40;
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_GT(result.stalls, 0);
  EXPECT_GT(result.network.chunks, 5 * result.report.batches);
  for (const uint64_t digest : result.resumed_digests) {
    EXPECT_EQ(digest, result.report.digest);
  }
}

TEST_P(JobSimulationTest, APauseOfAllProcessesIsNoDeath) {
  SimulatedJobOptions options = Options();
  options.faults.freeze_all = absl::Seconds(8);
  const SimulatedJobResult result = RunSimulatedJob(options);
  EXPECT_EQ(result.stalls, 1);
  ExpectWhole(options, result);
}

TEST_P(JobSimulationTest, APauseOfTheOnlyServerIsNoDeath) {
  SimulatedJobOptions options = Options();
  options.job.ps = 1;
  options.faults.freeze_ps0 = absl::Seconds(8);
  const SimulatedJobResult result = RunSimulatedJob(options);
  EXPECT_EQ(result.stalls, 1);
  ExpectWhole(options, result);
}

TEST(PausedCoordinatorTest, AServerThatHearsNothingOfAFrozenPs0EndsTheJob) {
  SimulatedJobOptions options;
  options.faults.freeze_ps0 = absl::Seconds(8);
  const SimulatedJobResult result = RunSimulatedJob(options);
  ASSERT_TRUE(result.finished);
  EXPECT_EQ(result.report.status.code(), absl::StatusCode::kUnavailable)
      << result.report.status;
}

// A checkpoint that lacks a push on one shard, or has one that it does not know
// of, ends with another model.
TEST_P(JobSimulationTest, EveryCheckpointUnderKillsIsOneSetOfBatches) {
  SimulatedJobOptions options = Options();
  options.network.duplicate = 0.05;
  options.network.drop = 0.01;
  options.network.max_delay = absl::Milliseconds(20);
  options.faults.worker_kills = 15;
  options.save_steps = 20;
  const SimulatedJobResult result = RunSimulatedJob(options);
  ExpectWhole(options, result);
  EXPECT_GT(result.kills, 0);
  EXPECT_GT(result.report.checkpoint.saved, 2u);
  EXPECT_EQ(result.report.checkpoint.voided, 0u)
      << result.report.checkpoint.last_error;
  EXPECT_GT(result.resumed_digests.size(), 2u);
  for (const uint64_t digest : result.resumed_digests) {
    EXPECT_EQ(digest, result.report.digest);
  }
}

// ---- Planted bugs: the simulator must find them

// Checkpoints of a job that were void, or are there and end with another model.
uint64_t TimesNotOneSet(const SimulatedJobResult& result) {
  EXPECT_TRUE(result.finished);
  uint64_t times = result.report.checkpoint.voided;
  for (const uint64_t digest : result.resumed_digests) {
    times += digest != result.report.digest ? 1 : 0;
  }
  return times;
}

// A dead worker's push that arrives between the marks and the writing: the
// shards no longer hold one set of batches, or not the one that was agreed on.
TEST(PlantedBugTest, ASaveThatDoesNotSealTheShardsIsFoundOut) {
  uint64_t found = 0;
  uint64_t without = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SimulatedJobOptions options;
    options.seed = seed;
    options.job.ps = 2;
    options.job.workers = 6;
    options.network.push_delay = absl::Milliseconds(200);
    options.faults.worker_kills = 200;
    options.restart_within = absl::Milliseconds(20);
    options.save_steps = 3;
    without += TimesNotOneSet(RunSimulatedJob(options));
    options.bugs.unsealed_saves = true;
    found += TimesNotOneSet(RunSimulatedJob(options));
  }
  EXPECT_GT(found, 0u);
  EXPECT_EQ(without, 0u) << "it is the seal that keeps the set";
}

INSTANTIATE_TEST_SUITE_P(Seeds, JobSimulationTest,
                         testing::Range<uint64_t>(1, Seeds(20) + 1),
                         [](const auto& info) {
                           return absl::StrCat(info.param);
                         });

}  // namespace
}  // namespace shoal
