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
  // Of messages that a session has taken and not yet sent. Beyond it the
  // session ends with RESOURCE_EXHAUSTED: the coordinator does not keep up.
  uint64_t max_queued_bytes = 64 << 20;

  absl::Status Validate() const;
};

// The coordinator in another process, over gRPC.
//
// A connection ends (on_end) within milliseconds of the death of either
// process, and within keepalive_time + keepalive_timeout where the other is
// frozen. One that was to resume a session and is refused ends with NOT_FOUND:
// no process listens at the coordinator's address any more. The
// next message is taken from the wire when on_message has returned. A message
// that exceeds the coordinator's max_message_bytes ends the session
// (RESOURCE_EXHAUSTED): an EvalResult of n examples takes 5 n bytes.
class ClusterClient final : public ClusterService {
 public:
  // REQUIRES: options.Validate().ok(). Callbacks run on `executor`. Whether a
  // process still listens at the coordinator's address is looked at on
  // `probes`, which may wait for the network, and for the name to be resolved.
  // All three must outlive the client and its sessions.
  ClusterClient(ClusterClientOptions options, ClientLoop* loop,
                Executor* executor, Executor* probes);
  // Ends calls and sessions in progress: CANCELLED. Not on a thread of the
  // loop.
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
