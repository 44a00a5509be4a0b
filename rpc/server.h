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
  // What a client may send of a call before the call is read.
  static constexpr int kUnreadBytes = 256 << 10;

  // rpc/address.h. Beyond loopback only with a token. Port 0: any free one.
  std::string listen = "127.0.0.1:0";
  // What every call must bear; empty: calls need none.
  std::string token;
  // Larger requests are refused (RESOURCE_EXHAUSTED, which names the flag), and
  // pulls with larger replies. At least 1 MiB.
  uint64_t max_message_bytes = 64 << 20;
  // Requests that are read or served at once, in bytes; while one is read, it
  // counts as max_message_bytes. More wait unread. One connection has a quarter
  // at most. At least 2 x max_message_bytes.
  uint64_t max_request_bytes = uint64_t{1} << 30;
  // Replies of pulls that are made or sent at once, likewise.
  uint64_t max_reply_bytes = 512 << 20;
  // Chunked pushes that are not complete (wire/codec/chunk_assembler.h).
  uint64_t max_staged_bytes = 512 << 20;
  absl::Duration chunk_deadline = absl::Seconds(30);
  // Memory of requests and of replies that is kept for the next ones: of
  // decoded pulls, of decoded pushes, of replies, each.
  uint64_t max_kept_bytes = 128 << 20;
  // How long a request may take to arrive once it is read, and a reply to
  // leave; the call is then cancelled.
  absl::Duration transfer_deadline = absl::Seconds(30);
  // Calls that wait or are served, of all connections; more are refused
  // (RESOURCE_EXHAUSTED: retry later).
  int max_calls = 4096;
  // Calls under way on one connection; more wait on the client's side.
  int max_streams = 256;
  // Open sessions; more are refused (RESOURCE_EXHAUSTED).
  int max_sessions = 4096;
  // Messages to one process that wait to be sent; beyond it the session ends
  // (RESOURCE_EXHAUSTED).
  uint64_t max_session_queue_bytes = 64 << 20;
  // How long a process may take to say who it is once it has opened a session;
  // the session then ends (DEADLINE_EXCEEDED).
  absl::Duration session_open_deadline = absl::Seconds(10);
  // Connections (rpc/server/connection_table.h): in all; without a call that
  // bore the token, in all and of one host; calls without it on one of those;
  // and how long such a connection may stay. Fewer where the process may not
  // open enough files.
  int max_connections = 16384;
  int max_unknown_connections = 1024;
  int max_unknown_connections_of_host = 256;
  int max_refused_calls = 16;
  absl::Duration token_deadline = absl::Seconds(10);
  // Threads that decode requests and call the services.
  int threads = 1;
  // How long a service may take for a call without a deadline within a day.
  absl::Duration max_call_time = absl::Seconds(60);
  // A client that is silent is asked for a sign of life after the first, and
  // taken for dead after the second; rpc/keepalive.h.
  absl::Duration keepalive_time = absl::Seconds(2);
  absl::Duration keepalive_timeout = absl::Seconds(5);

  // INVALID_ARGUMENT says which option is wrong.
  absl::Status Validate() const;

  // Sets max_message_bytes, and the bounds that have to hold several messages.
  void SetMaxMessageBytes(uint64_t bytes);
  // What all calls together may hold.
  uint64_t max_call_bytes() const {
    return max_request_bytes + max_reply_bytes + max_staged_bytes;
  }
  // Memory that this takes of the process at most: also what is decoded while
  // it is still there in pieces, by each thread, what is kept for the next
  // calls, and the beginnings of calls that wait unread. Sessions are no calls:
  // docs/wire_protocol.md says what bounds them.
  uint64_t max_call_memory() const;
  // What calls with so many messages of so many bytes each, all at once, take
  // of it: each message in three copies, in pieces or whole.
  uint64_t MemoryBytes(uint64_t message_bytes, uint64_t messages) const;
  // Memory that gRPC may hold for all connections. Beyond it gRPC resets
  // streams at random, sessions too: so calls have half of it at most, and by
  // default their beginnings a quarter.
  uint64_t memory_quota_bytes() const { return 2 * max_call_bytes(); }
};

// One gRPC server for the services of one process. No message of a call is read
// before the call's token is known and there is room for it, and everything
// that comes in is validated before a service sees it. Thread-safe.
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
