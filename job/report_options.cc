#include "job/report_options.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datatools/best_possible_auc.h"

namespace shoal {
namespace {

std::string OwnHost() {
  char host[256] = "";
  return gethostname(host, sizeof(host) - 1) == 0 ? host : "";
}

// The flags that the user gave. A launcher gives its processes flags of its own
// for their output and for what it has checked itself; they are left out.
std::vector<std::pair<std::string, std::string>> UsersFlags(
    const JobFlags& flags) {
  std::vector<std::pair<std::string, std::string>> given = flags.given;
  if (!flags.output.Launched()) return given;
  given.erase(
      std::remove_if(given.begin(), given.end(),
                     [](const auto& flag) {
                       return flag.first == "log_time" ||
                              flag.first == "memory_check" ||
                              flag.first == "print_config" ||
                              flag.first == "progress";
                     }),
      given.end());
  return given;
}

}  // namespace

JobFacts JobFactsFromFlags(const JobFlags& flags) {
  JobFacts facts = {flags.training.ModeName(), flags.model.model,
                    flags.cluster.ps,          flags.cluster.workers,
                    flags.PipelineDepth(),     SHOAL_VERSION,
                    OwnHost(),                 UsersFlags(flags)};
  facts.compute = {flags.compute.compute, flags.compute.compute_profile,
                   flags.compute.compute_scale};
  return facts;
}

LiveOutputOptions LiveOutputOptionsFromFlags(const JobFlags& flags) {
  LiveOutputOptions options;
  options.terminal = flags.output.terminal;
  options.print_every = flags.output.progress_every;
  options.stamp = true;
  options.full_time = flags.output.FullTime();
  return options;
}

JobReporterOptions JobReporterOptionsFromFlags(const JobFlags& flags,
                                               const FileSystem* files) {
  JobReporterOptions options;
  options.style = flags.output.progress;
  options.output = LiveOutputOptionsFromFlags(flags);
  options.events_dir = flags.monitoring.tensorboard_dir;
  if (options.events_dir.empty() && flags.Saves()) {
    options.events_dir = absl::StrCat(flags.checkpoints.model_dir, "/events");
  }
  options.summary = flags.output.summary;
  options.bad_rows_dir = flags.QuarantineDir();
  options.facts = JobFactsFromFlags(flags);
  if (flags.compute.Replays()) return options;  // no AUC to compare with
  options.last_line = [files, val_data_dir = flags.data.val_data_dir] {
    return BestPossibleAucLine(*files, val_data_dir);
  };
  return options;
}

}  // namespace shoal
