// What each group of flags refuses by its Validate(), to the letter, and that
// it takes what is beside it.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cluster/agreement.h"
#include "gmock/gmock.h"
#include "launch/job_flag_set.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Command kTrain = Command::kTrain;
constexpr Command kRun = Command::kRun;
constexpr Command kPs = Command::kPs;
constexpr Command kWorker = Command::kWorker;

struct Case {
  Command command;
  std::vector<std::string> args;
  std::string message;  // "": accepted
};

void ExpectErrors(const std::function<absl::Status(const JobFlags&)>& validate,
                  const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    JobFlags flags(c.command);
    FlagSet set = JobFlagSet(&flags);
    absl::Status status = set.ReadArguments(c.args);
    ASSERT_TRUE(status.ok()) << status;
    flags.given = set.Given();
    status = flags.cluster.CountHosts(c.command, flags.HasServers());
    ASSERT_TRUE(status.ok()) << status;
    status = validate(flags);
    EXPECT_EQ(status.message(), c.message);
    EXPECT_EQ(status.ok() || absl::IsInvalidArgument(status), true) << status;
  }
}

TEST(TrainingFlagsTest, AModeWithOneDepthRefusesAnother) {
  TrainingModeRow row = {.value = TrainingMode::kAsync,
                         .word = "slow",
                         .depth_in_one_process = 0,
                         .depth_over_network = 1};
  EXPECT_TRUE(CheckDepth(row, kRun, 2).ok());
  row.depth_is_fixed = true;
  EXPECT_TRUE(CheckDepth(row, kRun, -1).ok());
  EXPECT_TRUE(CheckDepth(row, kRun, 1).ok());
  EXPECT_TRUE(CheckDepth(row, kTrain, 0).ok());
  EXPECT_EQ(CheckDepth(row, kRun, 0).message(),
            "--pipeline_depth=0: --mode=slow has depth 1, because a step "
            "begins after the one before it is applied; leave "
            "--pipeline_depth out");
  EXPECT_FALSE(CheckDepth(row, kTrain, 1).ok());
}

TEST(ModelFlagsTest, RefusesWhatDoesNotGoTogether) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.model.Validate(); },
      {{kTrain, {}, ""},
       {kTrain, {"--feature_size=9", "--keep_prob=1,1,1"}, ""},
       {kTrain, {"--dropout=0.5,0.5,0.5"}, ""},
       {kTrain, {"--dropout=0.1,0,0.45", "--keep_prob=0.9,1,0.55"}, ""},
       {kTrain,
        {"--batch_norm=true"},
        "--batch_norm=true is not there yet: moving averages need an update "
        "of their own on the parameter servers"},
       {kTrain,
        {"--dropout=0.5", "--deep_layers=8,4"},
        "--dropout=0.5 has 1 entry and --deep_layers=8,4 has 2; give one "
        "entry per layer"},
       {kTrain,
        {"--keep_prob=0.5", "--deep_layers=8,4"},
        "--keep_prob=0.5 has 1 entry and --deep_layers=8,4 has 2; give one "
        "entry per layer"},
       {kTrain,
        {"--dropout=0.5,0.9,0.9"},
        "--dropout=0.5,0.9,0.9 is the chance to drop a unit, and may be at "
        "most 0.5. If it is meant as the chance to keep a unit, as in the "
        "reference script, write --keep_prob=0.5,0.9,0.9; to drop more than "
        "half of the units, give 1 minus the chance as --keep_prob"},
       {kTrain,
        {"--dropout=0.1,0.1,0.1", "--keep_prob=0.9,0.9,0.8"},
        "--dropout=0.1,0.1,0.1 and --keep_prob=0.9,0.9,0.8 differ: the chance "
        "to keep a unit is 1 minus the chance to drop it; give one of the two "
        "flags"},
       {kTrain,
        {"--table_row_limit=5", "--feature_size=9"},
        "--table_row_limit=5 with --feature_size=9: a table that is as long "
        "as --feature_size needs no limit; leave out one of the two flags"},
       {kTrain, {"--table_row_limit=5", "--table_full=share"}, ""},
       {kTrain,
        {"--table_full=share"},
        "--table_full=share: without --table_row_limit no table is ever full"},
       {kTrain,
        {"--table_full=share", "--table_row_limit=5", "--model=linear_probe"},
        "--table_full=share: --model=linear_probe does not allow it, because "
        "the order of arrival decides which ids share a row"}});
}

TEST(ComputeFlagsTest, RefusesWhatDoesNotGoTogether) {
  const std::string replay = "--compute=replay";
  const std::string profile = "--compute_profile=p";
  const std::string record = "--record_compute=r";
  const std::string data = "--val_data_dir=v";
  ExpectErrors(
      [](const JobFlags& flags) { return flags.compute.Validate(flags); },
      {{kTrain, {}, ""},
       {kTrain, {record}, ""},
       {kRun, {replay, profile}, ""},
       {kTrain, {replay, profile, "--compute_scale=0.5"}, ""},
       {kTrain, {"--compute=busy", profile, "--compute_scale=2"}, ""},
       {kTrain, {"--compute_scale=2"}, ""},
       {kPs, {replay, "--ps_hosts=h:1", "--worker_hosts=h"}, ""},
       {kRun,
        {replay},
        "--compute=replay needs --compute_profile, a file that a real run with "
        "--record_compute=FILE has written"},
       {kRun,
        {"--compute=busy"},
        "--compute=busy needs --compute_profile, a file that a real run with "
        "--record_compute=FILE has written"},
       {kTrain,
        {profile},
        "--compute_profile=p is for --compute=replay and busy, and this is "
        "--compute=real; give one of them, or leave --compute_profile out"},
       {kTrain,
        {"--compute_scale=0.5"},
        "--compute_scale=0.5 is for --compute=replay, and this is "
        "--compute=real, which computes no faster than its core; give 1 or "
        "more, or --compute=replay"},
       {kTrain,
        {"--compute=busy", profile, "--compute_scale=0.5"},
        "--compute_scale=0.5 is for --compute=replay, and this is "
        "--compute=busy, which computes no faster than its core; give 1 or "
        "more, or --compute=replay"},
       {kTrain,
        {replay, profile, record},
        "--record_compute=r records how long a model computes, and with "
        "--compute=replay no model computes; leave one of the two flags out"},
       {kTrain,
        {replay, profile, "--task_type=eval", data},
        "--compute=replay is for training, and this is --task_type=eval; leave "
        "it out"},
       {kTrain,
        {record, "--task_type=eval", data},
        "--record_compute=r is for training, and this is --task_type=eval; "
        "leave it out"},
       {Command::kEval,
        {replay, data},
        "--compute=replay, of the checkpoint's training or as it is given, "
        "computes no model, so there is nothing to score; give a checkpoint of "
        "a training with --compute=real, and leave the flag out"}});
}

// Checkpoints of older releases have no line about it.
TEST(ComputeFlagsTest, TheConfigHasAReplayAlone) {
  JobFlags flags(kTrain);
  EXPECT_THAT(flags.CanonicalConfig(), Not(HasSubstr("compute")));
  flags.compute.compute = ComputeSource::kReplay;
  flags.compute.compute_profile = "p";
  EXPECT_THAT(flags.CanonicalConfig(), HasSubstr("\ncompute=replay\n"));
  EXPECT_THAT(flags.CanonicalConfig(), Not(HasSubstr("compute_profile")));
  EXPECT_EQ(FirstDifference("this job", JobFlags(kTrain).CanonicalConfig(),
                            "the checkpoint", flags.CanonicalConfig()),
            "--compute differs: this job does not have it, the checkpoint has "
            "replay");
}

TEST(ComputeFlagsTest, AFactorThatIsNotPositiveIsRefused) {
  for (const char* value : {"0", "-1", "65", "fast", "nan"}) {
    JobFlags flags(kTrain);
    FlagSet set = JobFlagSet(&flags);
    const absl::Status status =
        set.ReadArguments({absl::StrCat("--compute_scale=", value)});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << value;
    EXPECT_EQ(status.message(),
              absl::StrCat("--compute_scale=", value,
                           ": must be a number in (0, 64]"));
    EXPECT_EQ(flags.compute.compute_scale, 1);
  }
}

TEST(OptimizerFlagsTest, RefusesWhatDoesNotGoWithTheJob) {
  const std::string whole_table =
      "--l2_scope=table changes every row of a table at every push, and only "
      "shoal train with --workers=1 can do that; leave it at touched";
  ExpectErrors(
      [](const JobFlags& flags) { return flags.optimizers.Validate(flags); },
      {{kTrain, {}, ""},
       {kTrain, {"--l2_scope=table"}, ""},
       {kTrain, {"--l2_scope=table", "--workers=2"}, whole_table},
       {kRun, {"--l2_scope=table", "--workers=1"}, whole_table},
       {kTrain, {"--clip_norm=0.5"}, ""},
       {kTrain,
        {"--clip_norm=0.5", "--model=linear_probe"},
        "--clip_norm=0.5: --model=linear_probe does not allow it, because its "
        "arithmetic has to be exact"}});
}

TEST(ClusterFlagsTest, RefusesAPlaceOrAPartitionThatCannotBe) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.cluster.Validate(flags); },
      {{kTrain, {}, ""},
       {kTrain, {"--feature_size=9", "--partition=mod"}, ""},
       {kTrain, {"--partition=hash"}, ""},
       {kTrain,
        {"--partition=fixed_size"},
        "--partition=fixed_size cuts tables of a known size: give "
        "--feature_size too, or use hash"},
       {kTrain,
        {"--partition=mod"},
        "--partition=mod cuts tables of a known size: give --feature_size "
        "too, or use hash"},
       {kTrain,
        {"--partition=hash", "--feature_size=9"},
        "--partition=hash with --feature_size=9: hash places dynamic tables; "
        "leave out one of the two flags"},
       {kPs, {"--ps_hosts=a:1,b:2", "--task_index=1"}, ""},
       {kPs,
        {"--ps_hosts=a:1,b:2", "--task_index=2"},
        "--task_index=2: --ps_hosts has 2 entries, so it must be in [0, 1]"},
       {kWorker, {"--ps_hosts=a:1", "--task_index=3"}, ""},
       {kWorker,
        {"--ps_hosts=a:1", "--worker_hosts=a,b,c", "--task_index=3"},
        "--task_index=3: --worker_hosts has 3 entries, so it must be in [0, "
        "2]"},
       {kRun, {"--hosts=a,b", "--worker_per_host=4"}, ""},
       {kRun,
        {"--worker_per_host=4"},
        "--worker_per_host=4 is for the hosts of --hosts, which is missing; on "
        "this host alone give --workers=4"},
       {kPs, {"--ps_hosts=a:1", "--listen=0.0.0.0:1"}, ""},
       {kPs,
        {"--ps_hosts=a:1", "--listen=0.0.0.0"},
        "--listen: '0.0.0.0' must be host:port with a port in [1, 65535]"}});
}

TEST(ClusterFlagsTest, CountsProcessesByTheirHosts) {
  ClusterFlags flags;
  flags.ps_hosts = "a:1,b:1";
  flags.worker_hosts = "a,b,c";
  ASSERT_TRUE(flags.CountHosts(kWorker).ok());
  EXPECT_EQ(flags.ps, 2);
  EXPECT_EQ(flags.workers, 3);
  flags.hosts = "a,b,c,d";
  ASSERT_TRUE(flags.CountHosts(kRun).ok());
  EXPECT_EQ(flags.ps, 4);
  EXPECT_EQ(flags.workers, 4);
  flags.hosts = "a:4,b,c:1";
  flags.worker_per_host = 2;
  ASSERT_TRUE(flags.CountHosts(kRun).ok());
  EXPECT_EQ(flags.ps, 3);
  EXPECT_EQ(flags.workers, 7);
  EXPECT_EQ(flags.most_workers_of_host, 4);
  flags.ps_hosts = "a";
  EXPECT_FALSE(flags.CountHosts(kPs).ok());
}

TEST(ClusterFlagsTest, WithoutServersEachWorkerCountsAsOne) {
  ClusterFlags flags;
  flags.worker_hosts = "a:1,b,c";
  ASSERT_TRUE(flags.CountHosts(kWorker, /*servers=*/false).ok());
  EXPECT_EQ(flags.ps, 3);
  EXPECT_EQ(flags.workers, 3);
  flags.workers = 2;
  ASSERT_TRUE(flags.CountHosts(kTrain, /*servers=*/false).ok());
  EXPECT_EQ(flags.ps, 2);
}

TEST(ClusterFlagsTest, PlacesAreThoseOfTheMode) {
  const std::string none =
      ": there are no parameter servers, and each worker holds all variables: ";
  const std::string give =
      "give --worker_hosts, whose first entry has a port, or --coordinator";
  const std::string ring = "--mode=ring", table = "--feature_size=9";
  ExpectErrors(
      [](const JobFlags& flags) { return flags.cluster.Validate(flags); },
      {{kRun, {table, ring, "--workers=3"}, ""},
       {kTrain, {table, ring, "--workers=3"}, ""},
       {kRun,
        {table, ring, "--ps=2"},
        "--ps with --mode=ring" + none + "leave --ps out"},
       {kWorker, {table, ring, "--worker_hosts=a:1,b"}, ""},
       {kWorker,
        {table, ring, "--worker_hosts=a,b", "--coordinator=a:1"},
        ""},
       {kWorker,
        {table, ring, "--worker_hosts=a,b"},
        "--mode=ring needs the address of worker 0: --worker_hosts: 'a' must "
        "be host:port with a port in [1, 65535]"},
       {kWorker,
        {table, ring, "--worker_hosts=a,b", "--coordinator=a"},
        "--mode=ring needs the address of worker 0: --coordinator: 'a' must "
        "be host:port with a port in [1, 65535]"},
       {kWorker,
        {table, ring, "--coordinator=a:1"},
        "shoal-worker needs --worker_hosts with --mode=ring: it says how many "
        "workers the job has; " +
            give +
            " too. mpirun and srun say it to the processes that they start"},
       {kWorker,
        {table, ring, "--ps_hosts=a:1", "--worker_hosts=a:1,b"},
        "--ps_hosts=a:1 with --mode=ring" + none + give + " in its place"},
       {kPs,
        {table, ring, "--ps_hosts=a:1", "--worker_hosts=a:1,b"},
        "shoal-ps with --mode=ring" + none + "start shoal-worker alone"},
       {kPs,
        {table, ring},
        "shoal-ps with --mode=ring" + none + "start shoal-worker alone"},
       {kWorker,
        {table, "--ps_hosts=a:1", "--coordinator=a:1"},
        "--coordinator=a:1 with --mode=async: parameter server 0 coordinates "
        "the job; leave --coordinator out"}});
}

// A rank that a launcher has started, with `args` beside.
JobFlags Launched(const std::vector<std::string>& args, LaunchedRank launched) {
  JobFlags flags(kWorker);
  FlagSet set = JobFlagSet(&flags);
  const absl::Status read = set.ReadArguments(args);
  EXPECT_TRUE(read.ok()) << read;
  flags.given = set.Given();
  flags.cluster.launched = std::move(launched);
  return flags;
}

absl::Status PlacesOf(JobFlags flags) {
  const absl::Status counted =
      flags.cluster.CountHosts(flags.command, flags.HasServers());
  return counted.ok() ? flags.cluster.Validate(flags) : counted;
}

TEST(ClusterFlagsTest, ALauncherSaysHowManyRanksThereAre) {
  const std::vector<std::string> ring = {"--mode=ring", "--feature_size=9",
                                         "--task_index=2"};
  auto with = [&](const std::string& flag) {
    std::vector<std::string> args = ring;
    args.push_back(flag);
    return args;
  };
  const LaunchedRank of_three = {.rank = {2, "R"}, .size = {{3, "S"}}};
  JobFlags flags = Launched(with("--coordinator=a:1"), of_three);
  ASSERT_TRUE(
      flags.cluster.CountHosts(kWorker, /*servers=*/false).ok());
  EXPECT_EQ(flags.cluster.workers, 3);
  EXPECT_EQ(flags.cluster.ps, 3);
  EXPECT_TRUE(flags.cluster.Validate(flags).ok());
  EXPECT_TRUE(
      PlacesOf(Launched(with("--worker_hosts=a:1,b,c"), of_three)).ok());
  EXPECT_THAT(
      std::string(
          PlacesOf(Launched(with("--worker_hosts=a:1,b,c,d"), of_three))
              .message()),
      HasSubstr("--worker_hosts with 4 entries and S=3 contradict"));
  EXPECT_THAT(std::string(PlacesOf(Launched(ring, of_three)).message()),
              HasSubstr("shoal-worker needs --coordinator with --mode=ring: it "
                        "is host:port of the process of rank 0, on a port that "
                        "is free there, and the same for all S=3 processes"));
  const LaunchedRank of_any = {.rank = {2, "R"}};
  EXPECT_THAT(
      std::string(
          PlacesOf(Launched(with("--coordinator=a:1"), of_any)).message()),
      HasSubstr("shoal-worker needs --worker_hosts with --mode=ring"));
  EXPECT_TRUE(PlacesOf(Launched(with("--worker_hosts=a:1,b,c"), of_any)).ok());
}

TEST(ClusterFlagsTest, WorkersBesideHostsAreTheirNumber) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.cluster.Validate(flags); },
      {{kRun, {"--hosts=a:2,b:2", "--workers=4"}, ""},
       {kRun,
        {"--hosts=a:2,b", "--workers=4"},
        "--workers=4 and --hosts=a:2,b, which is 3 workers, contradict each "
        "other: leave --workers out, or give host:n for each host"}});
}

TEST(MonitoringFlagsTest, EachRankOfAHostHasAPortOfItsOwn) {
  JobFlags flags = Launched({"--mode=ring", "--metrics_port=65533"},
                            {.rank = {7, "R"},
                             .size = {{9, "S"}},
                             .local_rank = {{2, "L"}}});
  EXPECT_EQ(flags.MetricsPort(), 65535);
  EXPECT_TRUE(flags.monitoring.Validate(flags).ok());
  flags.cluster.launched->local_rank->value = 3;
  EXPECT_EQ(flags.monitoring.Validate(flags).message(),
            "--metrics_port=65533 plus L=3 is beyond 65535, the last port; "
            "give a smaller one");
  flags.cluster.launched.reset();
  EXPECT_EQ(flags.MetricsPort(), 65533);
}

TEST(MonitoringFlagsTest, RefusesPortsBeyondTheLast) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.monitoring.Validate(flags); },
      {{kRun, {"--metrics_port=65532"}, ""},
       {kRun,
        {"--metrics_port=65533"},
        "--metrics_port=65533: the processes take 4 ports from this one on, "
        "and 65535 is the last port; give a smaller one"},
       {kRun, {"--metrics_port=65534", "--hosts=a,b,c"}, ""},
       {kRun,
        {"--metrics_port=65535", "--hosts=a,b,c"},
        "--metrics_port=65535: the processes take 2 ports from this one on, "
        "and 65535 is the last port; give a smaller one"},
       {kRun,
        {"--metrics_port=65534", "--hosts=a,b:2"},
        "--metrics_port=65534: the processes take 3 ports from this one on, "
        "and 65535 is the last port; give a smaller one"},
       {kWorker, {"--ps_hosts=a:1", "--metrics_port=65535"}, ""}});
}

TEST(DataFlagsTest, RefusesAJobWithNothingToRead) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.data.Validate(flags); },
      {{kTrain, {"--training_data_dir=/t"}, ""},
       {kTrain,
        {"--val_data_dir=/v"},
        "--training_data_dir is missing: without it there is no data to train "
        "on"},
       {kTrain, {"--task_type=eval", "--val_data_dir=/v"}, ""},
       {kTrain,
        {"--task_type=eval", "--training_data_dir=/t"},
        "--task_type=eval reads --val_data_dir, which is missing"},
       {kWorker,
        {"--ps_hosts=a:1", "--task_type=infer"},
        "--task_type=infer reads --val_data_dir, which is missing"},
       {kPs, {"--ps_hosts=a:1"}, ""}});
}

TEST(EvaluationFlagsTest, RefusesPredictionsWithoutAPlace) {
  const std::string nowhere =
      "--task_type=infer needs --predictions_file or --model_dir, to know "
      "where to write";
  ExpectErrors(
      [](const JobFlags& flags) { return flags.evaluation.Validate(flags); },
      {{kTrain, {}, ""},
       {kTrain, {"--task_type=infer"}, nowhere},
       {kTrain, {"--task_type=infer", "--predictions_file=p"}, ""},
       {kTrain, {"--task_type=infer", "--model_dir=m"}, ""},
       {kPs, {"--task_type=infer", "--ps_hosts=a:1,b:1"}, nowhere},
       {kPs, {"--task_type=infer", "--ps_hosts=a:1,b:1", "--task_index=1"}, ""},
       {kWorker, {"--task_type=infer", "--ps_hosts=a:1"}, ""}});
}

TEST(CheckpointFlagsTest, RefusesCheckpointsWithoutADirectory) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.checkpoints.Validate(flags); },
      {{kTrain, {}, ""},
       {kTrain,
        {"--model_dir=m", "--save_checkpoint_steps=5", "--resume=must"},
        ""},
       {kTrain,
        {"--save_checkpoint_steps=5"},
        "--save_checkpoint_steps=5: give --model_dir too, where checkpoints "
        "are kept"},
       {kTrain,
        {"--resume=must"},
        "--resume=must: give --model_dir too, where the checkpoint is"},
       {kTrain,
        {"--task_type=eval"},
        "--task_type=eval takes the model of a checkpoint: give its "
        "--model_dir, or --resume=never for the initial weights"},
       {kTrain, {"--task_type=eval", "--resume=never"}, ""}});
}

TEST(OptimizerFlagsTest, AScaleMultipliesEveryRateOnce) {
  JobFlags flags(kTrain);
  flags.optimizers.learning_rate = 0.25;
  flags.optimizers.wide_learning_rate = 0.5;
  EXPECT_EQ(flags.optimizers.ScaledRates(), "");
  flags.optimizers.scale_learning_rate = 4;
  const std::string config = absl::StrCat("\n", flags.CanonicalConfig());
  for (const char* line : {"learning_rate=1", "table_learning_rate=1",
                           "wide_learning_rate=2"}) {
    EXPECT_THAT(config, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
  EXPECT_EQ(flags.optimizers.ScaledRates(),
            "learning rates with --scale_learning_rate=4: 1 of dense "
            "variables, 1 of tables, 2 of the tables' one weight per id\n");
  EXPECT_EQ(flags.Resolved().optimizers.ScaledRates(), "");
  EXPECT_EQ(flags.Resolved().Resolved().optimizers.learning_rate, 1);
}

TEST(ModeFlagsTest, RefusesSettingsOfAnotherMode) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.modes.Validate(flags); },
      {{kTrain, {}, ""},
       {kRun, {"--mode=ssp"}, ""},
       {kRun, {"--mode=ssp", "--ssp_bound=0"}, ""},
       {kTrain, {"--ssp_bound=3"}, ""},
       {kTrain,
        {"--ssp_bound=4"},
        "--ssp_bound=4 is for --mode=ssp, and this is --mode=async; give "
        "--mode=ssp, or leave --ssp_bound out"},
       {kRun, {"--mode=sync", "--workers=3", "--backup_workers=2"}, ""},
       {kRun,
        {"--mode=sync", "--workers=3", "--backup_workers=3"},
        "--backup_workers=3 must be smaller than the number of workers, which "
        "is 3"},
       {kRun,
        {"--workers=3", "--backup_workers=2"},
        "--backup_workers=2 is for --mode=sync, and this is --mode=async; give "
        "--mode=sync, or leave --backup_workers out"},
       {kRun, {"--mode=ring", "--reduction=rank_order"}, ""},
       {kRun,
        {"--mode=sync", "--reduction=rank_order"},
        "--reduction=rank_order is for --mode=ring or --mode=hybrid, and this "
        "is --mode=sync; give --mode=ring or --mode=hybrid, or leave "
        "--reduction out"},
       {kTrain, {"--mode=hybrid", "--reduction=rank_order"}, ""},
       {kTrain, {"--mode=ring", "--bucket_bytes=1MiB"}, ""},
       {kTrain,
        {"--bucket_bytes=1MiB"},
        "--bucket_bytes=1048576 is for --mode=ring or --mode=hybrid, and this "
        "is --mode=async; give --mode=ring or --mode=hybrid, or leave "
        "--bucket_bytes out"}});
}

TEST(DeadlineFlagsTest, RefusesTimesThatCannotWork) {
  ExpectErrors(
      [](const JobFlags& flags) { return flags.deadlines.Validate(); },
      {{kTrain, {}, ""},
       {kTrain,
        {"--silent_after=1500ms"},
        "--silent_after=1.5s must be at least twice --heartbeat=1s"},
       {kTrain,
        {"--worker_lease=1s"},
        "--worker_lease=1s must be at least twice --heartbeat=1s, which "
        "renews it"},
       {kTrain,
        {"--ps_lease=6s"},
        "--ps_lease=6s must be at least twice --heartbeat=1s and at most "
        "--silent_after=5s"},
       {kTrain,
        {"--ps_lease=1s"},
        "--ps_lease=1s must be at least twice --heartbeat=1s and at most "
        "--silent_after=5s"},
       {kTrain,
        {"--mark_interval=3s"},
        "--mark_interval=3s must be at most --speculate_after=2s"}});
}

TEST(JobFlagsTest, ValidateAsksEveryGroup) {
  for (const Case& c :
       std::vector<Case>{{kTrain, {"--batch_norm"}, "--batch_norm"},
                         {kRun, {"--l2_scope=table"}, "--l2_scope"},
                         {kTrain, {"--ssp_bound=2"}, "--ssp_bound"},
                         {kRun, {"--hosts=a,,b"}, "--hosts"},
                         {kTrain, {"--partition=mod"}, "--partition"},
                         {kRun, {"--metrics_port=65535"}, "--metrics_port"},
                         {kTrain, {}, "--training_data_dir"},
                         {kTrain,
                          {"--task_type=infer", "--val_data_dir=v"},
                          "--task_type=infer needs"},
                         {kTrain,
                          {"--resume=must", "--training_data_dir=t"},
                          "--resume=must"},
                         {kTrain,
                          {"--ps_lease=6s", "--training_data_dir=t"},
                          "--ps_lease=6s"}}) {
    JobFlags flags(c.command);
    FlagSet set = JobFlagSet(&flags);
    ASSERT_TRUE(set.ReadArguments(c.args).ok());
    const absl::Status status = flags.Validate();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_EQ(std::string(status.message()).rfind(c.message, 0), 0u) << status;
  }
}

}  // namespace
}  // namespace shoal
