#include "job/follower.h"

#include <utility>

#include "base/status_macros.h"
#include "job/model_directory.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<Follower>> Follower::Create(
    const JobFlags& flags, ChannelOptions channel, JobLinkDependencies deps) {
  ClusterClientOptions options;
  options.channel = std::move(channel);
  SHOAL_RETURN_IF_ERROR(options.Validate());
  return std::unique_ptr<Follower>(
      new Follower(flags, std::move(options), deps));
}

Follower::Follower(const JobFlags& flags, ClusterClientOptions options,
                   JobLinkDependencies deps)
    : flags_(flags),
      files_(deps.files),
      probes_({"probe", 1}, deps.clock),
      cluster_(std::make_unique<ClusterClient>(
          std::move(options), &client_loop_, deps.control, &probes_)) {}

absl::AnyInvocable<absl::Status(StartNumber)> Follower::take_directory() {
  return [this](StartNumber start) { return TakeDirectory(start); };
}

absl::Status Follower::TakeDirectory(StartNumber start) {
  if (locked_for_ == start) return absl::OkStatus();
  lock_ = nullptr;  // the lock of a job that this process has left
  SHOAL_ASSIGN_OR_RETURN(lock_, LockWithServers(*files_, flags_, start));
  locked_for_ = start;
  return absl::OkStatus();
}

void Follower::Stop(absl::Status reason, StopPart stop_part) {
  stop_part(std::move(reason), flags_.Saves() ? flags_.checkpoints.stop_timeout
                                              : absl::ZeroDuration());
}

}  // namespace shoal
