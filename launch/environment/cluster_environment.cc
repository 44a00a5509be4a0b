#include "launch/environment/cluster_environment.h"

#include "base/status_macros.h"
#include "launch/environment/tf_config.h"

namespace shoal {
namespace {

// Reads the variables of one launcher. Returns no settings if the variables are
// not set, and INVALID_ARGUMENT, whose message begins with a variable's name,
// if they are wrong. `command` is kPs or kWorker.
using ClusterReader = absl::StatusOr<std::vector<FlagSetting>> (*)(
    const Environment& environment, Command command);

constexpr ClusterReader kLaunchers[] = {TfConfigCluster};

}  // namespace

absl::StatusOr<std::vector<FlagSetting>> ClusterFromEnvironment(
    const Environment& environment, Command command) {
  std::vector<FlagSetting> settings;
  if (command != Command::kPs && command != Command::kWorker) return settings;
  for (const ClusterReader read : kLaunchers) {
    SHOAL_ASSIGN_OR_RETURN(settings, read(environment, command));
    if (!settings.empty()) break;
  }
  return settings;
}

}  // namespace shoal
