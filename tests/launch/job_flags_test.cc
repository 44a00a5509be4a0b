#include "launch/job_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cluster/agreement.h"
#include "core/config_text.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr Command kCommands[] = {Command::kTrain, Command::kRun, Command::kPs,
                                 Command::kWorker};

const std::vector<std::string>& Needed(Command command) {
  static const std::vector<std::string> train = {
      "--feature_size=100", "--field_size=5", "--training_data_dir=/d"};
  static const std::vector<std::string> ps = {
      "--feature_size=100", "--field_size=5", "--ps_hosts=a:1,b:2",
      "--worker_hosts=a,b,c", "--task_index=1"};
  static const std::vector<std::string> worker = {
      "--feature_size=100", "--field_size=5", "--ps_hosts=a:1,b:2",
      "--training_data_dir=/d", "--task_index=2"};
  if (command == Command::kPs) return ps;
  return command == Command::kWorker ? worker : train;
}

// The flags after Parse and Validate.
absl::StatusOr<JobFlags> Parsed(Command command,
                                const std::vector<std::string>& more) {
  JobFlags flags(command);
  FlagSet set = JobFlagSet(&flags);
  std::vector<std::string> args = Needed(command);
  args.insert(args.end(), more.begin(), more.end());
  absl::Status status = set.Parse(args);
  if (status.ok()) status = flags.Validate();
  if (!status.ok()) return status;
  return flags;
}

std::string Error(Command command, const std::vector<std::string>& more) {
  return std::string(Parsed(command, more).status().message());
}

TEST(JobFlags, DefaultsAreValidInEveryCommand) {
  for (const Command command : kCommands) {
    EXPECT_TRUE(Parsed(command, {}).ok())
        << CommandName(command) << ": " << Error(command, {});
  }
}

TEST(JobFlags, EachTaskNeedsWhatItsProcessesReadAndWrite) {
  const auto error = [](Command command, JobTask task, const char* train,
                        const char* val, int task_index = 0) {
    JobFlags flags(command);
    flags.cluster.ps_hosts = flags.cluster.worker_hosts = "a:1,b:2";
    flags.cluster.task_index = task_index;
    flags.training.task_type = task;
    flags.data.training_data_dir = train;
    flags.data.val_data_dir = val;
    flags.checkpoints.resume = CheckpointFlags::Resume::kNever;
    return std::string(flags.Validate().message());
  };
  for (const Command command :
       {Command::kTrain, Command::kRun, Command::kWorker}) {
    EXPECT_THAT(error(command, JobTask::kTrain, "", "/v"),
                HasSubstr("--training_data_dir"));
    EXPECT_EQ(error(command, JobTask::kTrain, "/t", ""), "");
    EXPECT_THAT(error(command, JobTask::kEvaluate, "/t", ""),
                HasSubstr("--val_data_dir"));
    EXPECT_EQ(error(command, JobTask::kEvaluate, "", "/v"), "");
    EXPECT_THAT(error(command, JobTask::kInfer, "/t", ""),
                HasSubstr("--val_data_dir"));
  }
  const char* const file = "--predictions_file";
  EXPECT_THAT(error(Command::kTrain, JobTask::kInfer, "", "/v"),
              HasSubstr(file));
  EXPECT_THAT(error(Command::kRun, JobTask::kInfer, "", "/v"),
              HasSubstr(file));
  EXPECT_THAT(error(Command::kPs, JobTask::kInfer, "", ""), HasSubstr(file));
  // Others write none.
  EXPECT_EQ(error(Command::kPs, JobTask::kInfer, "", "", 1), "");
  EXPECT_EQ(error(Command::kWorker, JobTask::kInfer, "", "/v"), "");
}

TEST(JobFlags, WhatTrainsNothingNeedsACheckpoint) {
  JobFlags flags(Command::kTrain);
  flags.data.val_data_dir = "/v";
  flags.training.task_type = JobTask::kInfer;
  flags.evaluation.predictions_file = "p";
  EXPECT_THAT(std::string(flags.Validate().message()),
              HasSubstr("--model_dir"));
  flags.checkpoints.model_dir = "/m";
  EXPECT_TRUE(flags.Validate().ok());
  EXPECT_EQ(flags.PredictionsFile(), "p");
  flags.evaluation.predictions_file = "";
  EXPECT_TRUE(flags.Validate().ok());
  EXPECT_EQ(flags.PredictionsFile(), "/m/predictions.txt");
}

TEST(JobFlags, OnlyTrainingReadsTrainingData) {
  JobFlags flags(Command::kTrain);
  flags.data.training_data_dir = "/t";
  EXPECT_EQ(flags.TrainingData(), "/t");
  flags.training.task_type = JobTask::kEvaluate;
  EXPECT_EQ(flags.TrainingData(), "");
}

TEST(JobFlags, EveryFlagHasOneNameInEveryCommand) {
  for (const Command command : kCommands) {
    JobFlags flags(command);
    const FlagSet set = JobFlagSet(&flags);
    for (const Flag& flag : set.flags()) {
      EXPECT_EQ(std::count_if(
                    set.flags().begin(), set.flags().end(),
                    [&](const Flag& other) { return other.name == flag.name; }),
                1)
          << flag.name;
      EXPECT_FALSE(flag.help.empty()) << flag.name;
    }
  }
}

TEST(JobFlags, DefaultsPassTheirOwnLimits) {
  for (const Command command : kCommands) {
    JobFlags flags(command);
    const FlagSet set = JobFlagSet(&flags);
    for (const Flag& flag : set.flags()) {
      if (!flag.required.empty() || flag.default_value.empty()) continue;
      const absl::Status status = ParseFlagValue(flag.name, flag.default_value,
                                                 flag.limits, flag.target);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

TEST(JobFlags, AWorkerAndItsServersHaveTheSameCanonicalConfig) {
  const std::vector<std::string> common = {
      "--learning_rate=0.001", "--deep_layers=64,32", "--keep_prob=0.5,0.9"};
  const auto ps = Parsed(Command::kPs, common);
  const auto worker = Parsed(Command::kWorker, common);
  ASSERT_TRUE(ps.ok()) << ps.status();
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(ps->CanonicalConfig(), worker->CanonicalConfig());
  EXPECT_THAT(ps->CanonicalConfig(), HasSubstr("\nps=2\n"));
}

TEST(JobFlags, CanonicalConfigIsSortedByName) {
  const std::string text = JobFlags(Command::kRun).CanonicalConfig();
  std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  EXPECT_THAT(text, HasSubstr("table_learning_rate=0.0005\n"));
  EXPECT_THAT(text, HasSubstr("table_optimizer=adam\n"));
  EXPECT_THAT(text, HasSubstr("wide_learning_rate=0.0005\n"));
  EXPECT_THAT(text, HasSubstr("wide_optimizer=adam\n"));
}

// Checkpoints hold this text, and processes of a job compare it: names, order
// and values stay as they are. A flag that gets another name has a row in
// core/config_text.cc.
TEST(JobFlags, CanonicalConfigIsWrittenAsEver) {
  EXPECT_EQ(Parsed(Command::kPs, {})->CanonicalConfig(),
            "adagrad_initial_accumulator=1e-08\n"
            "adam_beta1=0.9\n"
            "adam_beta2=0.999\n"
            "adam_epsilon=1e-08\n"
            "backup_workers=0\n"
            "batch_norm=false\n"
            "batch_size=1024\n"
            "bucket_bytes=524288\n"
            "canary=false\n"
            "clip_norm=0\n"
            "data_format=auto\n"
            "data_scope=shared\n"
            "deep_layers=256,128,64\n"
            "dense_l2_reg=0\n"
            "embedding_size=32\n"
            "feature_size=100\n"
            "field_size=5\n"
            "ftrl_initial_accumulator=0.1\n"
            "ftrl_l1=0\n"
            "ftrl_l2=0\n"
            "keep_prob=\n"
            "l2_reg=0\n"
            "l2_scope=touched\n"
            "learning_rate=0.0005\n"
            "max_message_bytes=67108864\n"
            "mode=async\n"
            "model=deepfm\n"
            "num_epochs=1\n"
            "optimizer=adam\n"
            "partition=fixed_size\n"
            "pipeline_depth=1\n"
            "ps=2\n"
            "reduction=fast\n"
            "seed=1\n"
            "shuffle=true\n"
            "shuffle_rows=65536\n"
            "ssp_bound=3\n"
            "table_full=refuse\n"
            "table_learning_rate=0.0005\n"
            "table_optimizer=adam\n"
            "table_row_limit=0\n"
            "table_warmup_batches=0\n"
            "task_type=train\n"
            "val_data_scope=shared\n"
            "warmup_batches=0\n"
            "wide_l2_reg=0\n"
            "wide_learning_rate=0.0005\n"
            "wide_optimizer=adam\n");
}

// The text that release 0.5.0 wrote for `flags`, which had --dropout as the
// chance to keep a unit.
std::string TextOfRelease050(std::string text) {
  const size_t at = text.find("keep_prob=");
  const size_t end = text.find('\n', at) + 1;
  const std::string line =
      absl::StrCat("dropout=", text.substr(at + 10, end - at - 10));
  text.erase(at, end - at);
  return text.insert(text.find("embedding_size="), line);
}

TEST(JobFlags, AnOlderCheckpointsDropoutIsItsKeepProb) {
  for (const char* flag : {"--keep_prob=0.9,0.7,1", "--dropout=0.1,0.3,0"}) {
    const std::string now = Parsed(Command::kTrain, {flag})->CanonicalConfig();
    EXPECT_THAT(now, HasSubstr("\nkeep_prob=0.9,0.7,1\n"));
    EXPECT_THAT(now, Not(HasSubstr("dropout")));
    const std::string old = TextOfRelease050(now);
    ASSERT_THAT(old, HasSubstr("\ndropout=0.9,0.7,1\nembedding_size="));
    EXPECT_EQ(ConfigInPresentNames(old), now) << "to the last byte";
    EXPECT_TRUE(CheckSameConfig("worker 0", old, "ps 0", now).ok());
  }
  const std::string plain = Parsed(Command::kTrain, {})->CanonicalConfig();
  EXPECT_EQ(ConfigInPresentNames(TextOfRelease050(plain)), plain);
  EXPECT_EQ(FirstDifference(
                "this job",
                Parsed(Command::kTrain, {"--dropout=0.3,0.3,0.3"})
                    ->CanonicalConfig(),
                "the checkpoint",
                TextOfRelease050(
                    Parsed(Command::kTrain, {"--keep_prob=0.3,0.3,0.3"})
                        ->CanonicalConfig())),
            "--keep_prob differs: this job has 0.7,0.7,0.7, the checkpoint has "
            "0.3,0.3,0.3");
}

TEST(JobFlags, HowFastItLearnsAndHowItIsRunMayDifferOnResume) {
  EXPECT_THAT(JobFlags(Command::kTrain).MayDifferOnResume(),
              UnorderedElementsAre(
                  "clip_norm", "dense_l2_reg", "l2_reg", "learning_rate",
                  "table_learning_rate", "table_warmup_batches",
                  "warmup_batches", "wide_l2_reg", "wide_learning_rate",
                  "max_message_bytes", "mode", "num_epochs", "pipeline_depth",
                  "ps",
                  "backup_workers", "bucket_bytes", "reduction", "ssp_bound",
                  "table_row_limit", "task_type", "val_data_scope"));
}

TEST(JobFlags, CanonicalConfigHasWhatAFlagLeftToAnother) {
  JobFlags flags(Command::kTrain);
  const absl::Status status = JobFlagSet(&flags).Parse(
      {"--field_size=5", "--table_row_limit=9", "--table_full=SHARE",
       "--optimizer=ftrl", "--table_optimizer=rowwise_adagrad",
       "--learning_rate=0.25", "--warmup_batches=3", "--l2_reg=0.5"});
  ASSERT_TRUE(status.ok()) << status;
  const std::string text = absl::StrCat("\n", flags.CanonicalConfig());
  for (const char* line :
       {"optimizer=ftrl", "table_optimizer=rowwise_adagrad",
        "wide_optimizer=rowwise_adagrad", "table_learning_rate=0.25",
        "wide_learning_rate=0.25", "table_warmup_batches=3", "wide_l2_reg=0.5",
        "partition=hash", "pipeline_depth=0", "table_full=share",
        // Flags of other commands have their defaults.
        "data_scope=shared", "max_message_bytes=67108864", "ps=1"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
}

// Another value that the flag takes; its target has that value then.
bool Change(const Flag& flag) {
  const std::string before = PrintFlagValue(flag.target, flag.limits);
  std::vector<std::string> values =
      absl::StrSplit(FlagValueKind(flag.target, flag.limits), '|');
  // A chance of 1 to keep a unit means the same as no chance.
  if (flag.name == "keep_prob") values = {"0.5"};
  values.insert(values.end(), {"true", "false", "2", "1", "0.5", "1048576"});
  for (const std::string& value : values) {
    if (ParseFlagValue(flag.name, value, flag.limits, flag.target).ok() &&
        PrintFlagValue(flag.target, flag.limits) != before) {
      return true;
    }
  }
  return false;
}

TEST(JobFlags, AnotherValueShowsInTheCanonicalConfigIfTheRowSaysSo) {
  const std::string base = JobFlags(Command::kWorker).CanonicalConfig();
  JobFlags plain(Command::kWorker);
  const size_t count = AllJobFlagRows(&plain).rows().size();
  for (size_t i = 0; i < count; ++i) {
    JobFlags changed(Command::kWorker);
    const JobFlagRows rows = AllJobFlagRows(&changed);
    const JobFlagRow& row = rows.rows()[i];
    ASSERT_TRUE(Change(row.flag)) << row.flag.name;
    const std::string difference =
        FirstDifference("this", changed.CanonicalConfig(), "the default", base);
    if (row.flag.name == "dropout") {
      EXPECT_THAT(difference, HasSubstr("--keep_prob differs"));
    } else if (row.flag.name == "scale_learning_rate") {
      EXPECT_THAT(difference, HasSubstr("--learning_rate differs"));
    } else if (row.canonical == Canonical::kNo) {
      EXPECT_EQ(difference, "") << row.flag.name;
    } else {
      EXPECT_NE(difference, "") << row.flag.name;
    }
  }
}

TEST(JobFlags, AWorkerMayDifferInWhatIsNotCanonical) {
  const std::string ps = Parsed(Command::kPs, {})->CanonicalConfig();
  const auto check = [&](const std::vector<std::string>& flags) {
    const absl::Status status = CheckSameConfig(
        "worker 2", Parsed(Command::kWorker, flags)->CanonicalConfig(), "ps 0",
        ps);
    return std::string(status.message());
  };
  EXPECT_EQ(check({}), "");
  EXPECT_EQ(
      check({"--val_data_dir=/v", "--backend=reference", "--parse_threads=4",
             "--worker_lease=1m", "--metrics_port=9000", "--piece_bytes=1MiB"}),
      "");
  EXPECT_EQ(check({"--optimizer=sgd"}),
            "--optimizer differs: worker 2 has sgd, ps 0 has adam; start every "
            "process of the job with the same value");
  EXPECT_EQ(check({"--max_message_bytes=128MiB"}),
            "--max_message_bytes differs: worker 2 has 134217728, ps 0 has "
            "67108864; start every process of the job with the same value");
}

TEST(JobFlags, CanonicalConfigIgnoresPathsPortsAndThreads) {
  const auto a = Parsed(Command::kWorker, {});
  const auto b =
      Parsed(Command::kWorker,
             {"--val_data_dir=/v", "--backend=reference", "--token_file=/t",
              "--first_layer=dense", "--pull_timeout=3s", "--log_level=debug"});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->CanonicalConfig(), b->CanonicalConfig());
}

TEST(JobFlags, CanonicalConfigShowsEveryChangeOfArithmetic) {
  const std::string base = Parsed(Command::kPs, {})->CanonicalConfig();
  for (const char* flag :
       {"--model=lr", "--embedding_size=8", "--deep_layers=8",
        "--dropout=0.5,0.5,0.5", "--seed=2", "--optimizer=sgd",
        "--learning_rate=0.1", "--table_optimizer=adagrad",
        "--table_learning_rate=0.1", "--l2_reg=0.1", "--batch_size=2",
        "--num_epochs=2", "--shuffle=false", "--shuffle_rows=2",
        "--partition=mod", "--pipeline_depth=0", "--clip_norm=1",
        "--canary=true"}) {
    const auto changed = Parsed(Command::kPs, {flag});
    ASSERT_TRUE(changed.ok()) << changed.status();
    EXPECT_NE(changed->CanonicalConfig(), base) << flag;
  }
}

TEST(JobFlags, TablesAreArraysOrDynamicAndPlacedByWhatFits) {
  JobFlags flags(Command::kTrain);
  flags.data.training_data_dir = "/d";
  EXPECT_TRUE(flags.Validate().ok());
  EXPECT_EQ(flags.Partition(), PartitionKind::kHash);
  EXPECT_THAT(flags.CanonicalConfig(), HasSubstr("partition=hash\n"));
  flags.model.feature_size = 10;
  EXPECT_TRUE(flags.Validate().ok());
  EXPECT_EQ(flags.Partition(), PartitionKind::kFixedSize);
}

TEST(JobFlags, CanonicalConfigShowsWhatADynamicTableDoesWhenFull) {
  JobFlags flags(Command::kTrain);
  flags.model.table_row_limit = 5;
  const std::string refuse = flags.CanonicalConfig();
  flags.model.table_full = TableFull::kShare;
  const std::string share = flags.CanonicalConfig();
  EXPECT_NE(refuse, share);
  flags.model.table_row_limit = 6;
  EXPECT_NE(flags.CanonicalConfig(), share);
}

TEST(JobFlags, CanonicalConfigShowsEveryConstantOfAnOptimizer) {
  const std::string base = Parsed(Command::kPs, {})->CanonicalConfig();
  const std::vector<std::string> names = {"wide_learning_rate",
                                          "wide_l2_reg",
                                          "dense_l2_reg",
                                          "table_warmup_batches",
                                          "warmup_batches",
                                          "adagrad_initial_accumulator",
                                          "ftrl_initial_accumulator",
                                          "ftrl_l1",
                                          "ftrl_l2",
                                          "adam_beta1",
                                          "adam_beta2",
                                          "adam_epsilon"};
  for (const std::string& name : names) {
    const bool counts = name.find("batches") != std::string::npos;
    const std::string value = counts ? "9" : "0.75";
    const auto changed =
        Parsed(Command::kPs, {absl::StrCat("--", name, "=", value)});
    ASSERT_TRUE(changed.ok()) << changed.status();
    EXPECT_NE(changed->CanonicalConfig(), base) << name;
    EXPECT_THAT(absl::StrCat("\n", changed->CanonicalConfig()),
                HasSubstr(absl::StrCat("\n", name, "=", value, "\n")));
  }
  const auto wide = Parsed(Command::kPs, {"--wide_optimizer=ftrl"});
  EXPECT_THAT(wide->CanonicalConfig(), HasSubstr("\nwide_optimizer=ftrl\n"));
}

TEST(JobFlags, L2OfTheWholeTableIsForOneWorkerInProcess) {
  const auto train = Parsed(Command::kTrain, {"--l2_scope=table"});
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_NE(train->CanonicalConfig(),
            Parsed(Command::kTrain, {})->CanonicalConfig());
  EXPECT_THAT(Error(Command::kTrain, {"--l2_scope=table", "--workers=2"}),
              HasSubstr("--workers=1"));
  for (const Command command :
       {Command::kRun, Command::kPs, Command::kWorker}) {
    EXPECT_THAT(Error(command, {"--l2_scope=table"}), HasSubstr("shoal train"))
        << CommandName(command);
  }
}

TEST(JobFlags, TheLinearProbeSharesNoRow) {
  JobFlags flags(Command::kTrain);
  flags.model.model = "linear_probe";
  flags.model.table_row_limit = 5;
  flags.model.table_full = TableFull::kShare;
  EXPECT_THAT(std::string(flags.Validate().message()),
              HasSubstr("--table_full=share: --model=linear_probe does not"));
}

TEST(JobFlags, TheLinearProbeIsNotClipped) {
  const auto flags =
      Parsed(Command::kPs, {"--model=linear_probe", "--clip_norm=1"});
  EXPECT_THAT(std::string(flags.status().message()),
              HasSubstr("--clip_norm=1: --model=linear_probe does not allow"));
}

TEST(JobFlags, CountsProcessesByTheirHosts) {
  const auto flags = Parsed(Command::kPs, {});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->cluster.ps, 2);
  EXPECT_EQ(flags->cluster.workers, 3);
}

TEST(JobFlags, TheCoordinatorIsWhereTheModeHasIt) {
  JobFlags flags(Command::kWorker);
  flags.cluster.ps_hosts = "p:1,q:2";
  flags.cluster.worker_hosts = " a:3 ,b";
  EXPECT_EQ(flags.CoordinatorAddress(), "p:1");
  EXPECT_FALSE(flags.Leads());
  flags.training.mode = TrainingMode::kRing;
  EXPECT_EQ(flags.CoordinatorAddress(), "a:3");
  EXPECT_TRUE(flags.Leads());
  flags.cluster.coordinator = "c:4";
  EXPECT_EQ(flags.CoordinatorAddress(), "c:4");
  flags.cluster.task_index = 1;
  EXPECT_FALSE(flags.Leads());
}

TEST(JobFlags, RefusesATaskIndexBeyondTheHosts) {
  JobFlags flags(Command::kPs);
  flags.cluster.ps_hosts = "a:1,b:2";
  flags.cluster.worker_hosts = "a";
  flags.cluster.task_index = 2;
  EXPECT_THAT(std::string(flags.Validate().message()),
              HasSubstr("--task_index=2: --ps_hosts has 2 entries"));
  JobFlags worker(Command::kWorker);
  worker.cluster.ps_hosts = "a:1";
  worker.data.training_data_dir = "/d";
  worker.cluster.task_index = 7;
  EXPECT_TRUE(worker.Validate().ok()) << "a worker may join beyond the list";
  worker.cluster.worker_hosts = "a,b";
  EXPECT_FALSE(worker.Validate().ok());
}

TEST(JobFlags, OnlyWhatWorksIsInHelp) {
  for (const Command command : kCommands) {
    JobFlags flags(command);
    const std::string help = JobFlagSet(&flags).Help();
    EXPECT_THAT(help, Not(HasSubstr("batch_norm")));
    EXPECT_THAT(help, Not(HasSubstr("not there yet")));
    EXPECT_TRUE(Parsed(command, {"--batch_norm=False"}).ok());
  }
}

TEST(JobFlags, RefusesDropoutOfAnotherLength) {
  EXPECT_THAT(Error(Command::kTrain, {"--dropout=0.5"}),
              HasSubstr("--dropout=0.5 has 1 entry and "
                        "--deep_layers=256,128,64 has 3"));
}

TEST(JobFlags, RefusesDeadlinesThatCannotWork) {
  EXPECT_THAT(Error(Command::kPs, {"--silent_after=1500ms"}),
              HasSubstr("--silent_after=1.5s must be at least twice"));
  EXPECT_THAT(Error(Command::kPs, {"--worker_lease=1s"}),
              HasSubstr("--worker_lease=1s"));
  EXPECT_THAT(Error(Command::kPs, {"--ps_lease=6s"}),
              HasSubstr("at most --silent_after=5s"));
}

TEST(JobFlags, SaysWhatIsNotThereYet) {
  EXPECT_THAT(Error(Command::kTrain, {"--task_type=export"}),
              HasSubstr("not there yet"));
  EXPECT_THAT(Error(Command::kTrain, {"--batch_norm=true"}),
              HasSubstr("not there yet"));
}

TEST(JobFlags, OverlapsPullsOnlyOverANetwork) {
  EXPECT_EQ(JobFlags(Command::kTrain).PipelineDepth(), 0);
  EXPECT_EQ(JobFlags(Command::kWorker).PipelineDepth(), 1);
  EXPECT_EQ(Parsed(Command::kTrain, {"--pipeline_depth=1"})->PipelineDepth(),
            1);
}

TEST(JobFlags, AJobIsStartedAgainByDefaultIfItHasCheckpoints) {
  const auto restarts = [](std::vector<std::string> args) {
    args.push_back("--field_size=5");
    args.push_back("--training_data_dir=/d");
    const auto flags = Parsed(Command::kRun, args);
    return flags->cluster.MaxJobRestarts(*flags);
  };
  EXPECT_EQ(restarts({}), 0);
  EXPECT_EQ(restarts({"--model_dir=/m"}), 3);
  EXPECT_EQ(restarts({"--model_dir=/m", "--max_job_restarts=0"}), 0);
  EXPECT_EQ(restarts({"--max_job_restarts=7"}), 7);
}

TEST(JobFlags, EveryFlagOfTheRunReachesAProcessOrStaysWithTheLauncher) {
  JobFlags run(Command::kRun);
  JobFlags ps(Command::kPs);
  JobFlags worker(Command::kWorker);
  const FlagSet ps_set = JobFlagSet(&ps);
  const FlagSet worker_set = JobFlagSet(&worker);
  const FlagSet run_set = JobFlagSet(&run);
  for (const Flag& flag : run_set.flags()) {
    const bool handed_down = ps_set.Find(flag.name) != nullptr ||
                             worker_set.Find(flag.name) != nullptr;
    const bool launcher_only = flag.name == "ps" || flag.name == "workers" ||
                               flag.name == "max_restarts" ||
                               flag.name == "max_job_restarts" ||
                               flag.name == "hosts" ||
                               flag.name == "worker_per_host" ||
                               flag.name == "ps_port" ||
                               flag.name == "remote_bin" ||
                               flag.name == "ssh_command";
    EXPECT_NE(handed_down, launcher_only) << flag.name;
  }
}

TEST(JobFlags, ALauncherHandsDownWhatItWasGivenAndAProcessTakes) {
  JobFlags run(Command::kRun);
  FlagSet set = JobFlagSet(&run);
  const absl::Status status = set.Parse(
      {"--field_size=5", "--ps=3", "--batch_size=32", "--print_config=true",
       "--metrics_port=9000", "--write_config=/c", "--memory_check=off",
       "--max_ps_bytes=2MiB"});
  ASSERT_TRUE(status.ok()) << status;
  for (const Command command : {Command::kPs, Command::kWorker}) {
    EXPECT_THAT(HandedDownFlags(set, command),
                ElementsAre("--field_size=5", "--batch_size=32",
                            "--max_ps_bytes=2MiB"))
        << CommandName(command);
  }
}

}  // namespace
}  // namespace shoal
