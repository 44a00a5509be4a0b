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
  // registration.role is kPs; rejoin is false.
  ClusterMemberOptions member;
  // Its life is set when the coordinator has issued one.
  ParameterShardOptions shard;
  ShardKeeperOptions checkpoints;
  // How often new marks are sent. A batch counts as trained so much later;
  // smaller costs a message each.
  absl::Duration mark_interval = absl::Milliseconds(20);
  // How long the shard serves after the sending of the newest heartbeat (or
  // registration) that the coordinator has acknowledged. The shard begins to
  // serve when the first ClusterView comes: before that no worker of this start
  // of the job knows the shard's life.
  absl::Duration ps_lease = absl::Seconds(5);
  // How long to wait for the model directory where another job has it: a server
  // of a job whose coordinator died lives on for about silent_after.
  absl::Duration directory_patience = absl::Seconds(6);
};

// What a PS is made of; job/ps_part.h makes it. All outlive the
// loop's end.
struct PsLoopDependencies {
  ClusterService* cluster = nullptr;
  Logger* logger = nullptr;
  // Strand for the session: never busy for long, so that heartbeats are timely.
  Executor* control = nullptr;
  // Where the shard's completions run, and at the end its report is made.
  Executor* completions = nullptr;
  // For checkpoints; may be null where the job has none.
  const FileSystem* files = nullptr;
  // Where shards are sealed, saved and loaded, which takes long; null: on
  // `completions`.
  Executor* background = nullptr;
  // Takes the model directory of this host for the job of the life's start
  // number. Called where shards are saved, with every life and before anything
  // in the directory is read or written; again and again while it returns
  // FAILED_PRECONDITION (another job has it), for directory_patience. Any other
  // error, or the last, is the process's Failure. May be null: there is nothing
  // to take.
  absl::AnyInvocable<absl::Status(StartNumber)> take_directory;
  // Called once on the control strand, when the shard is there to be served.
  absl::AnyInvocable<void(std::shared_ptr<ParameterShard>)> serve;
  // Resources used by this process.
  absl::AnyInvocable<ResourceUsage()> usage;
};

// One parameter server process without its network: a member of the job that
// takes the model directory and makes or loads its shard when it has a life,
// sends the shard's marks, lets it
// serve from the first ClusterView on while the coordinator is heard, saves it
// when the coordinator says so, and reports it at the end.
//
// Thread-safe; its state belongs to the control strand.
class PsLoop {
 public:
  PsLoop(PsLoopOptions options, PsLoopDependencies deps);
  ~PsLoop();

  // Begins; returns at once. `done` runs once, on the control strand.
  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);

  // The process has to end before its job does, as when a signal asks for it:
  // tells the coordinator, which ends the job for `reason`, and leaves then, or
  // when the shutdown deadline has passed. With a `save_deadline` the
  // coordinator is asked to save a checkpoint first, for which it has so long.
  void Stop(absl::Status reason,
            absl::Duration save_deadline = absl::ZeroDuration());

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SERVER_PS_LOOP_H_
