#include "job/in_process_job.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/in_process_run.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 200;
constexpr int kFields = 5;

// Counts by itself what the shard counts as staleness. At pipeline depth 0 a
// worker's push belongs to its newest pull.
class ShadowService : public ParameterService {
 public:
  struct Shadow {
    uint64_t applied = 0;
    Histogram staleness;
  };

  ShadowService(std::shared_ptr<ParameterService> inner, Shadow* shadow)
      : inner_(std::move(inner)), shadow_(shadow) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    if (!request.read_only) at_pull_ = shadow_->applied;
    inner_->Pull(std::move(request), timeout, std::move(done));
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    shadow_->staleness.Add(shadow_->applied - at_pull_);
    ++shadow_->applied;
    inner_->Push(std::move(request), timeout, std::move(done));
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    inner_->Stats(std::move(request), timeout, std::move(done));
  }

 private:
  const std::shared_ptr<ParameterService> inner_;
  Shadow* const shadow_;
  uint64_t at_pull_ = 0;
};

std::string Rows(int count) {
  std::string rows;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&rows, StableHashCombine(9, i) % 2);
    // Every seventh row is short.
    const int fields = i % 7 == 0 ? kFields - 2 : kFields;
    for (int f = 0; f < fields; ++f) {
      absl::StrAppend(&rows, " ", StableHashCombine(f, i) % kFeatures, ":",
                      1 + i % 3);
    }
    rows += "\n";
  }
  return rows;
}

// A finished job, with everything that it stands on.
struct Ran {
  Ran(uint64_t schedule, int workers) : run(schedule, workers, &files) {}

  FakeFileSystem files;
  InProcessRun run;
  InProcessJob* job = nullptr;
  JobReport report;
};

// Changes to a job before it starts.
struct Changes {
  std::string rows = Rows(900);
  absl::AnyInvocable<void(InProcessJobOptions*)> options;
  decltype(InProcessJobDependencies::wrap_service) wrap_service;
  CoordinatorWork work;
};

std::unique_ptr<Ran> StartDeepFm(uint64_t schedule, int ps, int workers,
                                 Changes changes) {
  auto ran = std::make_unique<Ran>(schedule, workers);
  ran->files.AddFile("d/tr.libsvm", changes.rows);
  ran->files.AddFile("d/te.libsvm", Rows(100));
  InProcessJobOptions options = SmallDeepFm(kFeatures, kFields);
  options.model.dropout_keep = {0.8f, 0.8f};
  options.partition.cut_dense_bytes = 256;
  options.ps = ps;
  options.workers = workers;
  options.coordinator.batch_size = 32;
  options.coordinator.num_epochs = 2;
  options.coordinator.piece_bytes = 3000;
  options.train = ListOrFail(ran->files, "d/tr.libsvm");
  options.eval = ListOrFail(ran->files, "d/te.libsvm");
  ran->run.deps.wrap_service = std::move(changes.wrap_service);
  ran->run.deps.work = std::move(changes.work);
  if (changes.options != nullptr) changes.options(&options);
  ran->report = ran->run.Run(std::move(options));
  ran->job = ran->run.job();
  return ran;
}

std::unique_ptr<Ran> RunDeepFm(uint64_t schedule, int ps, int workers,
                               std::vector<ShadowService::Shadow>* shadows) {
  Changes changes;
  if (shadows != nullptr) {
    shadows->resize(ps);
    changes.wrap_service =
        [shadows](int, int shard, std::shared_ptr<ParameterService> service) {
          return std::make_shared<ShadowService>(std::move(service),
                                                 &(*shadows)[shard]);
        };
  }
  auto ran = StartDeepFm(schedule, ps, workers, std::move(changes));
  EXPECT_TRUE(ran->report.status.ok()) << ran->report.status;
  return ran;
}

TEST(InProcessJobTest, OneWorkerGivesTheSameWeightsBitForBit) {
  const auto a = RunDeepFm(/*schedule=*/1, 1, 1, nullptr);
  const auto b = RunDeepFm(/*schedule=*/2, 1, 1, nullptr);
  const std::vector<float> x = a->run.Weights(kFeatures);
  const std::vector<float> y = b->run.Weights(kFeatures);
  ASSERT_EQ(x.size(), y.size());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0);
  EXPECT_EQ(a->report.digest, b->report.digest);
  EXPECT_EQ(a->report.eval.auc, b->report.eval.auc);
  EXPECT_EQ(a->report.eval.examples, 100u);
  EXPECT_EQ(a->report.staleness.max(), 0u);
}

TEST(InProcessJobTest, EvaluationsBetweenEpochsChangeNoWeight) {
  const auto run = [](uint32_t every) {
    Changes changes;
    changes.options = [every](InProcessJobOptions* options) {
      options->coordinator.num_epochs = 3;
      options->coordinator.eval_every_epochs = every;
    };
    auto ran = StartDeepFm(/*schedule=*/every, 1, 1, std::move(changes));
    EXPECT_TRUE(ran->report.status.ok()) << ran->report.status;
    return ran;
  };
  const auto with = run(1);
  const auto without = run(0);
  ASSERT_EQ(with->report.evals.size(), 3u);
  ASSERT_EQ(without->report.evals.size(), 1u);
  EXPECT_EQ(with->report.digest, without->report.digest);
  const std::vector<float> x = with->run.Weights(kFeatures);
  const std::vector<float> y = without->run.Weights(kFeatures);
  ASSERT_EQ(x.size(), y.size());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0);
  EXPECT_EQ(with->report.eval.auc, without->report.eval.auc);
  EXPECT_EQ(with->report.eval.logloss, without->report.eval.logloss);
  EXPECT_NE(with->report.evals[0].logloss, with->report.eval.logloss)
      << "an earlier model";
}

// Predictions of a job over the rows, in the order in which it wrote them.
std::vector<float> Infer(int ps, int workers, uint64_t feature_size,
                         const std::string& rows, JobReport* report) {
  auto written = std::make_shared<std::vector<float>>();
  auto ended = std::make_shared<bool>(false);
  Changes changes;
  changes.options = [&](InProcessJobOptions* options) {
    options->coordinator.task = JobTask::kInfer;
    options->coordinator.max_bad_rows = -1;
    options->coordinator.piece_bytes = 500;
    options->model.feature_size = feature_size;
    options->worker_loop.trainer.scores.max_scores = 7;
    options->eval = options->train;
    options->train.clear();
  };
  changes.rows = rows;
  changes.work.write_predictions = [=](absl::Span<const float> logits,
                                       bool last) {
    EXPECT_FALSE(*ended);
    *ended = last;
    written->insert(written->end(), logits.begin(), logits.end());
    return absl::OkStatus();
  };
  const auto ran = StartDeepFm(/*schedule=*/3, ps, workers, std::move(changes));
  EXPECT_TRUE(ran->report.status.ok()) << ran->report.status;
  EXPECT_TRUE(*ended);
  *report = ran->report;
  return *written;
}

TEST(InProcessJobTest, PredictionsKeepTheOrderOfTheRowsHoweverManyWorkers) {
  const std::string rows = Rows(300);
  JobReport one;
  JobReport many;
  const std::vector<float> x = Infer(1, 1, kFeatures, rows, &one);
  const std::vector<float> y = Infer(3, 4, kFeatures, rows, &many);
  ASSERT_EQ(x.size(), 300u);
  EXPECT_EQ(x, y);
  // Not all alike, so that an order can be told.
  EXPECT_GT(std::set<float>(x.begin(), x.end()).size(), 250u);
  EXPECT_EQ(many.predicted, 300u);
  EXPECT_EQ(many.predicted_nan, 0u);
  uint64_t scored = 0;
  for (const WorkerReport& worker : many.workers) scored += worker.scored;
  EXPECT_EQ(scored, 300u);
  EXPECT_EQ(many.trained, 0u);
  EXPECT_EQ(many.staleness.count(), 0u) << "nothing was pushed";
}

TEST(InProcessJobTest, InferenceKeepsThePlaceOfBadRowsAndIgnoresLabels) {
  std::string rows = "7.5 3:1\n# no row\n0 3:1 nonsense\n-1 3:1\n";
  JobReport report;
  const std::vector<float> logits = Infer(1, 2, kFeatures, rows, &report);
  ASSERT_EQ(logits.size(), 3u);
  EXPECT_TRUE(std::isnan(logits[1]));
  EXPECT_EQ(logits[0], logits[2]);
  EXPECT_TRUE(std::isfinite(logits[0]));
  EXPECT_EQ(report.predicted_nan, 1u);
  EXPECT_EQ(report.bad_rows, 1u);
}

TEST(InProcessJobTest, InferenceCreatesNoRows) {
  JobReport report;
  const std::vector<float> logits =
      Infer(2, 2, /*feature_size=*/0, Rows(100), &report);
  EXPECT_EQ(logits.size(), 100u);
  for (const PsReport& ps : report.ps) {
    EXPECT_GT(ps.stats.lookups, 0u);
    EXPECT_EQ(ps.stats.rows, 0u);
  }
}

TEST(InProcessJobTest, ShardsDoNotChangeWhatOneWorkerLearns) {
  const auto one = RunDeepFm(1, 1, 1, nullptr);
  const auto three = RunDeepFm(1, 3, 1, nullptr);
  EXPECT_EQ(one->report.digest, three->report.digest);
}

// A dynamic table's initial values are scaled as those of 2^20 rows.
TEST(InProcessJobTest, ADynamicTableLearnsWhatAnArrayLearns) {
  const auto run = [](uint64_t feature_size, int ps) {
    Changes changes;
    changes.options = [feature_size](InProcessJobOptions* options) {
      options->model.feature_size = feature_size;
    };
    auto ran = StartDeepFm(/*schedule=*/1, ps, 1, std::move(changes));
    EXPECT_TRUE(ran->report.status.ok()) << ran->report.status;
    return ran;
  };
  const auto array = run(1 << 20, 1);
  const auto one = run(0, 1);
  const auto three = run(0, 3);
  EXPECT_EQ(one->report.digest, array->report.digest);
  EXPECT_EQ(three->report.digest, array->report.digest);
  EXPECT_EQ(three->report.eval.auc, array->report.eval.auc);
  uint64_t rows = 0;
  for (const PsReport& ps : three->report.ps) {
    EXPECT_GT(ps.stats.rows, 0u);
    rows += ps.stats.rows;
  }
  EXPECT_EQ(rows, array->report.ps[0].stats.rows);
}

TEST(InProcessJobTest, AFullTableEndsTheJobOrSharesARow) {
  for (const TableFull full : {TableFull::kRefuse, TableFull::kShare}) {
    Changes changes;
    changes.options = [full](InProcessJobOptions* options) {
      options->model.feature_size = 0;
      options->model.table_row_limit = 20;
      options->model.table_full = full;
    };
    const auto ran = StartDeepFm(1, 2, 1, std::move(changes));
    if (full == TableFull::kShare) {
      EXPECT_TRUE(ran->report.status.ok()) << ran->report.status;
      EXPECT_EQ(ran->report.trained, 1800u);
      for (const PsReport& ps : ran->report.ps) {
        EXPECT_EQ(ps.stats.rows, 21u);
      }
    } else {
      EXPECT_EQ(ran->report.status.code(), absl::StatusCode::kOutOfRange);
      EXPECT_THAT(std::string(ran->report.status.message()),
                  testing::HasSubstr("--table_row_limit"));
    }
  }
}

TEST(InProcessJobTest, ClippingDoesNotDependOnTheShards) {
  const auto run_clipped = [](int ps) {
    Changes changes;
    changes.options = [](InProcessJobOptions* options) {
      options->worker_loop.trainer.clip_norm = 0.2;
    };
    auto ran = StartDeepFm(1, ps, 1, std::move(changes));
    EXPECT_TRUE(ran->report.status.ok()) << ran->report.status;
    return ran;
  };
  const auto one = run_clipped(1);
  const auto three = run_clipped(3);
  EXPECT_EQ(one->report.digest, three->report.digest);
  EXPECT_NE(one->report.digest, RunDeepFm(1, 1, 1, nullptr)->report.digest)
      << "nothing was clipped";
}

TEST(InProcessJobTest, ABatchThatIsNotFiniteIsRejectedOnEveryShard) {
  for (const int ps : {1, 3}) {
    Changes bad;
    bad.rows += "1 5:1 6:1e38 7:1 8:1 9:1\n";  // its second order is no number
    bad.options = [](InProcessJobOptions* options) { options->canary = true; };
    const auto ran = StartDeepFm(1, ps, 2, std::move(bad));
    ASSERT_TRUE(ran->report.status.ok()) << ran->report.status;
    const JobReport& report = ran->report;
    // Two epochs; once in each, a batch of at most 32 has the row.
    EXPECT_EQ(report.samples, 2u * 901);
    EXPECT_EQ(report.trained + report.rejected, report.samples);
    EXPECT_EQ(report.lost, 0u);
    EXPECT_GE(report.rejected, 2u);
    EXPECT_LE(report.rejected, 2u * 32);
    for (const auto& shard : report.ps) {
      EXPECT_EQ(shard.stats.pushes_rejected, 2u);
      EXPECT_EQ(shard.stats.pushes_applied + 2, report.batches);
      EXPECT_EQ(shard.stats.canary->rows, shard.stats.pushes_applied);
    }
    EXPECT_TRUE(std::isfinite(report.eval.logloss));
    EXPECT_EQ(report.eval.examples, 100u);
    if (ps > 1) continue;
    for (const float weight : ran->run.Weights(kFeatures)) {
      EXPECT_TRUE(std::isfinite(weight));
    }
  }
}

// The canary goes with every push, and the model does not feel it.
TEST(InProcessJobTest, CanariesAreOneForEachAppliedBatch) {
  Changes changes;
  changes.options = [](InProcessJobOptions* options) {
    options->canary = true;
  };
  const auto ran = StartDeepFm(/*schedule=*/1, 3, 1, std::move(changes));
  ASSERT_TRUE(ran->report.status.ok()) << ran->report.status;
  for (const PsReport& ps : ran->report.ps) {
    EXPECT_EQ(ps.stats.canary, (CanaryStats{ran->report.batches, 0, 1, 1}));
  }
  const auto without = RunDeepFm(1, 3, 1, nullptr);
  EXPECT_EQ(ran->report.digest, without->report.digest);
  for (int k = 0; k < 3; ++k) {
    const StatsReply& a = ran->report.ps[k].stats;
    const StatsReply& b = without->report.ps[k].stats;
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.variables.size(), b.variables.size());
    EXPECT_FALSE(b.canary.has_value());
  }
}

// Applies one batch's tables twice behind the back of the marks: the second
// time in the push of another batch, whose own tables are lost.
class DoublyApplyingService : public ParameterService {
 public:
  explicit DoublyApplyingService(std::shared_ptr<ParameterService> inner)
      : inner_(std::move(inner)) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    inner_->Pull(std::move(request), timeout, std::move(done));
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    TablePush& canary = request.tables.back();
    if (++pushes_ == 5) first_ = canary.ids[0];
    if (pushes_ == 9) canary.ids = absl::MakeConstSpan(&first_, 1);
    inner_->Push(std::move(request), timeout, std::move(done));
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    inner_->Stats(std::move(request), timeout, std::move(done));
  }

 private:
  const std::shared_ptr<ParameterService> inner_;
  int pushes_ = 0;
  FeatureId first_ = 0;
};

TEST(InProcessJobTest, ADoubleApplicationThatTheMarksMissEndsTheJobInError) {
  Changes changes;
  changes.options = [](InProcessJobOptions* options) {
    options->canary = true;
  };
  changes.wrap_service = [](int, int shard,
                            std::shared_ptr<ParameterService> service)
      -> std::shared_ptr<ParameterService> {
    if (shard != 1) return service;
    return std::make_shared<DoublyApplyingService>(std::move(service));
  };
  const auto ran = StartDeepFm(1, 2, 1, std::move(changes));
  EXPECT_EQ(ran->report.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(
      std::string(ran->report.status.message()),
      testing::AllOf(testing::HasSubstr("ps 1 has canaries of"),
                     testing::HasSubstr("1 of them not 1 (from 1 to 2)")));
  EXPECT_EQ(ran->report.ps[1].stats.canary->rows, ran->report.batches - 1);
  EXPECT_EQ(ran->report.ps[0].stats.canary->not_one, 0u);
}

TEST(InProcessJobTest, StalenessOfTwoWorkersEqualsAShadowCount) {
  for (uint64_t schedule = 1; schedule <= 5; ++schedule) {
    std::vector<ShadowService::Shadow> shadows;
    const auto ran = RunDeepFm(schedule, 2, 2, &shadows);
    ASSERT_EQ(shadows.size(), 2u);
    Histogram expected;
    for (int k = 0; k < 2; ++k) {
      Histogram measured;
      for (const auto& [life, histogram] : ran->report.ps[k].stats.staleness) {
        measured.Merge(histogram);
      }
      EXPECT_EQ(measured.buckets(), shadows[k].staleness.buckets())
          << "shard " << k << ", schedule " << schedule;
      EXPECT_EQ(shadows[k].applied, ran->report.batches);
      expected.Merge(shadows[k].staleness);
    }
    EXPECT_EQ(ran->report.staleness.buckets(), expected.buckets());
    EXPECT_GT(expected.max(), 0u) << "two workers never overlapped";
  }
}

}  // namespace
}  // namespace shoal
