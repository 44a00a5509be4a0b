#include "bench/compare/cell_flags.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "bench/compare/byte_formula.h"
#include "bench/compare/compare_flags.h"
#include "bench/compare/model_jobs.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Pair;

Cell CellOf(const std::string& mode) {
  Cell cell;
  cell.mode = mode;
  cell.hosts = 4;
  cell.batch_size = 512;
  cell.learning_rate = .25;
  return cell;
}

const FlagMap kJob = {{"feature_size", "1000"}, {"field_size", "3"},
                      {"training_data_dir", "/d"}};

TEST(FlagsOfCellTest, AJobOnThisHostHasServersUnlessItIsARing) {
  const FlagMap async = FlagsOfCell(CellOf("async"), kJob, {}, {});
  EXPECT_THAT(async, IsSupersetOf({Pair("mode", "async"), Pair("ps", "4"),
                                   Pair("workers", "4"),
                                   Pair("batch_size", "512"),
                                   Pair("learning_rate", "0.25"),
                                   Pair("warmup_steps", "48"),
                                   Pair("feature_size", "1000")}));
  EXPECT_EQ(async.count("silent_after"), 0u);
  EXPECT_EQ(FlagsOfCell(CellOf("ring"), kJob, {}, {}).count("ps"), 0u);
}

TEST(FlagsOfCellTest, TheWarmUpIsAsLongAsItHasToBe) {
  CellPlace place;
  place.least_warmup_steps = 100;
  EXPECT_EQ(FlagsOfCell(CellOf("async"), kJob, {}, place).at("warmup_steps"),
            "100");
  FlagMap job = kJob;
  job["warmup_steps"] = "200";
  EXPECT_EQ(FlagsOfCell(CellOf("async"), job, {}, place).at("warmup_steps"),
            "200");
}

TEST(FlagsOfCellTest, DeadlinesAreStretchedAndHeartbeatsAreNot) {
  Cell cell = CellOf("async");
  cell.dilation = 2.5;
  DeadlineFlags deadlines;
  deadlines.silent_after = absl::Seconds(6);
  CellPlace place;
  place.hosts = "10.0.0.1,10.0.0.2";
  const FlagMap flags = FlagsOfCell(cell, kJob, deadlines, place);
  EXPECT_EQ(flags.at("silent_after"), "15000ms");
  EXPECT_EQ(flags.at("pull_timeout"), "25000ms");
  EXPECT_EQ(flags.at("mark_interval"), "50ms");
  EXPECT_EQ(flags.count("heartbeat"), 0u);
  EXPECT_EQ(flags.at("hosts"), "10.0.0.1,10.0.0.2");
  EXPECT_EQ(flags.count("workers"), 0u);
}

TEST(FlagsOfCellTest, FlagsOfOtherModesAreLeftOut) {
  FlagMap job = kJob;
  job["ssp_bound"] = "7";
  job["bucket_bytes"] = "1MiB";
  job["pipeline_depth"] = "2";
  Cell ssp = CellOf("ssp");
  ssp.ssp_bound = 2;
  EXPECT_EQ(FlagsOfCell(ssp, job, {}, {}).at("ssp_bound"), "2");
  EXPECT_EQ(FlagsOfCell(ssp, job, {}, {}).at("pipeline_depth"), "2");
  EXPECT_EQ(FlagsOfCell(ssp, job, {}, {}).count("bucket_bytes"), 0u);
  const FlagMap ring = FlagsOfCell(CellOf("ring"), job, {}, {});
  EXPECT_EQ(ring.count("ssp_bound"), 0u);
  EXPECT_EQ(ring.count("pipeline_depth"), 0u);
  EXPECT_EQ(ring.at("bucket_bytes"), "1MiB");
  Cell sync = CellOf("sync");
  sync.backup_workers = 1;
  EXPECT_EQ(FlagsOfCell(sync, job, {}, {}).at("backup_workers"), "1");
}

TEST(FlagsOfCellTest, ARepeatMayHaveASeedOfItsOwn) {
  FlagMap job = kJob;
  job["seed"] = "4";
  CellPlace place;
  EXPECT_EQ(FlagsOfCell(CellOf("sync"), job, {}, place).at("seed"), "4");
  place.seed = 6;
  EXPECT_EQ(FlagsOfCell(CellOf("sync"), job, {}, place).at("seed"), "6");
}

TEST(FlagsOfModelTest, LeavesOutFlagsOfSomeModes) {
  FlagMap job = kJob;
  job["bucket_bytes"] = "1MiB";
  job["pipeline_depth"] = "2";
  EXPECT_EQ(FlagsOfModel(job).count("bucket_bytes"), 0u);
  EXPECT_EQ(FlagsOfModel(job).at("pipeline_depth"), "2");
}

TEST(FlagsOfCellTest, AJobThatIsStoppedIsNotEvaluated) {
  FlagMap job = kJob;
  job["val_data_dir"] = "/v";
  job["num_epochs"] = "3";
  CellPlace place;
  EXPECT_EQ(FlagsOfCell(CellOf("ring"), job, {}, place).at("num_epochs"), "3");
  place.epochs = 77;
  const FlagMap timed = FlagsOfCell(CellOf("ring"), job, {}, place);
  EXPECT_EQ(timed.at("num_epochs"), "77");
  EXPECT_EQ(timed.count("val_data_dir"), 0u);
}

TEST(FlagsOfCellTest, AReplayTakesItsShareOfAPlayedHost) {
  Cell cell = CellOf("ring");
  cell.compute = "replayed";
  cell.dilation = 8;
  CellPlace place;
  place.profile = "/p.json";
  const FlagMap busy = FlagsOfCell(cell, kJob, {}, place);
  EXPECT_THAT(busy, IsSupersetOf({Pair("compute", "busy"),
                                  Pair("compute_profile", "/p.json")}));
  // The host's share makes it slow.
  EXPECT_EQ(busy.count("compute_scale"), 0u);
  // On loopback many workers share this machine's cores.
  cell.cores_per_host = 0;
  EXPECT_EQ(FlagsOfCell(cell, kJob, {}, place).at("compute"), "replay");
}

TEST(FlagsOfCellTest, AThreadOfAHostOfManyCoresIsAsSlowAsOneOfThem) {
  Cell cell = CellOf("ring");
  cell.cores_per_host = 2;
  cell.dilation = 8;
  EXPECT_EQ(FlagsOfCell(cell, kJob, {}, {}).at("compute_scale"), "8");
  CellPlace place;
  place.paused_speed = .75;
  EXPECT_EQ(FlagsOfCell(cell, kJob, {}, place).at("compute_scale"), "6");
  // A slow host, in a cluster that is played as fast as it is.
  cell.dilation = 1;
  EXPECT_EQ(FlagsOfCell(cell, kJob, {}, {}).count("compute_scale"), 0u);
  cell.hosts = 2;
  cell.straggler = Straggler{1, .5};
  EXPECT_EQ(FlagsOfCell(cell, kJob, {}, {}).at("compute_scale"), "1");
}

// The flags of every mode are flags that `shoal run` takes.
TEST(FlagsOfCellTest, AreFlagsOfShoalRun) {
  for (const char* mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    Cell cell = CellOf(mode);
    cell.dilation = 3;
    JobFlags flags(Command::kRun);
    FlagSet set = JobFlagSet(&flags);
    const absl::Status parsed =
        set.Parse(Arguments(FlagsOfCell(cell, kJob, {}, {})));
    ASSERT_TRUE(parsed.ok()) << parsed;
    EXPECT_TRUE(flags.Validate().ok()) << flags.Validate();
  }
  JobFlags flags(Command::kRun);
  FlagSet set = JobFlagSet(&flags);
  CellPlace place;
  place.record = "/r";
  ASSERT_TRUE(
      set.Parse(Arguments(FlagsOfCell(CellOf("async"), kJob, {}, place))).ok());
  EXPECT_TRUE(flags.Validate().ok());
  EXPECT_EQ(flags.compute.record_compute, "/r");
}

TEST(CheckJobFlagsTest, SaysWhatToGiveInPlaceOfAFlag) {
  EXPECT_TRUE(CheckJobFlags(kJob).ok());
  EXPECT_THAT(CheckJobFlags({{"mode", "ring"}}).message(),
              HasSubstr("--mode=ring is not for a comparison: give --modes"));
}

TEST(ModelJobsTest, AModelHasItsOwnFlagsBesideThoseOfAll) {
  FlagMap job = kJob;
  job["learning_rate"] = "0.5";
  job["bucket_bytes"] = "65536";
  const auto models = ModelJobs(
      "A:--embedding_size=16 --max_message_bytes=64MiB;"
      "B:--learning_rate=0.25 --field_size=4",
      job, "");
  ASSERT_TRUE(models.ok()) << models.status();
  EXPECT_THAT(
      models->at("A").flags,
      IsSupersetOf({Pair("embedding_size", "16"),
                    Pair("max_message_bytes", "64MiB"), Pair("field_size", "3"),
                    Pair("bucket_bytes", "65536"),
                    Pair("training_data_dir", "/d")}));
  EXPECT_EQ(models->at("A").learning_rate, .5);
  EXPECT_EQ(models->at("B").flags.at("field_size"), "4");
  EXPECT_EQ(models->at("B").learning_rate, .25);
  EXPECT_EQ(
      ModelJobs("", job, "deepfm")->at("deepfm").flags.count("embedding_size"),
      0u);
  // A cell has its model's rate.
  CompareFlags flags;
  flags.models = "A:--embedding_size=16;B:--learning_rate=0.25";
  flags.hosts = {1};
  flags.modes = "async,ring";
  flags.networks = "none";
  flags.rates = "ring:0.125";
  const auto cells = CellsOf(flags, *models, 2);
  ASSERT_TRUE(cells.ok()) << cells.status();
  ASSERT_EQ(cells->size(), 4u);
  EXPECT_EQ((*cells)[0].learning_rate, .5);
  EXPECT_EQ((*cells)[2].learning_rate, .25);
  EXPECT_EQ((*cells)[3].learning_rate, .125);
}

TEST(ModelJobsTest, RefusesWhatIsNotOfAModel) {
  const auto error = [](const std::string& models) {
    const absl::Status status = ModelJobs(models, kJob, "").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << models;
    return std::string(status.message());
  };
  EXPECT_THAT(error("A:--embeding_size=4"),
              AllOf(HasSubstr("--models: A"), HasSubstr("embedding_size")));
  EXPECT_THAT(error("A:--embedding_size=x"), HasSubstr("embedding_size"));
  EXPECT_THAT(error("A:--mode=ring"), HasSubstr("give --modes"));
  for (const char* flag : {"seed=2", "training_data_dir=/e", "ssp_bound=2",
                           "bucket_bytes=64KiB", "pull_timeout=2s"}) {
    EXPECT_THAT(error(absl::StrCat("A:--field_size=3;B:--", flag)),
                AllOf(HasSubstr("--models: B"), HasSubstr(flag),
                      HasSubstr("outside of --models")));
  }
}

TEST(ModeFlagsOfTest, AreThoseOfSomeModesThatWereGiven) {
  CompareFlags flags;
  FlagSet set = CompareFlagSet(&flags);
  ASSERT_TRUE(
      set.Parse({"--out=x", "--bucket_bytes=64KiB", "--repeats=2"}).ok());
  EXPECT_THAT(ModeFlagsOf(set), ElementsAre(Pair("bucket_bytes", "65536")));
  EXPECT_FALSE(set.Parse({"--out=x", "--bucket_bytes=1"}).ok());
}

absl::Status Complete(const std::vector<std::string>& args,
                      CompareFlags* flags) {
  FlagSet set = CompareFlagSet(flags);
  const absl::Status parsed = set.Parse(args);
  return parsed.ok() ? CompleteCompareFlags(set, flags) : parsed;
}

TEST(CompleteCompareFlagsTest, FillsInWhatOtherFlagsDecide) {
  CompareFlags lab;
  ASSERT_TRUE(Complete({"--out=x", "--lab", "--quick", "--repeats=2"}, &lab)
                  .ok());
  EXPECT_EQ(lab.networks, "1gbit,10gbit");
  EXPECT_EQ(lab.repeats, 2);
  EXPECT_EQ(lab.cell_time, absl::Seconds(8));
  CompareFlags target;
  ASSERT_TRUE(Complete({"--out=x", "--target_auc=.7"}, &target).ok());
  EXPECT_EQ(target.cell_time, absl::ZeroDuration());
  EXPECT_EQ(target.networks, "none");
}

TEST(CompleteCompareFlagsTest, WhatRealHostsHaveIsDeclared) {
  const std::map<std::string, ModelJob> job = {{"A", {}}};
  CompareFlags flags;
  ASSERT_TRUE(Complete({"--out=x", "--on=h1,h2", "--hosts=2"}, &flags).ok());
  const Cell unknown = CellsOf(flags, job, 2)->at(0);
  EXPECT_EQ(unknown.bits_per_second, 0);
  EXPECT_EQ(unknown.cores_per_host, 0);
  CompareFlags declared;
  ASSERT_TRUE(Complete({"--out=x", "--on=h1,h2", "--hosts=2",
                        "--networks=25gbit", "--cores=8"},
                       &declared)
                  .ok());
  const Cell cell = CellsOf(declared, job, 2)->at(0);
  EXPECT_EQ(cell.bits_per_second, 25e9);
  EXPECT_EQ(cell.cores_per_host, 8);
  EXPECT_EQ(cell.dilation, 1);
  EXPECT_EQ(FlagsOfCell(cell, kJob, {}, {}).count("compute_scale"), 0u);
}

TEST(CellsOfTest, AGridWithoutACellIsRefused) {
  CompareFlags flags;
  flags.modes = "sync+1";
  flags.networks = "none";
  flags.hosts = {1};
  const std::map<std::string, ModelJob> job = {{"A", {}}};
  const absl::Status refused = CellsOf(flags, job, 2).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("give --hosts with 2 or more"));
  flags.hosts = {1, 2};
  EXPECT_EQ(CellsOf(flags, job, 2)->size(), 1u);
}

TEST(CompleteCompareFlagsTest, RefusesFlagsThatDoNotGoTogether) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--lab", "--on=h1"},
      {"--networks=1gbit"},
      {"--on=h1,h2", "--networks=1gbit,10gbit"},
      {"--straggler=1:0.5"},
      {"--check_dilation"},
      {"--dilation=2"},
      {"--same_dilation=false"},
      {"--make_up_pauses=false"},
      {"--lab", "--dilation=0.5"},
      {"--cores=2"},
      {"--target_auc=.7", "--cell_time=5s"}};
  for (std::vector<std::string> args : wrong) {
    args.push_back("--out=x");
    CompareFlags flags;
    EXPECT_EQ(Complete(args, &flags).code(),
              absl::StatusCode::kInvalidArgument)
        << args[0];
  }
  CompareFlags flags;
  EXPECT_THAT(Complete({}, &flags).message(), HasSubstr("--out"));
}

TEST(CellsOfTest, ALabDilatesAndNothingElseDoes) {
  CompareFlags flags;
  flags.modes = "ring";
  flags.hosts = {4};
  flags.networks = "25gbit";
  const std::map<std::string, ModelJob> job = {{"A", {}}};
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).dilation, 1);
  flags.lab = true;
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).dilation, 10);
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).cores_per_host, 1);
  flags.dilation = 4;
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).dilation, 10);
  flags.networks = "1gbit";
  flags.dilation = 0;
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).dilation, 4) << "half of the cores";
  flags.dilation = 3;
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).dilation, 3);
  flags.dilation = 1;
  EXPECT_DOUBLE_EQ(CellsOf(flags, job, 2)->at(0).dilation, 4 / 1.8);
  flags.hosts = {4, 4};
  EXPECT_THAT(CellsOf(flags, job, 2).status().message(), HasSubstr("twice"));
}

TEST(CellsOfTest, AllCellsHaveOneDilationUnlessItIsNotWanted) {
  CompareFlags flags;
  flags.lab = true;
  flags.modes = "ring";
  flags.hosts = {1, 4};
  flags.networks = "1gbit";
  const std::map<std::string, ModelJob> job = {{"A", {}}};
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).dilation, 4);
  flags.same_dilation = false;
  EXPECT_EQ(CellsOf(flags, job, 2)->at(0).dilation, 1);
  EXPECT_EQ(CellsOf(flags, job, 2)->at(1).dilation, 4);
}

TEST(FormulaOfTest, AddsUpToTheFormulasOfTheModes) {
  ComparedModel model;
  model.dense_bytes = 1'000'000;
  model.row_bytes = 68;
  Cell cell = CellOf("async");
  const double rows = 9000, row = rows * (8 + 68);
  const RoleBytes async = FormulaOf(cell, model, 1000, rows);
  EXPECT_NEAR(async.worker_sent + async.ps_sent, (2e6 + 2 * row) / 1000, 1e-6);
  EXPECT_EQ(async.worker_sent, async.ps_received);
  EXPECT_EQ(async.worker_received, async.ps_sent);
  cell.mode = "ring";
  const RoleBytes ring = FormulaOf(cell, model, 1000, rows);
  EXPECT_NEAR(ring.worker_sent, (1.5e6 + 3 * row) / 1000, 1e-6);
  EXPECT_EQ(ring.worker_received, ring.worker_sent);
  EXPECT_EQ(ring.ps_sent, 0);
  cell.mode = "hybrid";
  const RoleBytes hybrid = FormulaOf(cell, model, 1000, rows);
  EXPECT_NEAR(hybrid.worker_sent + hybrid.ps_sent, (1.5e6 + 2 * row) / 1000,
              1e-6);
  cell.hosts = 1;
  cell.mode = "ring";
  EXPECT_EQ(FormulaOf(cell, model, 1000, rows).worker_sent, 0);
  // One of four workers is too late.
  cell.mode = "sync";
  cell.hosts = 4;
  cell.backup_workers = 1;
  const RoleBytes backup = FormulaOf(cell, model, 1000, rows);
  EXPECT_DOUBLE_EQ(backup.worker_sent, async.worker_sent * 4 / 3);
  EXPECT_DOUBLE_EQ(backup.ps_sent, async.ps_sent * 4 / 3);
}

}  // namespace
}  // namespace shoal
