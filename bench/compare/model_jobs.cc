#include "bench/compare/model_jobs.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "bench/compare/cell_grid.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

absl::StatusOr<ModelJob> WithOwnFlags(const GridModel& model,
                                      const FlagMap& job) {
  FlagMap own;
  for (absl::string_view flag : model.flags) {
    std::pair<std::string, std::string> parts =
        absl::StrSplit(flag.substr(2), absl::MaxSplits('=', 1));
    own[std::move(parts.first)] = std::move(parts.second);
  }
  SHOAL_RETURN_IF_ERROR(CheckJobFlags(own));
  SHOAL_RETURN_IF_ERROR(CheckModelFlags(own));
  FlagMap all = job;
  all.erase("config");  // its flags are in `job`
  for (const auto& [name, value] : own) all[name] = value;
  JobFlags flags(Command::kRun);
  FlagSet set = JobFlagSet(&flags);
  SHOAL_RETURN_IF_ERROR(set.Parse(Arguments(all)));
  ModelJob jobs;
  for (auto& [name, value] : set.Given()) jobs.flags[name] = value;
  jobs.learning_rate = flags.optimizers.learning_rate;
  return jobs;
}

}  // namespace

absl::StatusOr<std::map<std::string, ModelJob>> ModelJobs(
    absl::string_view models, const FlagMap& job,
    const std::string& only_name) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<GridModel> parsed,
                         ParseModels(models, only_name));
  std::map<std::string, ModelJob> jobs;
  for (const GridModel& model : parsed) {
    absl::StatusOr<ModelJob> one = WithOwnFlags(model, job);
    if (!one.ok()) {
      return model.flags.empty()
                 ? one.status()
                 : Annotate(one.status(),
                            absl::StrCat("--models: ", model.name));
    }
    jobs[model.name] = *std::move(one);
  }
  return jobs;
}

}  // namespace shoal
