#include "launch/environment/rank_environment.h"

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr int kRanksMax = 65535;  // as many as --task_index can name

// The variables of a launcher; "": it has none.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  // False: these variables are there, and another launcher has set them.
  bool (*owns)(const Environment& environment);
};

// The value of a variable; empty if it is not set.
std::string Value(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

bool InSlurmStep(const Environment& environment) {
  // Larger numbers are those of batch scripts, interactive shells and the like
  // (SLURM_MAX_NORMAL_STEP_ID in slurm.h).
  constexpr uint64_t kStepsMax = 0xfffffff0;
  uint64_t step = 0;
  return absl::SimpleAtoi(Value(environment, "SLURM_STEP_ID"), &step) &&
         step < kStepsMax && !Value(environment, "SLURM_PROCID").empty();
}

bool Always(const Environment&) { return true; }

// srun --mpi=pmi2 names the step in PMI_JOBID.
bool IsPmiOfItsOwn(const Environment& environment) {
  return !InSlurmStep(environment) ||
         Value(environment, "PMI_JOBID") !=
             absl::StrCat(Value(environment, "SLURM_JOB_ID"), ".",
                          Value(environment, "SLURM_STEP_ID"));
}

// srun --mpi=pmix names its namespaces so.
bool IsPmixOfItsOwn(const Environment& environment) {
  return !InSlurmStep(environment) ||
         !absl::StartsWith(Value(environment, "PMIX_NAMESPACE"),
                           "slurm.pmix.");
}

constexpr Launcher kRankLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", Always},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
     IsPmiOfItsOwn},
    {"PMIX_RANK", "", "", "", IsPmixOfItsOwn},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
     "SLURM_STEP_TASKS_PER_NODE", InSlurmStep},
};

// Entry `node` of a list such as "2(x3),1", which stands for 2,2,2,1. "": there
// is no such entry.
std::string OfNode(absl::string_view list, int node) {
  for (absl::string_view entry : absl::StrSplit(list, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(entry, "(x");
    int times = 1;
    if (parts.size() == 2) {
      absl::string_view count = parts[1];
      if (!absl::ConsumeSuffix(&count, ")") ||
          !absl::SimpleAtoi(count, &times)) {
        return "";
      }
    }
    if (node < times) return std::string(parts[0]);
    node -= times;
  }
  return "";
}

// Slurm's variables as if they were those of any launcher.
Environment WithPlainSlurm(Environment environment) {
  if (Value(environment, "SLURM_STEP_NUM_TASKS").empty()) {
    environment["SLURM_STEP_NUM_TASKS"] = Value(environment, "SLURM_NTASKS");
  }
  int node = 0;
  std::string* const tasks = &environment["SLURM_STEP_TASKS_PER_NODE"];
  *tasks = absl::SimpleAtoi(Value(environment, "SLURM_NODEID"), &node)
               ? OfNode(*tasks, node)
               : "";
  return environment;
}

// nullopt: there is no such variable.
absl::StatusOr<std::optional<LauncherNumber>> Number(
    const Environment& environment, const char* variable, int least) {
  const std::string text = Value(environment, variable);
  if (text.empty()) return std::nullopt;
  LauncherNumber number = {0, variable};
  if (!absl::SimpleAtoi(text, &number.value) || number.value < least ||
      number.value > kRanksMax - 1 + least) {
    return absl::InvalidArgumentError(
        absl::StrCat(variable, "=", text, " must be a number in [", least, ", ",
                     kRanksMax - 1 + least, "]"));
  }
  return number;
}

// The rank must be less than the size.
absl::Status CheckLess(const LauncherNumber& rank,
                       const std::optional<LauncherNumber>& size) {
  if (!size.has_value() || rank.value < size->value) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      rank.Text(), " and ", size->Text(),
      " contradict each other: a rank is less than the number of processes"));
}

absl::StatusOr<std::optional<LaunchedRank>> ReadRank(
    const Environment& environment, const Launcher& launcher) {
  SHOAL_ASSIGN_OR_RETURN(const auto rank,
                         Number(environment, launcher.rank, 0));
  if (!rank.has_value()) return std::nullopt;
  LaunchedRank launched;
  launched.rank = *rank;
  SHOAL_ASSIGN_OR_RETURN(launched.size, Number(environment, launcher.size, 1));
  SHOAL_RETURN_IF_ERROR(CheckLess(launched.rank, launched.size));
  SHOAL_ASSIGN_OR_RETURN(launched.local_rank,
                         Number(environment, launcher.local_rank, 0));
  SHOAL_ASSIGN_OR_RETURN(launched.local_size,
                         Number(environment, launcher.local_size, 1));
  if (launched.local_rank.has_value()) {
    SHOAL_RETURN_IF_ERROR(
        CheckLess(*launched.local_rank, launched.local_size));
  }
  for (const std::string& name : RankVariables()) {
    if (!Value(environment, name).empty()) {
      launched.rank_variables.push_back(name);
    }
  }
  return launched;
}

}  // namespace

absl::StatusOr<std::optional<LaunchedRank>> RankFromEnvironment(
    const Environment& environment) {
  const Environment plain = WithPlainSlurm(environment);
  for (const Launcher& launcher : kRankLaunchers) {
    if (!launcher.owns(plain)) continue;
    SHOAL_ASSIGN_OR_RETURN(std::optional<LaunchedRank> launched,
                           ReadRank(plain, launcher));
    if (launched.has_value()) return launched;
  }
  return std::nullopt;
}

std::vector<std::string> RankVariables() {
  std::vector<std::string> names;
  for (const Launcher& launcher : kRankLaunchers) {
    names.push_back(launcher.rank);
  }
  return names;
}

absl::Status FillRank(const Environment& environment, JobFlags* flags,
                      FlagSet* set) {
  if (flags->command != Command::kWorker || flags->HasServers()) {
    return absl::OkStatus();
  }
  SHOAL_ASSIGN_OR_RETURN(std::optional<LaunchedRank> launched,
                         RankFromEnvironment(environment));
  if (!launched.has_value()) return absl::OkStatus();
  const bool alone = launched->size.has_value() && launched->size->value == 1;
  if (alone && set->given("task_index")) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(
      set->Fill({{"task_index", absl::StrCat(launched->rank.value),
                  launched->rank.variable}}));
  flags->cluster.launched = std::move(launched);
  return absl::OkStatus();
}

absl::Status CheckIndexBesideRank(const Environment& environment,
                                  const JobFlags& flags, const FlagSet& set) {
  if ((flags.command != Command::kPs && flags.command != Command::kWorker) ||
      !flags.HasServers() || set.given("task_index")) {
    return absl::OkStatus();
  }
  const auto launched = RankFromEnvironment(environment);
  if (!launched.ok() || !launched->has_value()) return absl::OkStatus();
  const LauncherNumber& rank = (*launched)->rank;
  return absl::InvalidArgumentError(absl::StrCat(
      CommandName(flags.command), " needs --task_index with --mode=",
      flags.training.ModeName(), ": ", rank.Text(),
      " is no index there, because the job has parameter servers beside its "
      "workers, and both count from 0; give --mode=ring for a job of workers "
      "alone, or set the index in a shell: sh -c 'exec ",
      CommandName(flags.command), " --task_index=$", rank.variable, " …'"));
}

std::string WholeJobsWarning(const Environment& environment, Command command) {
  if (command == Command::kPs || command == Command::kWorker) return "";
  const auto launched = RankFromEnvironment(environment);
  if (!launched.ok() || !launched->has_value()) return "";
  const LaunchedRank& rank = **launched;
  if (rank.rank.value != 0 || !rank.size.has_value() || rank.size->value == 1) {
    return "";
  }
  return absl::StrCat(
      CommandName(command), ": ", rank.size->Text(), ": this command runs ",
      rank.size->value,
      " times, and each of them is a whole job of its own. For one job of as "
      "many processes start shoal-worker --mode=ring");
}

}  // namespace shoal
