#ifndef SHOAL_PS_SERVER_PS_LOOP_H_
#define SHOAL_PS_SERVER_PS_LOOP_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "core/cluster_member.h"
#include "core/cluster_service.h"
#include "core/ids.h"
#include "core/parameter_service.h"
#include "ps/server/shard_keeper.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

struct PsLoopOptions {
  // Options of the membership. registration.role is kPs; rejoin is false.
  ClusterMemberOptions member;
  // Options of the shard. PsLoop sets `life` when the coordinator has issued
  // it.
  ParameterShardOptions shard;
  // True if the job trains in steps: the shard parks pushes until their step is
  // closed (ps/shard/step_shard.h), and shard 0 tells the coordinator what it
  // has parked.
  bool steps = false;
  ShardKeeperOptions checkpoints;
  // Interval at which new marks are sent. A batch counts as trained up to this
  // much later. A smaller interval costs more messages.
  absl::Duration mark_interval = absl::Milliseconds(20);
  // Time for which the shard serves, counted from the sending of the newest
  // heartbeat (or registration) that the coordinator has acknowledged. The
  // shard begins to serve when the first ClusterView arrives: before that no
  // worker of this start of the job knows the shard's life.
  absl::Duration ps_lease = absl::Seconds(5);
  // Time to wait for a model directory that another job holds. A server of a
  // job whose coordinator died runs on for about silent_after.
  absl::Duration directory_patience = absl::Seconds(6);
};

// The parts that a PS uses; job/ps_part.h makes them. All must outlive the
// loop's end.
struct PsLoopDependencies {
  ClusterService* cluster = nullptr;
  Logger* logger = nullptr;
  // Strand for the session. It is never busy for long, so that heartbeats are
  // sent in time.
  Executor* control = nullptr;
  // Executor for the shard's completions, and for its report at the end.
  Executor* completions = nullptr;
  // File system for checkpoints; may be null if the job has no checkpoints.
  const FileSystem* files = nullptr;
  // Executor that seals, saves and loads shards, which takes long. If null,
  // `completions` is used.
  Executor* background = nullptr;
  // Locks the model directory of this host for the job of the life's start
  // number. It runs on the executor that saves shards, once for every life,
  // before anything in the directory is read or written. While it returns
  // FAILED_PRECONDITION (another job holds the directory), it is called again,
  // for directory_patience. Any other error, or the last one, is reported to
  // the coordinator as the process's Failure. May be null if there is no
  // directory to lock.
  absl::AnyInvocable<absl::Status(StartNumber)> take_directory;
  // Called once on the control strand, when the shard is ready to be served.
  // The service answers pulls and pushes: the shard itself, or what stands
  // before it.
  absl::AnyInvocable<void(std::shared_ptr<ParameterShard>,
                          std::shared_ptr<ParameterService>)>
      serve;
  // Returns the resources used by this process.
  absl::AnyInvocable<ResourceUsage()> usage;
  // The payload of this process, all of whose lives are one; nullptr: it has no
  // network of its own.
  const PayloadCounters* bytes = nullptr;
};

// One parameter server process without its network, as a member of the job.
// When the process has a life, the loop locks the model directory and creates
// or loads the shard. It sends the shard's marks. It lets the shard serve from
// the first ClusterView on, while the coordinator acknowledges its heartbeats.
// It saves the shard when the coordinator says so, and reports the shard's
// figures at the end. In a job that trains in steps it passes the coordinator's
// messages about steps and generations to the shard, and the shard's reports to
// the coordinator. In any other job a GenerationBegan ends the leases of the
// generations before (ParameterShard::EndLeases); the answer comes after the
// marks of all of them.
//
// Thread-safe; its state belongs to the control strand.
class PsLoop {
 public:
  PsLoop(PsLoopOptions options, PsLoopDependencies deps);
  ~PsLoop();

  // Starts the loop and returns at once. `done` runs once, on the control
  // strand.
  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);

  // Ends the process before its job ends, for example after a signal. It tells
  // the coordinator, which ends the job with `reason`. The process leaves after
  // that, or when the shutdown deadline has passed. With a `save_deadline`
  // above 0 the coordinator is asked to save a checkpoint first, within that
  // time.
  void Stop(absl::Status reason,
            absl::Duration save_deadline = absl::ZeroDuration());

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SERVER_PS_LOOP_H_
