#ifndef SHOAL_JOB_FOLLOWER_H_
#define SHOAL_JOB_FOLLOWER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/group_lock.h"
#include "base/thread_executor.h"
#include "core/cluster_member.h"
#include "core/cluster_service.h"
#include "core/ids.h"
#include "job/job_link.h"
#include "launch/job_flags.h"
#include "rpc/channel_options.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"

namespace shoal {

// The link of a process whose coordinator is in another process: a client of
// it, and the lock of the model directory that the servers of a job share.
class Follower final : public JobLink {
 public:
  // `channel` is that of the coordinator. Errors: those of
  // ClusterClientOptions::Validate.
  static absl::StatusOr<std::unique_ptr<Follower>> Create(
      const JobFlags& flags, ChannelOptions channel, JobLinkDependencies deps);

  ClusterService* cluster() override { return cluster_.get(); }
  ClusterService* served() override { return nullptr; }
  absl::AnyInvocable<absl::Status(StartNumber)> take_directory() override;
  absl::Status Begin() override { return absl::OkStatus(); }
  // The end of the process's part is all that it waits for.
  bool over() const override { return true; }
  absl::Duration pause() const override { return absl::Hours(1); }
  void OnTurn(const std::optional<MemberEnd>&) override {}
  void Stop(absl::Status reason, StopPart stop_part) override;
  std::string QuitAtOnce() override { return ""; }
  absl::Status Report(int) override { return absl::OkStatus(); }
  ProcessOutcome Outcome(const MemberEnd& part_end) const override {
    return ProcessOutcome::OfMember(part_end);
  }
  void CloseRequests() override {}
  void Shutdown() override { probes_.Shutdown(); }

 private:
  Follower(const JobFlags& flags, ClusterClientOptions options,
           JobLinkDependencies deps);
  absl::Status TakeDirectory(StartNumber start);

  const JobFlags flags_;
  const FileSystem* const files_;
  ThreadExecutor probes_;
  ClientLoop client_loop_;
  const std::unique_ptr<ClusterClient> cluster_;
  // The lock of the model directory; used on the executor for the disk only.
  std::unique_ptr<GroupLock> lock_;
  StartNumber locked_for_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_JOB_FOLLOWER_H_
