#include "job/memory_forecast.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/options_from_flags.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kMB = 1000 * 1000;

struct Job {
  Job(Command command, std::vector<std::string> args)
      : flags(command), set(JobFlagSet(&flags)) {
    args.push_back("--training_data_dir=data");
    args.push_back("--field_size=39");
    EXPECT_TRUE(set.Parse(args).ok());
    EXPECT_TRUE(flags.Validate().ok());
    plan = *PlanJob(flags);
  }

  JobFlags flags;
  FlagSet set;
  JobPlan plan;
};

MemoryForecast Forecast(const std::vector<std::string>& args) {
  const Job job(Command::kRun, args);
  return ForecastMemory(job.flags, job.plan, {});
}

TEST(MemoryForecastTest, AServerHoldsItsRowsWithTheirSlots) {
  // A row is 8 B + 4 B × (16 + 1) × 3 (Adam), rounded up to 224 B.
  const uint64_t few =
      Forecast({"--feature_size=2000000", "--embedding_size=16"}).ps[0];
  const uint64_t many =
      Forecast({"--feature_size=4000000", "--embedding_size=16"}).ps[0];
  EXPECT_EQ(many - few, 1000000u * 224);
}

TEST(MemoryForecastTest, MoreServersHoldLessEach) {
  const auto two = Forecast({"--feature_size=10000000", "--ps=2"});
  const auto four = Forecast({"--feature_size=10000000", "--ps=4"});
  ASSERT_EQ(two.ps.size(), 2u);
  ASSERT_EQ(four.ps.size(), 4u);
  EXPECT_LT(four.ps[0], two.ps[0] * 6 / 10);
}

TEST(MemoryForecastTest, ARankOfARingHoldsAllRowsAndThePartsOfAllRanks) {
  const std::vector<std::string> size = {"--feature_size=10000000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), size.begin(), size.end());
    return Forecast(more);
  };
  const auto servers = with({"--ps=2"});
  const auto two = with({"--mode=ring", "--workers=2"});
  const auto four = with({"--mode=ring", "--workers=4"});
  ASSERT_EQ(four.ps.size(), 4u);
  EXPECT_EQ(four.ps[0], two.ps[0]);
  EXPECT_GT(two.ps[0], servers.ps[0] * 3 / 2);
  const Job job(Command::kRun, {size[0], "--mode=ring", "--workers=4"});
  EXPECT_GT(four.worker - two.worker,
            2 * 3 * StepMessageBytes(job.flags, job.plan));
}

TEST(MemoryForecastTest, HybridHasServersOfRowsAndCopiesOfTheDenseVariables) {
  const std::vector<std::string> flags = {"--feature_size=3000000", "--ps=2",
                                          "--workers=3",
                                          "--deep_layers=1000,1000,1000"};
  const auto with = [&](const std::string& mode) {
    std::vector<std::string> more = flags;
    more.push_back(mode);
    return Forecast(more);
  };
  const MemoryForecast async = with("--mode=async");
  const MemoryForecast hybrid = with("--mode=hybrid");
  ASSERT_EQ(hybrid.ps.size(), 5u);
  EXPECT_LT(hybrid.ps[0], async.ps[0]) << "without dense variables";
  EXPECT_GT(hybrid.ps[0], async.ps[0] / 2);
  EXPECT_EQ(hybrid.ps[2], hybrid.ps[4]);
  // 2 million weights and more, with two slots of Adam each.
  EXPECT_GT(hybrid.ps[2], 3 * 4 * 2'000'000u);
  EXPECT_LT(hybrid.ps[2], 3 * 4 * 4'000'000u);
  std::vector<std::string> run = flags;
  run.push_back("--mode=hybrid");
  const Job job(Command::kRun, run);
  const std::string line =
      ForecastHost(job.flags, job.plan, {}, {}).line;
  EXPECT_THAT(line, HasSubstr("ps ~"));
  EXPECT_THAT(line, HasSubstr("copy of the dense variables ~"));
  EXPECT_THAT(line, HasSubstr("6 processes"));
}

TEST(MemoryForecastTest, CallsTakeNoMoreOfAServerThanItLetsThem) {
  const std::vector<std::string> size = {"--feature_size=1000000",
                                         "--batch_size=8192"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), size.begin(), size.end());
    return Forecast(more).ps[0];
  };
  const uint64_t two = with({"--workers=2"});
  EXPECT_GT(with({"--workers=4"}), two + 100 * kMB);
  // 1 GiB of requests, 512 MiB of replies, as much of chunked pushes, twice
  // while they are decoded; 384 MiB are kept; 256 KiB of each of 4,096 calls
  // that wait unread.
  constexpr uint64_t kMiB = 1 << 20;
  const uint64_t most = two + (2944 + 1024) * kMiB;
  EXPECT_LT(with({"--workers=100"}), most);
  EXPECT_GT(with({"--workers=100"}), most - 500 * kMiB);
  EXPECT_EQ(with({"--workers=100"}), with({"--workers=200"}));
  EXPECT_GT(with({"--workers=200", "--max_message_bytes=1GiB"}), most);
}

TEST(MemoryForecastTest, AWorkerGrowsWithItsBatchAndItsWindow) {
  const std::vector<std::string> size = {"--feature_size=1000000"};
  auto with = [&](const std::string& flag) {
    return Forecast({size[0], flag}).worker;
  };
  const uint64_t base = Forecast(size).worker;
  EXPECT_GT(with("--batch_size=4096"), base * 2);
  EXPECT_GT(with("--shuffle_rows=1000000"), base + 500 * kMB);
  EXPECT_LT(with("--shuffle=false"), base);
}

TEST(MemoryForecastTest, TheFirstLayerHoldsProductsOfDistinctEmbeddings) {
  const auto with = [](const std::string& first_layer, const char* model) {
    return Forecast({"--feature_size=1000000", "--embedding_size=16",
                     "--deep_layers=400,400,400",
                     absl::StrCat("--model=", model),
                     absl::StrCat("--first_layer=", first_layer)})
        .worker;
  };
  const uint64_t dense = with("dense", "deepfm");
  const uint64_t automatic = with("auto", "deepfm");
  // A batch of 1,024 has 39,936 embeddings; each one's product has 400 floats.
  const uint64_t distinct = with("distinct", "deepfm");
  EXPECT_NEAR(distinct - dense, 39936 * 416 * 4 + 1024 * 8 * 400, 1.0 * kMB);
  EXPECT_GT(automatic, dense + 10 * kMB);
  EXPECT_LT(automatic, distinct - 20 * kMB);
  EXPECT_EQ(with("auto", "fm"), with("dense", "fm"));
}

TEST(MemoryForecastTest, AWindowHoldsNoMoreThanAPiece) {
  const Job job(Command::kRun, {"--feature_size=1000000", "--batch_size=512"});
  const uint64_t unknown = ForecastMemory(job.flags, job.plan, {}).worker;
  // Pieces of 64 KiB hold 655 rows of 100 bytes.
  const uint64_t small =
      ForecastMemory(job.flags, job.plan, {{1 << 20, 100}, {}}).worker;
  EXPECT_LT(small + 40 * kMB, unknown);
}

TEST(MemoryForecastTest, TablesThatGrowAreSaidToUnlessALimitBoundsThem) {
  EXPECT_TRUE(Forecast({}).tables_grow);
  const MemoryForecast limited = Forecast({"--table_row_limit=1000000"});
  EXPECT_FALSE(limited.tables_grow);
  EXPECT_GT(limited.ps[0], 300 * kMB);
  const MemoryForecast bounded = Forecast({"--max_ps_bytes=1GiB"});
  EXPECT_FALSE(bounded.tables_grow);
  EXPECT_GT(bounded.ps[0], 1000 * kMB);
}

TEST(MemoryForecastTest, ScoresOfAnEvaluationAreTheFirstServers) {
  const std::vector<std::string> flags = {"--feature_size=1000000", "--ps=2"};
  const Job job(Command::kRun, flags);
  DataSize data;
  const MemoryForecast without = ForecastMemory(job.flags, job.plan, data);
  data.eval = {uint64_t{1000} * kMB, 100};  // ten million rows
  const MemoryForecast with = ForecastMemory(job.flags, job.plan, data);
  EXPECT_NEAR(with.ps[0] - without.ps[0], 130.0 * kMB, 1000);
  EXPECT_EQ(with.ps[1], without.ps[1]);
  EXPECT_EQ(with.worker, without.worker);
  // Beyond the limit a histogram takes their place.
  const Job few(Command::kRun, {flags[0], flags[1], "--auc_exact_rows=1000"});
  EXPECT_NEAR(ForecastMemory(few.flags, few.plan, data).ps[0] - without.ps[0],
              128 * 1.048576 * kMB, kMB);
  EXPECT_GT(ForecastOneProcess(job.flags, job.plan, data),
            ForecastOneProcess(job.flags, job.plan, {}) + 129 * kMB);
}

// To the byte, so that a component that says another size than it did is seen.
TEST(MemoryForecastTest, FiguresOfSomeJobs) {
  struct Figures {
    std::vector<std::string> flags;
    DataSize data;
    uint64_t ps0, ps1, worker, one_process;
  };
  const Figures all[] = {
      {{"--feature_size=1000000", "--ps=2"},
       {},
       273421168,
       273329032,
       235977340,
       794007120},
      {{"--feature_size=2000000", "--ps=3", "--workers=5", "--batch_size=4096",
        "--pipeline_depth=2", "--embedding_size=16", "--deep_layers=400,400",
        "--optimizer=adam", "--table_optimizer=ftrl"},
       {{uint64_t{5} << 30, 250}, {uint64_t{1} << 30, 200}},
       448529318,
       378731300,
       482997036,
       2389195474},
      {{"--table_row_limit=3000000", "--ps=2", "--workers=3", "--model=fm",
        "--shuffle_rows=1000", "--piece_bytes=4MiB", "--auc_exact_rows=1000"},
       {{uint64_t{1} << 20, 0}, {uint64_t{1} << 30, 0}},
       1549550136,
       1415319396,
       129659448,
       3071116556},
      {{"--max_ps_bytes=1GiB", "--ps=2", "--model=lr", "--workers=2",
        "--max_message_bytes=1GiB", "--canary", "--shuffle=false"},
       {{uint64_t{1} << 33, 90}, {}},
       1097617240,
       1097617240,
       57206264,
       2216062288},
      {{"--feature_size=100000", "--ps=2", "--workers=40",
        "--batch_size=65536"},
       {{1000, 0}, {1000, 0}},
       1897273691,
       1897181464,
       709018748,
       24715665875},
  };
  for (const Figures& expected : all) {
    const Job job(Command::kRun, expected.flags);
    const MemoryForecast forecast =
        ForecastMemory(job.flags, job.plan, expected.data);
    SCOPED_TRACE(absl::StrJoin(expected.flags, " "));
    EXPECT_EQ(forecast.ps[0], expected.ps0);
    EXPECT_EQ(forecast.ps[1], expected.ps1);
    EXPECT_EQ(forecast.worker, expected.worker);
    EXPECT_EQ(ForecastOneProcess(job.flags, job.plan, expected.data),
              expected.one_process);
  }
}

TEST(MemoryForecastTest, FlagsWithoutSenseDoNotOverflow) {
  const auto forecast =
      Forecast({"--feature_size=281474976710656", "--embedding_size=4096",
                "--batch_size=1048576", "--deep_layers=65535"});
  EXPECT_GT(forecast.ps[0], uint64_t{1} << 62);
  EXPECT_GT(forecast.worker, uint64_t{1} << 40);
}

TEST(ForecastHostTest, SaysWhatThisHostsProcessesHold) {
  HostMemory host;
  host.total_bytes = 24'000 * kMB;
  host.available_bytes = 21'300 * kMB;
  const Job run(Command::kRun,
                {"--feature_size=1000000", "--ps=2", "--workers=3"});
  const HostForecast forecast = ForecastHost(run.flags, run.plan, {}, host);
  EXPECT_THAT(forecast.line, StartsWith("memory: ps ~"));
  EXPECT_THAT(forecast.line, HasSubstr("6 processes ~"));
  EXPECT_THAT(forecast.line, HasSubstr("of 24.0 GB (this host; 21.3 GB free)"));
  const MemoryForecast parts = ForecastMemory(run.flags, run.plan, {});
  EXPECT_EQ(forecast.bytes,
            parts.ps[0] + parts.ps[1] + 3 * parts.worker + parts.launcher);
  const Job train(Command::kTrain, {});
  EXPECT_THAT(ForecastHost(train.flags, train.plan, {}, host).line,
              HasSubstr("plus the rows of tables without --feature_size"));
  // Workers that --worker_hosts places on this worker's host count too, unless
  // the limit is of a group that may hold this worker alone.
  const Job worker(Command::kWorker,
                   {"--feature_size=1000000", "--ps_hosts=h1:1,h2:1",
                    "--worker_hosts=h1,h2,h1,h1:5", "--task_index=2"});
  const MemoryForecast each = ForecastMemory(worker.flags, worker.plan, {});
  const HostForecast all = ForecastHost(worker.flags, worker.plan, {}, host);
  EXPECT_EQ(all.bytes, 3 * each.worker);
  EXPECT_THAT(all.line, StartsWith("memory: 3 processes ~"));
  host.of_group = true;
  EXPECT_EQ(ForecastHost(worker.flags, worker.plan, {}, host).bytes,
            each.worker);
  // What is not known is not said.
  EXPECT_THAT(ForecastHost(run.flags, run.plan, {}, {}).line,
              Not(HasSubstr(" of ")));
}

TEST(CheckMemoryTest, RefusesWhatTheHostDoesNotHaveAndSaysWhatToDo) {
  HostMemory host;
  host.total_bytes = 1000 * kMB;
  host.available_bytes = 10 * kMB;
  host.whose = "control group /job";
  HostForecast forecast;
  forecast.advice = "use another one";
  forecast.bytes = 1000 * kMB;
  EXPECT_TRUE(CheckMemory(forecast, host).ok());
  forecast.bytes = 1001 * kMB;
  const absl::Status status = CheckMemory(forecast, host);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("control group /job has 1.0 GB: use another one, "));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("--memory_check=off"));
  forecast.bytes = ~uint64_t{0};
  EXPECT_TRUE(CheckMemory(forecast, {}).ok());
}

// A step is complete when the pushes of all workers are there, so a server
// holds all of them at once.
TEST(CheckMemoryTest, PushesOfAStepThatDoNotFitAreRefusedAndTheFlagsAreNamed) {
  const std::vector<std::string> size = {"--feature_size=1000000",
                                         "--batch_size=8192", "--ps=2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), size.begin(), size.end());
    return Job(Command::kRun, more);
  };
  const Job async = with({"--workers=1000", "--pipeline_depth=0"});
  const Job sync = with({"--workers=1000", "--mode=sync"});
  HostMemory host;
  host.total_bytes = 250'000 * kMB;
  const HostForecast fits = ForecastHost(async.flags, async.plan, {}, host);
  const HostForecast forecast = ForecastHost(sync.flags, sync.plan, {}, host);
  EXPECT_GT(forecast.bytes, fits.bytes);
  host.total_bytes = fits.bytes;
  EXPECT_TRUE(CheckMemory(fits, host).ok());
  EXPECT_THAT(forecast.line,
              HasSubstr("of it for the pushes of 1000 workers), worker ~"));
  const absl::Status refused = CheckMemory(forecast, host);
  for (const char* part :
       {"keeps the pushes of all 1000 workers until their step is complete",
        "--workers", "--ps_hosts", "--batch_size"}) {
    EXPECT_THAT(std::string(refused.message()), HasSubstr(part));
  }
}

TEST(MemoryForecastTest, AServerOfStepsHoldsAllPushesAndTheirSum) {
  const std::vector<std::string> size = {"--feature_size=1000000"};
  const auto with = [&](std::vector<std::string> more) {
    more.push_back(size[0]);
    return Forecast(more).ps[0];
  };
  const auto sync = [&](int workers) {
    return with(
        {"--mode=sync", "--ps=1", absl::StrCat("--workers=", workers)});
  };
  const Job job(Command::kRun, {size[0], "--mode=sync", "--ps=1"});
  const uint64_t push = StepMessageBytes(job.flags, job.plan);
  // Three copies of a push as messages come and go, and its part of the sum:
  // for each id 104 bytes of index and its row.
  const uint64_t ids = 1024 * 39;
  const uint64_t row = 4 * job.plan.spec.tables[0].row_dim();
  EXPECT_NEAR(sync(12) - sync(2), 10 * (3 * push + ids * (104 + row)),
              10 * 1.0 * kMB);
  // Each server has its part of both.
  EXPECT_LT(with({"--mode=sync", "--workers=12", "--ps=4"}), sync(12) / 2);
  const auto one = [&](const char* mode) {
    const Job train(Command::kTrain, {size[0], "--workers=4", mode});
    return ForecastOneProcess(train.flags, train.plan, {});
  };
  EXPECT_NEAR(one("--mode=sync") - one("--mode=async"),
              4 * ids * (104 + row) + 4 * job.plan.spec.dense_size(),
              1.0 * kMB);
}

TEST(ForecastHostTest, ARingSaysToUseServers) {
  const Job ring(Command::kRun, {"--feature_size=1000000", "--mode=ring"});
  EXPECT_THAT(ForecastHost(ring.flags, ring.plan, {}, {}).advice,
              HasSubstr("use a mode with parameter servers"));
}

TEST(MeasureDataTest, SizesUpRowsByTheFirstFilesHead) {
  const auto files = NewPosixFileSystem();
  const std::string path = testing::TempDir() + "/memory_forecast_test.rows";
  std::string rows;
  for (int i = 0; i < 100; ++i) rows += "1 2:1 3:1\n";
  ASSERT_TRUE(files->WriteFileAtomically(path, rows).ok());
  const auto measure = [&files](const std::string& train,
                                const std::string& eval = "") {
    JobFlags flags(Command::kTrain);
    flags.data.training_data_dir = train;
    flags.data.val_data_dir = eval;
    return MeasureData(*files, flags);
  };
  EXPECT_EQ(measure(path).train.bytes, 1000u);
  EXPECT_EQ(measure(path).train.row_bytes, 10u);
  EXPECT_EQ(measure(path).eval.bytes, 0u);
  EXPECT_EQ(measure("/no/such/file", path).eval.row_bytes, 10u);
  ASSERT_TRUE(files->WriteFileAtomically(path, std::string(1000, 'x')).ok());
  EXPECT_EQ(measure(path).train.row_bytes, 0u);
  rows[500] = '\0';
  ASSERT_TRUE(files->WriteFileAtomically(path, rows).ok());
  EXPECT_EQ(measure(path).train.row_bytes, 0u);
  EXPECT_EQ(measure("/no/such/file").train.bytes, 0u);
}

}  // namespace
}  // namespace shoal
