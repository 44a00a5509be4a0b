#include "launch/scoring_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// A command with the arguments, a checkpoint's config, and what comes of them.
struct Taken {
  Taken(Command command, const std::vector<std::string>& args,
        absl::string_view config)
      : flags(command), set(JobFlagSet(&flags)) {
    status = set.ReadArguments(args);
    if (status.ok()) status = TakeModelFlags(config, "/m/ckpt-7", &flags, &set);
  }
  std::string error() const { return std::string(status.message()); }

  JobFlags flags;
  FlagSet set;
  absl::Status status;
};

// The config of a training with these arguments.
std::string Config(const std::vector<std::string>& args) {
  JobFlags flags(Command::kRun);
  FlagSet set = JobFlagSet(&flags);
  EXPECT_TRUE(set.Parse(args).ok());
  return flags.CanonicalConfig();
}

std::string Config() {
  return Config({"--field_size=4", "--feature_size=300", "--embedding_size=4",
                 "--deep_layers=8,6", "--seed=9", "--learning_rate=0.125",
                 "--table_optimizer=ftrl", "--batch_size=50", "--num_epochs=7",
                 "--partition=mod", "--l2_scope=touched"});
}

std::vector<std::string> Listed(Command command) {
  JobFlags flags(command);
  std::vector<std::string> names;
  const FlagSet set = JobFlagSet(&flags);
  for (const Flag& flag : set.flags()) {
    const bool in_help =
        set.Help().find(absl::StrCat("--", flag.name, "=")) !=
        std::string::npos;
    EXPECT_EQ(in_help, !flag.hidden) << flag.name;
    if (!flag.hidden) names.push_back(flag.name);
  }
  return names;
}

TEST(ScoringFlagsTest, HelpListsTheFlagsThatMeanSomething) {
  EXPECT_THAT(
      Listed(Command::kEval),
      UnorderedElementsAre(
          "auc_exact_rows", "backend", "batch_size", "checkpoint", "config",
          "data_format", "first_layer", "log_level", "max_bad_rows",
          "memory_check", "metrics_listen", "metrics_port", "model_dir",
          "parse_threads", "piece_bytes", "print_config", "progress_every",
          "progress_timeout", "quarantine_dir", "summary", "unseen",
          "val_data_dir", "workers"));
  std::vector<std::string> infer = Listed(Command::kInfer);
  for (const char* name : {"predictions_file", "predictions_format"}) {
    EXPECT_EQ(std::erase(infer, name), 1u) << name;
  }
  std::vector<std::string> eval = Listed(Command::kEval);
  EXPECT_EQ(std::erase(eval, "auc_exact_rows"), 1u);
  EXPECT_EQ(infer, eval);
}

// The config of a checkpoint decides the other canonical flags, or says
// nothing about the model.
TEST(ScoringFlagsTest, CanonicalFlagsThatSayHowATrainingRanAreNotTaken) {
  JobFlags flags(Command::kEval);
  std::set<std::string> left_out;
  const JobFlagRows rows = AllJobFlagRows(&flags);
  for (const JobFlagRow& row : rows.rows()) {
    if (row.canonical != Canonical::kNo &&
        UseInScoring(Command::kEval, row) == ScoringUse::kNone) {
      left_out.insert(row.flag.name);
    }
  }
  EXPECT_THAT(left_out,
              ElementsAre("backup_workers", "bucket_bytes", "canary",
                          "data_scope", "max_message_bytes", "mode",
                          "num_epochs", "pipeline_depth", "ps", "reduction",
                          "shuffle", "shuffle_rows", "ssp_bound", "task_type",
                          "val_data_scope"));
}

TEST(ScoringFlagsTest, TheModelIsTheCheckpoints) {
  for (const Command command : {Command::kEval, Command::kInfer}) {
    const Taken taken(command, {"--val_data_dir=/v", "--predictions_file=p"},
                      Config());
    if (command == Command::kEval) {
      EXPECT_THAT(taken.error(), HasSubstr("is a flag of shoal train, shoal "
                                           "run, shoal-ps, shoal-worker, shoal "
                                           "infer; shoal eval does not take"));
      continue;
    }
    ASSERT_TRUE(taken.status.ok()) << taken.status;
    EXPECT_EQ(taken.flags.model.field_size, 4);
    EXPECT_EQ(taken.flags.model.deep_layers, (std::vector<int>{8, 6}));
    EXPECT_EQ(taken.flags.model.seed, 9u);
    EXPECT_EQ(taken.flags.optimizers.learning_rate, 0.125);
    EXPECT_EQ(taken.flags.optimizers.table_optimizer, OptimizerKind::kFtrl);
    EXPECT_EQ(taken.flags.cluster.partition, PartitionKind::kMod);
    EXPECT_EQ(taken.flags.training.batch_size, 50);
    // Not of the model.
    EXPECT_EQ(taken.flags.training.num_epochs, 1);
    EXPECT_EQ(taken.flags.training.task_type, JobTask::kInfer);
  }
}

TEST(ScoringFlagsTest, AFlagOfTheModelMayBeGivenWithTheSameValue) {
  const Taken taken(
      Command::kEval,
      {"--field_size=4", "--embedding_size=4", "--seed=9",
       "--learning_rate=0.125", "--table_learning_rate=0", "--batch_size=7"},
      Config());
  ASSERT_TRUE(taken.status.ok()) << taken.status;
  EXPECT_EQ(taken.flags.training.batch_size, 7);
}

TEST(ScoringFlagsTest, AFlagThatContradictsIsNamedWithBothValues) {
  const auto error = [](const std::string& flag) {
    const Taken taken(Command::kEval, {flag}, Config());
    EXPECT_TRUE(absl::IsInvalidArgument(taken.status)) << flag;
    return taken.error();
  };
  EXPECT_EQ(error("--embedding_size=8"),
            "--embedding_size=8 is given, but the model of /m/ckpt-7 has "
            "--embedding_size=4; leave the flag out");
  EXPECT_THAT(error("--feature_size=0"), HasSubstr("has --feature_size=300;"));
  EXPECT_THAT(error("--model=fm"), HasSubstr("has --model=deepfm;"));
  EXPECT_THAT(error("--learning_rate=0.5"), HasSubstr("=0.125;"));
  EXPECT_THAT(error("--seed=1"), HasSubstr("has --seed=9;"));
  EXPECT_THAT(error("--wide_optimizer=sgd"), HasSubstr("=ftrl;"));
}

TEST(ScoringFlagsTest, AModelThatWasNotComputedIsNotScored) {
  const std::string config = Config({"--field_size=4", "--compute=replay",
                                     "--compute_profile=/p"});
  const std::vector<std::string> data = {"--val_data_dir=/v", "--model_dir=/m"};
  Taken plain(Command::kEval, data, config);
  ASSERT_TRUE(plain.status.ok()) << plain.status;
  EXPECT_THAT(std::string(plain.flags.Validate().message()),
              HasSubstr("--compute=replay, of the checkpoint's training"));
  EXPECT_EQ(Taken(Command::kEval, {"--compute=real"}, config).error(),
            "--compute=real is given, but the model of /m/ckpt-7 has "
            "--compute=replay; leave the flag out");
}

TEST(ScoringFlagsTest, AFlagOfTheModelMayBeGivenInItsOtherForm) {
  const std::string drops =
      Config({"--field_size=4", "--deep_layers=8,6", "--dropout=0.1,0.25"});
  const std::vector<std::string> data = {"--val_data_dir=/v", "--model_dir=/m"};
  const auto with = [&](const std::string& flag) {
    std::vector<std::string> all = data;
    all.push_back(flag);
    return all;
  };
  Taken same(Command::kEval, with("--dropout=0.1,0.25"), drops);
  ASSERT_TRUE(same.status.ok()) << same.status;
  EXPECT_TRUE(same.flags.Validate().ok()) << same.flags.Validate();
  Taken other(Command::kEval, with("--dropout=0.1,0.5"), drops);
  EXPECT_FALSE(other.flags.Validate().ok());
  const Taken none(Command::kEval, with("--dropout=0.1,0.25"),
                   Config({"--field_size=4", "--deep_layers=8,6"}));
  EXPECT_THAT(none.error(), HasSubstr("--keep_prob=0.9,0.75 is given, but the "
                                      "model of /m/ckpt-7 has --keep_prob=;"));
}

TEST(ScoringFlagsTest, AFlagThatThisVersionDoesNotKnowIsRefused) {
  const Taken taken(Command::kEval, {},
                    absl::StrCat(Config(), "zz_gates=3,4\n"));
  EXPECT_TRUE(absl::IsFailedPrecondition(taken.status));
  EXPECT_THAT(taken.error(), HasSubstr("/m/ckpt-7: its model has "
                                       "--zz_gates=3,4, a flag that this"));
}

// The config is data from outside: it must not say what is read and written.
TEST(ScoringFlagsTest, AConfigDecidesNothingButTheModel) {
  const Taken taken(
      Command::kEval, {"--val_data_dir=/v", "--model_dir=/m"},
      absl::StrCat(Config(), "summary=/tmp/x\nquarantine_dir=/tmp/q\n",
                   "metrics_port=9\nlog_level=error\nval_data_dir=/w\n"));
  ASSERT_TRUE(taken.status.ok()) << taken.status;
  EXPECT_EQ(taken.flags.output.summary, "");
  EXPECT_EQ(taken.flags.data.quarantine_dir, "");
  EXPECT_EQ(taken.flags.data.val_data_dir, "/v");
  EXPECT_EQ(taken.flags.monitoring.metrics_port, 0);
  EXPECT_EQ(taken.flags.output.log_level, LogLevel::kInfo);
}

TEST(ScoringFlagsTest, AnOlderConfigMayLackAFlag) {
  const std::string older =
      absl::StrReplaceAll(Config(), {{"table_full=refuse\n", ""}});
  ASSERT_NE(older, Config());
  const Taken taken(Command::kEval, {}, older);
  ASSERT_TRUE(taken.status.ok()) << taken.status;
  EXPECT_EQ(taken.flags.model.table_full, TableFull::kRefuse);
}

TEST(ScoringFlagsTest, AValueOutOfRangeNamesTheCheckpoint) {
  const Taken taken(Command::kEval, {}, "field_size=0\n");
  EXPECT_THAT(taken.error(), HasSubstr("/m/ckpt-7: --field_size=0: must be"));
}

TEST(ScoringFlagsTest, WhatATrainingNeedsElsewhereIsNoHindrance) {
  // Only shoal train with one worker can train so.
  Taken taken(Command::kEval,
              {"--val_data_dir=/v", "--workers=3", "--model_dir=/m"},
              Config({"--field_size=4", "--l2_scope=table"}));
  ASSERT_TRUE(taken.status.ok()) << taken.status;
  EXPECT_TRUE(taken.flags.Validate().ok()) << taken.flags.Validate();
  EXPECT_EQ(taken.flags.QuarantineDir(), "");
  EXPECT_FALSE(taken.flags.Saves());
  EXPECT_THAT(taken.flags.TaskText(), "shoal eval");
  EXPECT_EQ(taken.flags.PipelineDepth(), 0);
}

TEST(ScoringFlagsTest, PredictionsNeedAPlaceBesideTheModel) {
  Taken taken(Command::kInfer, {"--val_data_dir=/v", "--model_dir=/m"},
              Config());
  ASSERT_TRUE(taken.status.ok()) << taken.status;
  EXPECT_EQ(taken.flags.PredictionsFile(), "");
  EXPECT_EQ(taken.flags.Validate().message(),
            "shoal infer needs --predictions_file, to know where to write");
  EXPECT_THAT(std::string(taken.set.CheckRequired().message()),
              HasSubstr("shoal infer needs --predictions_file: it says where"));
}

TEST(ScoringFlagsTest, OtherCommandsDoNotTakeTheirFlags) {
  for (const Command command :
       {Command::kTrain, Command::kRun, Command::kPs, Command::kWorker}) {
    JobFlags flags(command);
    FlagSet set = JobFlagSet(&flags);
    for (const char* flag : {"checkpoint", "unseen"}) {
      const absl::Status status =
          set.ReadArguments({absl::StrCat("--", flag, "=zero")});
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("is a flag of shoal eval, shoal infer; "));
    }
    EXPECT_THAT(set.Help(), Not(HasSubstr("--unseen")));
  }
}

}  // namespace
}  // namespace shoal
