#ifndef SHOAL_RPC_SERVER_H_
#define SHOAL_RPC_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "core/cluster_service.h"
#include "core/parameter_service.h"
#include "rpc/copy_stats.h"

namespace shoal {

struct RpcServerOptions {
  // rpc/address.h. Beyond loopback only with a token. Port 0: any free one.
  std::string listen = "127.0.0.1:0";
  // What every call must bear; empty: calls need none.
  std::string token;
  // Larger requests are refused (RESOURCE_EXHAUSTED, which names the flag), and
  // pulls with larger replies. At least 1 MiB.
  uint64_t max_message_bytes = 64 << 20;
  // Memory that gRPC may hold for all connections; beyond it they stall.
  uint64_t memory_quota_bytes = uint64_t{2} << 30;
  // Calls under way on one connection; more wait on the client's side.
  int max_streams = 256;
  // Calls of one method that are served at once; more wait in gRPC.
  int calls_in_flight = 32;
  // Open sessions; more wait until one ends.
  int max_sessions = 4096;
  // Messages to one process that wait to be sent; beyond it the session ends
  // (RESOURCE_EXHAUSTED).
  uint64_t max_session_queue_bytes = 64 << 20;
  // How long a process may take to say who it is once it has opened a session;
  // the session then ends (DEADLINE_EXCEEDED).
  absl::Duration session_open_deadline = absl::Seconds(10);
  // Threads that decode requests and call the services.
  int threads = 1;
  // Chunked pushes that are not complete (rpc/codec/chunk_assembler.h).
  uint64_t max_staged_bytes = 512 << 20;
  absl::Duration chunk_deadline = absl::Seconds(30);
  // How long a service may take for a call that says nothing itself.
  absl::Duration max_call_time = absl::Seconds(60);
  // A client that is silent is asked for a sign of life after the first, and
  // taken for dead after the second; rpc/keepalive.h.
  absl::Duration keepalive_time = absl::Seconds(2);
  absl::Duration keepalive_timeout = absl::Seconds(5);

  // INVALID_ARGUMENT says which option is wrong.
  absl::Status Validate() const;
};

// One gRPC server for the services of one process. Everything that comes in is
// validated before a service sees it. Thread-safe.
class RpcServer {
 public:
  // Listens and serves. `cluster` (may be null: only PS 0 has one) and
  // `executor` (timers) must outlive the server. Errors: INVALID_ARGUMENT,
  // FAILED_PRECONDITION (beyond loopback without a token), ALREADY_EXISTS (the
  // address is in use), UNAVAILABLE (it cannot be listened on); the message
  // says what to do.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      RpcServerOptions options, ClusterService* cluster, Executor* executor);

  // Ends sessions and calls at once, and waits for the services to let go of
  // the calls that they hold. Not on a thread that they need for that.
  ~RpcServer();

  // From now on Pull, Push and Stats go to `parameters`, which must outlive the
  // server; before that they are UNAVAILABLE ("starting").
  void AttachParameterService(ParameterService* parameters);

  // What to connect to: the host of options.listen and the port in use.
  const std::string& address() const;

  CopyStats copy_stats() const;

 private:
  class Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_H_
