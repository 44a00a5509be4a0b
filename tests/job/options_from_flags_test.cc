#include "job/options_from_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "launch/job_flag_set.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

JobFlags Parsed(Command command, std::vector<std::string> args) {
  JobFlags flags(command);
  FlagSet set = JobFlagSet(&flags);
  args.insert(args.end(), {"--field_size=5", "--training_data_dir=/d"});
  if (args[0] != "--feature_size=0") args.push_back("--feature_size=1000");
  absl::Status status = set.Parse(args);
  if (status.ok()) status = flags.Validate();
  EXPECT_TRUE(status.ok()) << status;
  return flags;
}

TEST(PlanJob, ModelAndOptimizersComeFromTheFlags) {
  const JobFlags flags =
      Parsed(Command::kRun, {"--deep_layers=8,4", "--keep_prob=0.5,1",
                             "--embedding_size=3", "--optimizer=adagrad",
                             "--table_optimizer=sgd", "--learning_rate=0.25",
                             "--table_learning_rate=0.5", "--l2_reg=0.125",
                             "--seed=9", "--ps=3", "--first_layer=distinct"});
  const auto plan = PlanJob(flags);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->job, "");
  EXPECT_EQ(plan->config, flags.CanonicalConfig());
  EXPECT_EQ(plan->map.num_shards, 3);
  EXPECT_THAT(plan->model.deep_layers, ElementsAre(8, 4));
  EXPECT_THAT(plan->model.dropout_keep, ElementsAre(0.5f, 1.0f));
  EXPECT_EQ(plan->model.first_layer, FirstLayer::kDistinct);
  EXPECT_EQ(plan->model.seed, 9u);
  ASSERT_EQ(plan->spec.tables.size(), 1u);
  EXPECT_EQ(plan->spec.tables[0].feature_size, 1000u);
  EXPECT_EQ(plan->spec.tables[0].row_dim(), 1 + 3);
  for (const ColumnSpec& column : plan->spec.tables[0].columns) {
    EXPECT_EQ(column.optimizer.kind, OptimizerKind::kSgd);
    EXPECT_EQ(column.optimizer.learning_rate, 0.5f);
    EXPECT_EQ(column.optimizer.l2, 0.125f);
  }
  for (const DenseSpec& dense : plan->spec.dense) {
    EXPECT_EQ(dense.optimizer.kind, OptimizerKind::kAdagrad);
    EXPECT_EQ(dense.optimizer.learning_rate, 0.25f);
    EXPECT_EQ(dense.optimizer.l2, 0) << "L2 is for tables alone";
  }
}

TEST(PlanJob, WithoutServersEachWorkerHasACopyOfAllVariables) {
  const JobFlags flags =
      Parsed(Command::kRun, {"--mode=ring", "--workers=3"});
  const auto plan = PlanJob(flags);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->map.num_shards, 1);
  EXPECT_EQ(plan->map.replicated, 0);
  EXPECT_EQ(plan->ps.count, 3);
  EXPECT_EQ(plan->ps.ShardOf(2), 0);
}

TEST(PlanJob, TheChanceToDropIsOneMinusTheChanceToKeep) {
  const auto keep = [](const char* flag) {
    const auto plan = PlanJob(Parsed(
        Command::kTrain, {"--deep_layers=8,4,2", flag}));
    return plan->model.dropout_keep;
  };
  EXPECT_EQ(keep("--dropout=0.1,0.3,0"), keep("--keep_prob=0.9,0.7,1"));
  EXPECT_THAT(keep("--dropout=0.1,0.3,0"), ElementsAre(0.9f, 0.7f, 1.0f));
}

TEST(PlanJob, WithoutAFeatureSizeTablesAreDynamicAndPlacedByHash) {
  const JobFlags flags = Parsed(
      Command::kRun,
      {"--feature_size=0", "--table_row_limit=77", "--table_full=share"});
  const auto plan = PlanJob(flags);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->spec.tables.size(), 1u);
  EXPECT_TRUE(plan->spec.tables[0].dynamic());
  EXPECT_EQ(plan->spec.tables[0].row_limit, 77u);
  EXPECT_EQ(plan->spec.tables[0].when_full, TableFull::kShare);
  EXPECT_EQ(plan->map.tables[0].kind, PartitionKind::kHash);
  EXPECT_EQ(PieceReaderOptionsFromFlags(flags).feature_size, 0u);
}

TEST(PlanJob, CanariesAreATableOfTheirOwnOnEveryShard) {
  const auto without = PlanJob(Parsed(Command::kRun, {"--ps=2"}));
  const auto plan = PlanJob(Parsed(Command::kRun, {"--ps=2", "--canary=true"}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(without->map.tables.size(), 1u);
  ASSERT_EQ(plan->map.tables.size(), 2u);
  EXPECT_EQ(plan->map.tables[1].kind, PartitionKind::kEveryShard);
  EXPECT_TRUE(plan->spec.tables[1].on_every_shard);
}

TEST(PlanJob, TablesFollowTheDenseOptimizerWhereNothingIsSaid) {
  const auto plan = PlanJob(
      Parsed(Command::kTrain, {"--optimizer=sgd", "--learning_rate=0.25"}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->model.table_optimizer.kind, OptimizerKind::kSgd);
  EXPECT_EQ(plan->model.table_optimizer.learning_rate, 0.25f);
}

TEST(PlanJob, TheWideColumnHasItsOwnOptimizer) {
  for (const char* model : {"deepfm", "lr"}) {
    const auto plan = PlanJob(Parsed(
        Command::kTrain, {absl::StrCat("--model=", model), "--optimizer=adam",
                          "--table_optimizer=rowwise_adagrad",
                          "--table_learning_rate=0.5", "--wide_optimizer=ftrl",
                          "--wide_learning_rate=0.125", "--l2_reg=0.25"}));
    ASSERT_TRUE(plan.ok()) << plan.status();
    const std::vector<ColumnSpec>& columns = plan->spec.tables[0].columns;
    EXPECT_EQ(columns[0].dim, 1);
    EXPECT_EQ(columns[0].optimizer.kind, OptimizerKind::kFtrl) << model;
    EXPECT_EQ(columns[0].optimizer.learning_rate, 0.125f);
    EXPECT_EQ(columns[0].optimizer.l2, 0.25f);
    if (columns.size() == 1) continue;
    EXPECT_EQ(columns[1].optimizer.kind, OptimizerKind::kRowwiseAdagrad);
    EXPECT_EQ(columns[1].optimizer.learning_rate, 0.5f);
  }
}

TEST(PlanJob, TheWideColumnFollowsTheTableWhereNothingIsSaid) {
  const auto plan =
      PlanJob(Parsed(Command::kTrain, {"--table_optimizer=adagrad",
                                       "--table_learning_rate=0.5"}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const OptimizerSpec& wide = plan->spec.tables[0].columns[0].optimizer;
  EXPECT_EQ(wide.kind, OptimizerKind::kAdagrad);
  EXPECT_EQ(wide.learning_rate, 0.5f);
}

TEST(PlanJob, ConstantsOfOptimizersReachEveryVariable) {
  const auto plan = PlanJob(Parsed(
      Command::kTrain,
      {"--warmup_batches=7", "--adagrad_initial_accumulator=0.25",
       "--ftrl_initial_accumulator=0.5", "--ftrl_l1=0.125", "--ftrl_l2=2",
       "--adam_beta1=0.75", "--adam_beta2=0.875", "--adam_epsilon=0.0625"}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<ColumnSpec>& columns = plan->spec.tables[0].columns;
  for (const OptimizerSpec& spec : {columns[0].optimizer, columns[1].optimizer,
                                    plan->spec.dense.front().optimizer,
                                    plan->spec.dense.back().optimizer}) {
    EXPECT_EQ(spec.warmup_batches, 7u);
    EXPECT_EQ(spec.adagrad_initial_accumulator, 0.25f);
    EXPECT_EQ(spec.ftrl_initial_accumulator, 0.5f);
    EXPECT_EQ(spec.ftrl_l1, 0.125f);
    EXPECT_EQ(spec.ftrl_l2, 2);
    EXPECT_EQ(spec.adam_beta1, 0.75f);
    EXPECT_EQ(spec.adam_beta2, 0.875f);
    EXPECT_EQ(spec.adam_epsilon, 0.0625f);
  }
}

TEST(PlanJob, TheScopeOfL2IsTheFlags) {
  for (const auto& [text, scope] :
       {std::pair<const char*, L2Scope>{"--l2_scope=touched",
                                        L2Scope::kTouched},
        {"--l2_scope=table", L2Scope::kTable}}) {
    const auto plan = PlanJob(Parsed(Command::kTrain, {text, "--l2_reg=0.5"}));
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const ColumnSpec& column : plan->spec.tables[0].columns) {
      EXPECT_EQ(column.optimizer.l2_scope, scope) << text;
    }
  }
}

TEST(PlanJob, RefusesOneAccumulatorARowOfADenseVariable) {
  const auto plan =
      PlanJob(Parsed(Command::kTrain, {"--optimizer=rowwise_adagrad"}));
  EXPECT_TRUE(absl::IsInvalidArgument(plan.status())) << plan.status();
  EXPECT_THAT(std::string(plan.status().message()),
              testing::HasSubstr("--table_optimizer"));
}

TEST(PlanJob, PartitionIsTheFlags) {
  for (const auto& [text, kind] :
       {std::pair<const char*, PartitionKind>{"--partition=fixed_size",
                                              PartitionKind::kFixedSize},
        {"--partition=mod", PartitionKind::kMod}}) {
    const auto plan = PlanJob(Parsed(Command::kRun, {text}));
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->map.tables[0].kind, kind) << text;
  }
}

TEST(OptionsFromFlags, DeadlinesReachEveryComponent) {
  const JobFlags flags =
      Parsed(Command::kRun,
             {"--heartbeat=2s", "--silent_after=7s", "--worker_lease=11s",
              "--ps_lease=6s", "--mark_interval=30ms", "--pull_timeout=3s",
              "--push_timeout=4s", "--start_timeout=33s",
              "--worker_grace=1500ms", "--speculate_after=5s",
              "--linger=250ms", "--shutdown_timeout=9s",
              "--progress_timeout=3m", "--stall_after=8s",
              "--auc_exact_rows=77"});
  const auto plan = PlanJob(flags);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const CoordinatorOptions coordinator =
      CoordinatorOptionsFromFlags(flags, *plan);
  EXPECT_EQ(coordinator.heartbeat_interval, absl::Seconds(2));
  EXPECT_EQ(coordinator.silent_after, absl::Seconds(7));
  EXPECT_EQ(coordinator.worker_lease, absl::Seconds(11));
  EXPECT_EQ(coordinator.start_deadline, absl::Seconds(33));
  EXPECT_EQ(coordinator.worker_grace, absl::Milliseconds(1500));
  EXPECT_EQ(coordinator.speculate_after, absl::Seconds(5));
  EXPECT_EQ(coordinator.linger, absl::Milliseconds(250));
  EXPECT_EQ(coordinator.progress_deadline, absl::Minutes(3));
  EXPECT_EQ(coordinator.stall_after, absl::Seconds(8));
  EXPECT_EQ(coordinator.auc_exact_rows, 77u);
  EXPECT_EQ(coordinator.process, "");
  JobFlags of_ps(Command::kPs);
  EXPECT_EQ(CoordinatorOptionsFromFlags(of_ps, *plan).process, "ps 0");
  const PsLoopOptions ps = PsLoopOptionsFromFlags(flags);
  EXPECT_EQ(ps.ps_lease, absl::Seconds(6));
  EXPECT_EQ(ps.mark_interval, absl::Milliseconds(30));
  EXPECT_EQ(ps.member.start_deadline, absl::Seconds(33));
  EXPECT_EQ(ps.member.shutdown_deadline, absl::Seconds(9));
  const WorkerLoopOptions worker = WorkerLoopOptionsFromFlags(flags);
  EXPECT_EQ(worker.pull_timeout, absl::Seconds(3));
  EXPECT_EQ(worker.push_timeout, absl::Seconds(4));
  // A push of a step waits for other workers.
  EXPECT_EQ(WorkerLoopOptionsFromFlags(
                Parsed(Command::kRun, {"--mode=sync", "--push_timeout=4s"}))
                .push_timeout,
            absl::Seconds(24));
}

TEST(OptionsFromFlags, ServersOfSmallJobsTakeFewCalls) {
  const auto options = [](std::vector<std::string> args) {
    return RpcServerOptionsFromFlags(Parsed(Command::kRun, std::move(args)));
  };
  // Two batches in flight, of three chunks each.
  EXPECT_TRUE(options({"--workers=5", "--ps=2"}).few_calls());
  EXPECT_FALSE(options({"--workers=5", "--ps=3"}).few_calls());
  EXPECT_FALSE(options({"--workers=6", "--ps=1"}).few_calls());
  EXPECT_TRUE(
      options({"--workers=10", "--ps=2", "--pipeline_depth=0"}).few_calls());
  EXPECT_FALSE(
      options({"--workers=4", "--ps=2", "--pipeline_depth=2"}).few_calls());
  // One worker alone never waits for its own calls.
  EXPECT_GE(options({"--workers=1"}).max_streams, 6);
  // Few calls with large windows hold no more than many with small ones.
  EXPECT_EQ(options({"--workers=1"}).max_call_memory(),
            options({"--workers=9"}).max_call_memory());
}

TEST(OptionsFromFlags, TheFormatAndTheQuarantineReachTheReader) {
  const FakeFileSystem files;
  const JobFlags flags = Parsed(Command::kRun, {});
  EXPECT_EQ(PieceReaderOptionsFromFlags(flags).format, DataFormat::kAuto);
  EXPECT_EQ(PieceReaderOptionsFromFlags(flags).parse_threads, 1);
  Logger logger({"", LogLevel::kError});
  EXPECT_EQ(*QuarantineFromFlags(flags, &files, 0, &logger), nullptr);
  const JobFlags other =
      Parsed(Command::kRun, {"--data_format=tfrecord", "--parse_threads=3",
                             "--quarantine_dir=somewhere"});
  const auto made = QuarantineFromFlags(other, &files, 0, &logger);
  ASSERT_TRUE(made.ok()) << made.status();
  const std::unique_ptr<Quarantine>& quarantine = *made;
  EXPECT_NE(quarantine, nullptr);
  const PieceReaderOptions options =
      PieceReaderOptionsFromFlags(other, quarantine.get());
  EXPECT_EQ(options.format, DataFormat::kTfRecord);
  EXPECT_EQ(options.parse_threads, 3);
  EXPECT_EQ(options.quarantine, quarantine.get());
  EXPECT_NE(PlanJob(flags)->config, PlanJob(other)->config)
      << "the format decides what batches hold";
}

TEST(OptionsFromFlags, AQuarantineThatCannotBeWrittenIsNamedByItsFlag) {
  FakeFileSystem files;
  files.AddFile("taken", "a file");
  const JobFlags flags = Parsed(Command::kRun, {"--quarantine_dir=taken"});
  EXPECT_THAT(
      std::string(
          QuarantineFromFlags(flags, &files, 0, nullptr).status().message()),
      testing::HasSubstr("--quarantine_dir: taken"));
}

TEST(OptionsFromFlags, AQuarantineIsNotMadeBeforeTheFirstBadRow) {
  FakeFileSystem files;
  const JobFlags flags =
      Parsed(Command::kRun, {"--quarantine_dir=some/where/q"});
  ASSERT_TRUE(files.CreateDirectories("some").ok());
  ASSERT_TRUE(QuarantineFromFlags(flags, &files, 0, nullptr).ok());
  EXPECT_TRUE(files.ListDirectory("some").value().empty());
}

TEST(OptionsFromFlags, BadRowsGoIntoTheModelDirectoryUnlessToldOtherwise) {
  FakeFileSystem files;
  testing::internal::CaptureStderr();
  Logger logger({"", LogLevel::kWarn});
  const JobFlags flags = Parsed(Command::kRun, {"--model_dir=m"});
  const auto made = QuarantineFromFlags(flags, &files, 1, &logger);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(absl::IsNotFound(files.ListDirectory("m").status()))
      << "nothing is made before the first bad row";
  ASSERT_TRUE((*made)->Add("a", 0, {1, 0, "no label"}).ok());
  EXPECT_EQ((*made)->path(), "m/bad_rows/bad-rows-worker-1.tsv");

  files.AddFile("taken/bad_rows", "a file");
  const auto offered = QuarantineFromFlags(
      Parsed(Command::kRun, {"--model_dir=taken"}), &files, 0, &logger);
  ASSERT_TRUE(offered.ok()) << offered.status();
  EXPECT_TRUE((*offered)->Add("a", 0, {1, 0, "no label"}).ok());
  EXPECT_TRUE((*offered)->Add("a", 0, {2, 9, "no label"}).ok());
  EXPECT_TRUE((*offered)->Sync().ok());
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_THAT(logged, testing::HasSubstr("taken/bad_rows"));
  EXPECT_EQ(logged.find("counted"), logged.rfind("counted")) << "said once";

  EXPECT_EQ(Parsed(Command::kRun, {"--model_dir=m", "--quarantine_dir=q"})
                .QuarantineDir(),
            "q");
}

TEST(OptionsFromFlags, ClippingIsTheWorkersAndOffAtFirst) {
  for (const auto& [args, norm] :
       {std::pair<std::vector<std::string>, double>{{}, 0.0},
        {{"--clip_norm=2.5"}, 2.5}}) {
    const JobFlags flags = Parsed(Command::kRun, args);
    EXPECT_EQ(WorkerLoopOptionsFromFlags(flags).trainer.clip_norm, norm);
  }
}

TEST(PlanJob, RefusesWhatNoModelCanBeMadeOf) {
  const auto plan = PlanJob(Parsed(Command::kTrain, {"--model=linear_probe"}));
  EXPECT_TRUE(absl::IsInvalidArgument(plan.status())) << plan.status();
}

}  // namespace
}  // namespace shoal
