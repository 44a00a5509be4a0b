#ifndef SHOAL_RPC_CLUSTER_CLIENT_H_
#define SHOAL_RPC_CLUSTER_CLIENT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "base/executor.h"
#include "core/cluster_service.h"
#include "core/done.h"
#include "core/registration.h"
#include "core/save_messages.h"
#include "rpc/channel_options.h"
#include "rpc/client_loop.h"

namespace shoal {

struct ClusterClientOptions {
  ChannelOptions channel;
  // Limit on the bytes of messages that a session has queued and not yet sent.
  // Beyond the limit the session ends with RESOURCE_EXHAUSTED, because the
  // coordinator does not keep up.
  uint64_t max_queued_bytes = 64 << 20;

  absl::Status Validate() const;
};

// A coordinator in another process, called over gRPC.
//
// A connection ends (on_end) within milliseconds of the end of either process,
// and within keepalive_time + keepalive_timeout if the other process is frozen.
// A connection that was to resume a session ends with NOT_FOUND if no process
// listens at the coordinator's address any more. The client reads the next
// message after on_message has returned. A message larger than the
// coordinator's max_message_bytes ends the session (RESOURCE_EXHAUSTED): an
// EvalResult of n examples takes 5 n bytes.
class ClusterClient final : public ClusterService {
 public:
  // Callbacks run on `executor`. `probes` runs the check whether a process
  // still listens at the coordinator's address; it may wait for the network and
  // for the resolution of the name. `loop`, `executor` and `probes` must
  // outlive the client and its sessions. REQUIRES: options.Validate().ok().
  ClusterClient(ClusterClientOptions options, ClientLoop* loop,
                Executor* executor, Executor* probes);
  // Ends calls and sessions in progress with CANCELLED. REQUIRES: the caller is
  // not a thread of the loop.
  ~ClusterClient() override;

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override;
  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override;
  void SaveCheckpoint(SaveCheckpointRequest request, absl::Duration timeout,
                      Done<SavedCheckpoint> done) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLUSTER_CLIENT_H_
