// Whole jobs of the synchronous modes, whose weights are those of a serial loop
// (step_oracle.h).

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/in_process_run.h"
#include "tests/job/step_job.h"
#include "tests/job/step_job_run.h"
#include "tests/job/step_oracle.h"

namespace shoal {
namespace {

using ::testing::Each;

// Every batch was trained once, and every member has the canaries of all.
void ExpectAllTrained(const TrainedJob& trained, const SerialSteps& serial) {
  EXPECT_EQ(trained.report.trained, serial.examples);
  EXPECT_EQ(trained.report.batches, serial.batches);
  for (const PsReport& ps : trained.report.ps) {
    EXPECT_EQ(ps.stats.canary, (CanaryStats{serial.batches, 0, 1, 1}))
        << "ps " << ps.index;
  }
}

void ExpectSame(const TrainedJob& trained, const SerialSteps& serial) {
  ExpectAllTrained(trained, serial);
  for (size_t i = 0; i < trained.weights.size(); ++i) {
    EXPECT_EQ(FirstDifference(trained.spec, kStepJobIds, trained.weights[i],
                              serial.weights),
              "")
        << "replica " << i;
  }
  EXPECT_EQ(trained.report.digest, serial.digest);
}

std::vector<uint64_t> ReplicaDigests(const TrainedJob& trained) {
  std::vector<uint64_t> digests;
  for (const PsReport& ps : trained.report.ps) {
    digests.push_back(ps.stats.digest);
  }
  return digests;
}

using Case = std::tuple<OptimizerKind, int>;  // and the number of ranks

std::string NameOfCase(const testing::TestParamInfo<Case>& info) {
  return absl::StrCat(OptimizerName(std::get<0>(info.param)), "_",
                      std::get<1>(info.param), "_ranks");
}

class EqualWeightsTest : public testing::TestWithParam<Case> {
 protected:
  OptimizerKind kind() const { return std::get<0>(GetParam()); }
  int ranks() const { return std::get<1>(GetParam()); }
  InProcessJobOptions Options() const {
    return StepJobOptions(kind(), ranks());
  }

  // Sync over 1, 2 and 3 servers and the ring have the weights of the loop.
  void ExpectOneSetOfWeights(const InProcessJobOptions& options) {
    const SerialSteps serial = TrainStepsSerially(options, files_, kStepJobIds);
    EXPECT_GE(serial.steps, 50u);
    EXPECT_GT(serial.short_batches, 10u);
    EXPECT_GT(serial.partial_steps, 0u);
    for (uint64_t k = 1; k <= 3; ++k) {
      SCOPED_TRACE(absl::StrCat("sync over ", k, " servers"));
      ExpectSame(RunSync(files_, options, k, /*schedule=*/k), serial);
    }
    SCOPED_TRACE("ring");
    const TrainedJob ring =
        RunRing(files_, options, Reduction::kRankOrder, /*schedule=*/4);
    ExpectSame(ring, serial);
    EXPECT_EQ(ring.report.ps.size(), options.workers);
    EXPECT_THAT(ReplicaDigests(ring), Each(serial.digest));
  }

  FakeFileSystem files_;
};

TEST_P(EqualWeightsTest, SyncAndRingHaveTheBitsOfASerialLoop) {
  InProcessJobOptions options = Options();
  AddUnevenFiles(&files_, &options);
  ExpectOneSetOfWeights(options);
}

float MostApart(const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

TEST_P(EqualWeightsTest, FastIsNearTheSerialLoopAndTheSameInEveryRun) {
  InProcessJobOptions options = Options();
  AddTenSteps(&files_, &options);
  const SerialSteps serial = TrainStepsSerially(options, files_, kStepJobIds);
  EXPECT_EQ(serial.steps, 10u);
  EXPECT_GT(serial.partial_steps, 0u);
  const TrainedJob fast = RunRing(files_, options, Reduction::kFast, 1);
  ExpectAllTrained(fast, serial);
  for (uint64_t schedule = 2; schedule <= 3; ++schedule) {
    const TrainedJob again =
        RunRing(files_, options, Reduction::kFast, schedule);
    EXPECT_THAT(ReplicaDigests(again), Each(fast.report.digest));
  }
  ASSERT_EQ(fast.weights.size(), static_cast<size_t>(ranks()));
  EXPECT_THAT(fast.weights, Each(fast.weights[0]));
  // Adam divides by the size of small gradients: AdamFollowsTheLossCurve.
  if (kind() != OptimizerKind::kAdam) {
    EXPECT_LE(MostApart(fast.weights[0], serial.weights), 1e-5f);
  }
  // Two numbers have one sum, and more have a sum in each order.
  EXPECT_EQ(fast.report.digest == serial.digest, ranks() == 2);
}

INSTANTIATE_TEST_SUITE_P(
    OptimizersAndRanks, EqualWeightsTest,
    testing::Combine(testing::Values(OptimizerKind::kSgd,
                                     OptimizerKind::kAdagrad,
                                     OptimizerKind::kAdam),
                     testing::Values(2, 3, 4)),
    NameOfCase);

class EqualWeightsOfTest : public EqualWeightsTest {};

TEST_P(EqualWeightsOfTest, AModelWithoutDropout) {
  InProcessJobOptions options = Options();
  options.model.dropout_keep.clear();
  AddUnevenFiles(&files_, &options);
  ExpectOneSetOfWeights(options);
}

TEST_P(EqualWeightsOfTest, TheDefaultBackend) {
  InProcessJobOptions options = Options();
  options.backend = "auto";
  AddUnevenFiles(&files_, &options);
  ExpectOneSetOfWeights(options);
}

TEST_P(EqualWeightsOfTest, ClippedGradients) {
  InProcessJobOptions options = Options();
  AddUnevenFiles(&files_, &options);
  const uint64_t unclipped =
      TrainStepsSerially(options, files_, kStepJobIds).digest;
  options.worker_loop.trainer.clip_norm = 0.2;
  EXPECT_NE(TrainStepsSerially(options, files_, kStepJobIds).digest, unclipped);
  ExpectOneSetOfWeights(options);
}

TEST_P(EqualWeightsOfTest, ADynamicTable) {
  InProcessJobOptions options = Options();
  options.model.feature_size = 0;
  AddUnevenFiles(&files_, &options);
  ExpectOneSetOfWeights(options);
}

TEST_P(EqualWeightsOfTest, PushesThatAreParkedAgainAfterTheirDeadline) {
  InProcessJobOptions options = Options();
  options.worker_loop.push_timeout = absl::Milliseconds(5);
  options.worker_loop.trainer.retry_pause = absl::Milliseconds(1);
  AddTenSteps(&files_, &options);
  const SerialSteps serial = TrainStepsSerially(options, files_, kStepJobIds);
  for (uint64_t k = 1; k <= 3; ++k) {
    const TrainedJob sync = RunSync(files_, options, k, /*schedule=*/k);
    ExpectSame(sync, serial);
    EXPECT_GT(sync.pushes, k * serial.batches + serial.steps / 2)
        << "few retries";
  }
}

TEST_P(EqualWeightsOfTest, ARankWithoutABatch) {
  InProcessJobOptions options = Options();
  // One batch less than there are ranks, in one piece.
  files_.AddFile("few", StepJobRows(1, 20 * (ranks() - 1) - 5));
  options.train = ListOrFail(files_, "few");
  options.coordinator.piece_bytes = 0;
  options.coordinator.num_epochs = 3;
  const SerialSteps serial = TrainStepsSerially(options, files_, kStepJobIds);
  EXPECT_EQ(serial.steps, 3u);
  EXPECT_EQ(serial.partial_steps, 3u);
  ExpectSame(RunSync(files_, options, /*ps=*/2, /*schedule=*/1), serial);
  ExpectSame(RunRing(files_, options, Reduction::kRankOrder, /*schedule=*/2),
             serial);
}

TEST_P(EqualWeightsOfTest, OneRank) {
  InProcessJobOptions options = Options();
  options.workers = 1;
  AddTenSteps(&files_, &options);
  const SerialSteps serial = TrainStepsSerially(options, files_, kStepJobIds);
  ExpectSame(RunSync(files_, options, /*ps=*/2, /*schedule=*/1), serial);
  ExpectSame(RunRing(files_, options, Reduction::kRankOrder, /*schedule=*/2),
             serial);
  for (const int ps : {1, 3}) {
    ExpectSame(RunHybrid(files_, options, ps, /*schedule=*/3), serial);
  }
}

// The servers apply the rows of each batch by themselves.
TEST_P(EqualWeightsOfTest, HybridTrainsEachBatchOnceAndHasEqualReplicas) {
  InProcessJobOptions options = Options();
  AddUnevenFiles(&files_, &options);
  const SerialSteps serial = TrainStepsSerially(options, files_, kStepJobIds);
  for (int ps = 1; ps <= 3; ++ps) {
    const TrainedJob hybrid = RunHybrid(files_, options, ps, /*schedule=*/ps);
    ExpectAllTrained(hybrid, serial);
    ASSERT_EQ(hybrid.report.ps.size(), static_cast<size_t>(ps + ranks()));
    ASSERT_EQ(hybrid.weights.size(), static_cast<size_t>(ranks()));
    EXPECT_THAT(hybrid.weights, Each(hybrid.weights[0]));
    EXPECT_LE(hybrid.report.staleness.max(), ranks() - 1);
  }
}

TEST_P(EqualWeightsOfTest, AnyDelays) {
  InProcessJobOptions options = Options();
  AddTenSteps(&files_, &options);
  const SerialSteps serial = TrainStepsSerially(options, files_, kStepJobIds);
  for (uint64_t schedule = 10; schedule < 30; ++schedule) {
    SCOPED_TRACE(absl::StrCat("schedule ", schedule));
    ExpectSame(RunSync(files_, options, /*ps=*/2, schedule), serial);
    ExpectSame(RunRing(files_, options, Reduction::kRankOrder, schedule),
               serial);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OptimizersAndRanks, EqualWeightsOfTest,
    testing::Values(std::tuple(OptimizerKind::kSgd, 2),
                    std::tuple(OptimizerKind::kAdam, 3),
                    std::tuple(OptimizerKind::kAdagrad, 4)),
    NameOfCase);

// The log loss after each epoch.
std::vector<double> LossCurve(const TrainedJob& trained) {
  std::vector<double> losses;
  for (const EvalReport& eval : trained.report.evals) {
    losses.push_back(eval.logloss);
  }
  return losses;
}

TEST(FastReductionTest, AdamFollowsTheLossCurve) {
  for (const int ranks : {3, 4}) {
    FakeFileSystem files;
    InProcessJobOptions options = StepJobOptions(OptimizerKind::kAdam, ranks);
    AddTenSteps(&files, &options);
    options.eval = options.train;
    options.coordinator.num_epochs = 8;
    const TrainedJob exact =
        RunRing(files, options, Reduction::kRankOrder, /*schedule=*/1);
    const TrainedJob fast =
        RunRing(files, options, Reduction::kFast, /*schedule=*/2);
    EXPECT_NE(fast.report.digest, exact.report.digest);
    const std::vector<double> curve = LossCurve(exact);
    ASSERT_EQ(curve.size(), 8u);
    EXPECT_LT(curve.back(), curve.front() - 0.05) << "nothing is learnt";
    EXPECT_THAT(LossCurve(fast),
                testing::Pointwise(testing::DoubleNear(1e-4), curve));
  }
}

}  // namespace
}  // namespace shoal
