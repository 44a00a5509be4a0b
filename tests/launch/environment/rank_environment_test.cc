#include "launch/environment/rank_environment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Each environment is what the launcher has set for a process, as read from it.

// mpirun of Open MPI 4.1, -np 3; its library sets PMIX_RANK too.
Environment OpenMpi() {
  return {{"OMPI_COMM_WORLD_RANK", "1"},
          {"OMPI_COMM_WORLD_SIZE", "3"},
          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
          {"OMPI_UNIVERSE_SIZE", "2"},
          {"PMIX_NAMESPACE", "692584449"},
          {"PMIX_RANK", "1"}};
}

// srun -n 5 of Slurm 22.05 on nodes of two tasks.
Environment SlurmTask() {
  return {{"SLURM_JOB_ID", "7"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", "4"},
          {"SLURM_NTASKS", "5"},
          {"SLURM_STEP_NUM_TASKS", "5"},
          {"SLURM_LOCALID", "0"},
          {"SLURM_NODEID", "2"},
          {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}};
}

// The script of sbatch -n 3, which is no task.
Environment SlurmBatch() {
  return {{"SLURM_JOB_ID", "7"},   {"SLURM_PROCID", "0"},
          {"SLURM_NTASKS", "3"},   {"SLURM_LOCALID", "0"},
          {"SLURM_NODEID", "0"},   {"SLURM_TASK_PID", "18327"},
          {"SLURM_NPROCS", "3"},   {"SLURM_TASKS_PER_NODE", "3"}};
}

Environment Joined(Environment one, const Environment& other) {
  one.insert(other.begin(), other.end());
  return one;
}

LaunchedRank Read(const Environment& environment) {
  const auto launched = RankFromEnvironment(environment);
  EXPECT_TRUE(launched.ok()) << launched.status();
  if (!launched.ok() || !launched->has_value()) return {};
  return **launched;
}

// "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 …"; "": no launcher is found.
std::string Text(const Environment& environment) {
  const LaunchedRank launched = Read(environment);
  if (launched.rank.variable.empty()) return "";
  std::string text = launched.rank.Text();
  for (const auto& number :
       {launched.size, launched.local_rank, launched.local_size}) {
    text += " " + (number.has_value() ? number->Text() : "-");
  }
  return text;
}

TEST(RankFromEnvironmentTest, FindsNothingWhereNoLauncherHasSetAnything) {
  EXPECT_EQ(Text({}), "");
  EXPECT_EQ(Text({{"HOME", "/h"}, {"OMPI_COMM_WORLD_RANK", ""}}), "");
  EXPECT_EQ(Text({{"OMPI_COMM_WORLD_SIZE", "3"}}), "");
}

TEST(RankFromEnvironmentTest, ReadsEachLauncher) {
  EXPECT_EQ(Text(OpenMpi()),
            "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 "
            "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2");
  EXPECT_EQ(Text({{"PMI_RANK", "2"},
                  {"PMI_SIZE", "4"},
                  {"MPI_LOCALRANKID", "0"},
                  {"MPI_LOCALNRANKS", "2"}}),
            "PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2");
  EXPECT_EQ(Text({{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "prte-1"}}),
            "PMIX_RANK=2 - - -");
  EXPECT_EQ(Text(SlurmTask()),
            "SLURM_PROCID=4 SLURM_STEP_NUM_TASKS=5 SLURM_LOCALID=0 "
            "SLURM_STEP_TASKS_PER_NODE=1");
}

TEST(RankFromEnvironmentTest, TheInnerLauncherWins) {
  EXPECT_THAT(Text(Joined(OpenMpi(), SlurmTask())),
              HasSubstr("OMPI_COMM_WORLD_RANK=1"));
  EXPECT_THAT(Text(Joined(SlurmTask(), {{"PMI_RANK", "1"},
                                        {"PMI_SIZE", "2"}})),
              HasSubstr("PMI_RANK=1 PMI_SIZE=2"));
  EXPECT_THAT(Text(Joined(SlurmTask(), {{"PMIX_RANK", "1"},
                                        {"PMIX_NAMESPACE", "prterun-1"}})),
              HasSubstr("PMIX_RANK=1 -"));
  EXPECT_THAT(Read(Joined(OpenMpi(), SlurmTask())).rank_variables,
              ElementsAre("OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                          "SLURM_PROCID"));
}

TEST(RankFromEnvironmentTest, PmiOfSrunIsSlurms) {
  EXPECT_EQ(Text(Joined(SlurmTask(), {{"PMI_RANK", "4"},
                                      {"PMI_SIZE", "5"},
                                      {"PMI_JOBID", "7.0"}})),
            Text(SlurmTask()));
  EXPECT_EQ(Text(Joined(SlurmTask(), {{"PMIX_RANK", "4"},
                                      {"PMIX_NAMESPACE", "slurm.pmix.7.0"}})),
            Text(SlurmTask()));
}

TEST(RankFromEnvironmentTest, OnlyATaskOfAStepHasSlurmsRank) {
  EXPECT_EQ(Text(SlurmBatch()), "");
  Environment salloc = SlurmBatch();
  salloc.erase("SLURM_PROCID");
  salloc["SLURM_STEP_ID"] = "0";
  EXPECT_EQ(Text(salloc), "");
  // The shell of salloc as a step, where its nodes are other than this one.
  Environment interactive = SlurmTask();
  interactive["SLURM_STEP_ID"] = "4294967290";
  EXPECT_EQ(Text(interactive), "");
  EXPECT_EQ(Text(Joined(SlurmBatch(), OpenMpi())), Text(OpenMpi()));
}

TEST(RankFromEnvironmentTest, TasksOfANodeAreFoundInSlurmsList) {
  auto tasks = [](const char* list, const char* node) {
    Environment environment = SlurmTask();
    environment["SLURM_STEP_TASKS_PER_NODE"] = list;
    environment["SLURM_NODEID"] = node;
    const LaunchedRank launched = Read(environment);
    return launched.local_size.has_value() ? launched.local_size->value : 0;
  };
  EXPECT_EQ(tasks("3", "0"), 3);
  EXPECT_EQ(tasks("2(x2),1", "0"), 2);
  EXPECT_EQ(tasks("2(x2),1", "1"), 2);
  EXPECT_EQ(tasks("2(x2),1", "2"), 1);
  EXPECT_EQ(tasks("2(x2),1", "3"), 0) << "not known";
  EXPECT_EQ(tasks("2(x2),1", ""), 0);
  EXPECT_EQ(tasks("2(x", "0"), 0);
  EXPECT_EQ(tasks("", "0"), 0);
}

TEST(RankFromEnvironmentTest, AnOlderSlurmHasItsSizeElsewhere) {
  Environment environment = SlurmTask();
  environment.erase("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(Read(environment).size->value, 5);
}

TEST(RankFromEnvironmentTest, RefusesWhatCannotBe) {
  struct {
    const char* variable;
    const char* value;
    const char* message;
  } const cases[] = {
      {"OMPI_COMM_WORLD_RANK", "3",
       "OMPI_COMM_WORLD_RANK=3 and OMPI_COMM_WORLD_SIZE=3 contradict each "
       "other: a rank is less than the number of processes"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "2",
       "OMPI_COMM_WORLD_LOCAL_RANK=2 and OMPI_COMM_WORLD_LOCAL_SIZE=2 "
       "contradict each other: a rank is less than the number of processes"},
      {"OMPI_COMM_WORLD_RANK", "-1",
       "OMPI_COMM_WORLD_RANK=-1 must be a number in [0, 65534]"},
      {"OMPI_COMM_WORLD_RANK", "one",
       "OMPI_COMM_WORLD_RANK=one must be a number in [0, 65534]"},
      {"OMPI_COMM_WORLD_SIZE", "0",
       "OMPI_COMM_WORLD_SIZE=0 must be a number in [1, 65535]"},
      {"OMPI_COMM_WORLD_SIZE", "99999999999",
       "OMPI_COMM_WORLD_SIZE=99999999999 must be a number in [1, 65535]"}};
  for (const auto& c : cases) {
    Environment environment = OpenMpi();
    environment[c.variable] = c.value;
    const auto launched = RankFromEnvironment(environment);
    EXPECT_TRUE(absl::IsInvalidArgument(launched.status()));
    EXPECT_EQ(launched.status().message(), c.message);
  }
}

struct Filled {
  absl::Status status;
  JobFlags flags;
};

Filled Fill(Command command, const std::vector<std::string>& args,
            const Environment& environment) {
  Filled filled = {absl::OkStatus(), JobFlags(command)};
  FlagSet set = JobFlagSet(&filled.flags);
  filled.status = set.ReadArguments(args);
  if (filled.status.ok()) {
    filled.status = FillRank(environment, &filled.flags, &set);
  }
  return filled;
}

TEST(FillRankTest, TheIndexOfARankIsFilled) {
  const Filled filled = Fill(Command::kWorker, {"--mode=ring"}, OpenMpi());
  ASSERT_TRUE(filled.status.ok()) << filled.status;
  EXPECT_EQ(filled.flags.cluster.task_index, 1);
  ASSERT_TRUE(filled.flags.cluster.launched.has_value());
  EXPECT_EQ(filled.flags.cluster.launched->size->value, 3);
}

TEST(FillRankTest, AnIndexThatWasTypedStays) {
  // The contradiction is found when all flags are known.
  const Filled filled =
      Fill(Command::kWorker, {"--mode=ring", "--task_index=2"}, OpenMpi());
  ASSERT_TRUE(filled.status.ok()) << filled.status;
  EXPECT_EQ(filled.flags.cluster.task_index, 2);
  EXPECT_EQ(filled.flags.cluster.launched->rank.value, 1);
}

TEST(FillRankTest, OneProcessAloneIsWhatItsFlagsSay) {
  Environment alone = SlurmTask();
  alone["SLURM_PROCID"] = "0";
  alone["SLURM_STEP_NUM_TASKS"] = "1";
  const Filled typed =
      Fill(Command::kWorker, {"--mode=ring", "--task_index=2"}, alone);
  ASSERT_TRUE(typed.status.ok()) << typed.status;
  EXPECT_FALSE(typed.flags.cluster.launched.has_value());
  const Filled left_out = Fill(Command::kWorker, {"--mode=ring"}, alone);
  EXPECT_TRUE(left_out.flags.cluster.launched.has_value());
}

TEST(FillRankTest, WithServersARankIsNoIndex) {
  for (const auto& [command, mode] :
       {std::pair(Command::kWorker, "--mode=async"),
        std::pair(Command::kWorker, "--mode=sync"),
        std::pair(Command::kPs, "--mode=async"),
        std::pair(Command::kRun, "--mode=ring"),
        std::pair(Command::kTrain, "--mode=ring")}) {
    Environment wrong = OpenMpi();
    wrong["OMPI_COMM_WORLD_SIZE"] = "none";
    const Filled filled = Fill(command, {mode}, wrong);
    EXPECT_TRUE(filled.status.ok()) << filled.status;
    EXPECT_FALSE(filled.flags.cluster.launched.has_value()) << mode;
    EXPECT_EQ(filled.flags.cluster.task_index, 0);
  }
}

TEST(CheckIndexBesideRankTest, SaysWhyARankIsNoIndexBesideServers) {
  auto check = [](Command command, const std::vector<std::string>& args,
                  const Environment& environment) {
    JobFlags flags(command);
    FlagSet set = JobFlagSet(&flags);
    const absl::Status read = set.ReadArguments(args);
    EXPECT_TRUE(read.ok()) << read;
    return CheckIndexBesideRank(environment, flags, set);
  };
  EXPECT_EQ(check(Command::kWorker, {}, OpenMpi()).message(),
            "shoal-worker needs --task_index with --mode=async: "
            "OMPI_COMM_WORLD_RANK=1 is no index there, because the job has "
            "parameter servers beside its workers, and both count from 0; give "
            "--mode=ring for a job of workers alone, or set the index in a "
            "shell: sh -c 'exec shoal-worker "
            "--task_index=$OMPI_COMM_WORLD_RANK …'");
  EXPECT_FALSE(check(Command::kPs, {"--mode=sync"}, SlurmTask()).ok());
  EXPECT_TRUE(check(Command::kPs, {"--task_index=0"}, OpenMpi()).ok());
  EXPECT_TRUE(check(Command::kWorker, {"--mode=ring"}, OpenMpi()).ok());
  EXPECT_TRUE(check(Command::kWorker, {}, SlurmBatch()).ok());
  EXPECT_TRUE(check(Command::kTrain, {}, OpenMpi()).ok());
}

TEST(WholeJobsWarningTest, WarnsOnceOfAJobThatIsStartedSeveralTimes) {
  Environment first = OpenMpi();
  first["OMPI_COMM_WORLD_RANK"] = "0";
  EXPECT_EQ(WholeJobsWarning(first, Command::kTrain),
            "shoal train: OMPI_COMM_WORLD_SIZE=3: this command runs 3 times, "
            "and each of them is a whole job of its own. For one job of as "
            "many processes start shoal-worker --mode=ring");
  EXPECT_THAT(WholeJobsWarning(first, Command::kRun), HasSubstr("shoal run: "));
  EXPECT_THAT(WholeJobsWarning(OpenMpi(), Command::kTrain), IsEmpty());
  EXPECT_THAT(WholeJobsWarning(first, Command::kWorker), IsEmpty());
  EXPECT_THAT(WholeJobsWarning(SlurmBatch(), Command::kRun), IsEmpty());
  first["OMPI_COMM_WORLD_SIZE"] = "1";
  EXPECT_THAT(WholeJobsWarning(first, Command::kTrain), IsEmpty());
}

}  // namespace
}  // namespace shoal
