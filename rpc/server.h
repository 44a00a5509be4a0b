#ifndef SHOAL_RPC_SERVER_H_
#define SHOAL_RPC_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "core/cluster_service.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "rpc/copy_stats.h"

namespace shoal {

// The struct has many members, because everything that a peer can make grow has
// a limit of its own, by count, by bytes or by time.
struct RpcServerOptions {
  // A server of at most kFewCalls calls leaves the windows of HTTP/2 to gRPC,
  // which lets a client send up to kOwnWindowBytes of a call before the server
  // reads the call, if the connection is fast: gRPC 1.51 ends its window at
  // 2^25 bytes. A server of more calls fixes these bytes at kFixedWindowBytes,
  // which costs processor time (docs/decisions/0011).
  static constexpr int kFewCalls = 32;
  static constexpr int kOwnWindowBytes = 32 << 20;
  static constexpr int kFixedWindowBytes = 256 << 10;

  // Address to listen on (rpc/address.h). An address beyond loopback needs a
  // token. Port 0: any free port.
  std::string listen = "127.0.0.1:0";
  // Token that every call must bear; empty: calls need no token.
  std::string token;
  // Limit on the bytes of a request, and of the reply to a pull. Calls above it
  // are refused (RESOURCE_EXHAUSTED, which names the flag). At least 1 MiB.
  uint64_t max_message_bytes = 64 << 20;
  // Limit on the bytes of requests that are read or served at once. A request
  // counts as max_message_bytes while it is read. Requests beyond the limit
  // wait unread. One connection has a quarter of it at most. At least 2 x
  // max_message_bytes.
  uint64_t max_request_bytes = uint64_t{1} << 30;
  // The same limit on the replies of pulls that are made or sent at once.
  uint64_t max_reply_bytes = 512 << 20;
  // Limit on the bytes of chunked pushes that are not complete, and the time
  // that a chunked push has to complete (wire/codec/chunk_assembler.h).
  uint64_t max_staged_bytes = 512 << 20;
  absl::Duration chunk_deadline = absl::Seconds(30);
  // Limit on the memory that is kept for later calls. It holds separately for
  // decoded pulls, for decoded pushes, and for replies.
  uint64_t max_kept_bytes = 128 << 20;
  // Time in which a request must arrive after the server begins to read it, and
  // in which a reply must be sent. The call is cancelled after that time.
  absl::Duration transfer_deadline = absl::Seconds(30);
  // Limit on the calls of all connections that wait or are served; more calls
  // are refused (RESOURCE_EXHAUSTED: retry later).
  int max_calls = 4096;
  // Limit on the calls under way on one connection; more calls wait in the
  // client, or are refused if the client sends them all the same.
  int max_streams = 256;
  // Limit on open sessions; more sessions are refused (RESOURCE_EXHAUSTED).
  int max_sessions = 4096;
  // Limit on the bytes of messages that wait to be sent to one process; beyond
  // it the session ends (RESOURCE_EXHAUSTED).
  uint64_t max_session_queue_bytes = 64 << 20;
  // Time in which a process must send the opening message of a session; after
  // it the session ends (DEADLINE_EXCEEDED).
  absl::Duration session_open_deadline = absl::Seconds(10);
  // Limits on connections (rpc/server/connection_table.h). The first two are
  // lower if the process may not open enough files.
  int max_connections = 16384;
  // Connections without a call that bore the token: in all, and from one host.
  int max_unknown_connections = 1024;
  int max_unknown_connections_of_host = 256;
  // Calls without the token on such a connection, and how long it may stay.
  int max_refused_calls = 16;
  absl::Duration token_deadline = absl::Seconds(10);
  // Threads that decode requests and call the services.
  int threads = 1;
  // Timeout of calls that have no deadline, or one that is more than a day
  // away.
  absl::Duration max_call_time = absl::Seconds(60);
  // Takes a line about a host whose calls do not bear the token, once for each
  // host, on a thread of the server; null: nothing is told.
  std::function<void(const std::string& line)> on_refused;
  // The counters of this process, to which the server adds the payload of pulls
  // and pushes; null: none. They outlive the server.
  PayloadCounters* payload = nullptr;
  // Keepalive (rpc/keepalive.h): a client that is silent for keepalive_time
  // gets a ping, and is taken for dead if it does not answer within
  // keepalive_timeout.
  absl::Duration keepalive_time = absl::Seconds(2);
  absl::Duration keepalive_timeout = absl::Seconds(5);

  // INVALID_ARGUMENT says which option is wrong.
  absl::Status Validate() const;

  // Sets max_message_bytes, and raises the limits that must hold several
  // messages.
  void SetMaxMessageBytes(uint64_t bytes);
  // Lowers max_calls to kFewCalls, and max_streams to a quarter of it, if all
  // calls that the job's workers and servers have in flight here at once fit.
  // More workers may join than a job expects: their calls beyond the limit are
  // refused, and sent again.
  void SetCallsOfJob(int workers, uint64_t calls_of_worker, int servers);
  // Raises the limits that a parked push of every worker would reach: a push
  // that waits on the server until the last worker has sent one. A push has at
  // most `push_bytes` bytes, and is sent in up to `calls_of_push` calls at
  // once.
  void SetParkedPushes(int workers, uint64_t calls_of_push, uint64_t push_bytes,
                       int servers);
  bool few_calls() const { return max_calls <= kFewCalls; }
  // Bytes that all calls together may hold.
  uint64_t max_call_bytes() const {
    return max_request_bytes + max_reply_bytes + max_staged_bytes;
  }
  // Upper bound on the memory that all calls take of the process. Beside
  // max_call_bytes it has the message that each thread decodes while its
  // fragments are still there, the memory that is kept for later calls, and the
  // beginnings of calls that wait unread. Sessions are not calls:
  // docs/wire_protocol.md says what limits them.
  uint64_t max_call_memory() const;
  // Upper bound on the memory of `messages` messages of `message_bytes` bytes
  // each, all at once; at most max_call_memory(). Each message counts as three
  // copies, in fragments or whole.
  uint64_t MemoryBytes(uint64_t message_bytes, uint64_t messages) const;
  // Limit on the memory that gRPC may hold for all connections. Beyond it gRPC
  // resets streams at random, sessions too. Therefore calls have half of it at
  // most, and with default options the beginnings of unread calls have a
  // quarter.
  uint64_t memory_quota_bytes() const { return 2 * max_call_bytes(); }
};

// One gRPC server for the services of one process. The server reads a call's
// message only after it has checked the call's token and has room for the
// message. Every message is validated before a service gets it. Thread-safe.
class RpcServer {
 public:
  // Listens and serves. `cluster` is null in all processes but PS 0. `executor`
  // runs timers. Both must outlive the server. Errors, whose messages say what
  // to do: INVALID_ARGUMENT, FAILED_PRECONDITION (the address is beyond
  // loopback and there is no token), ALREADY_EXISTS (the address is in use),
  // UNAVAILABLE (the process cannot listen on the address).
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      RpcServerOptions options, ClusterService* cluster, Executor* executor);

  // Ends sessions and calls at once, and waits until the services have answered
  // or dropped the calls that they hold. REQUIRES: the caller is not a thread
  // that a service needs for that.
  ~RpcServer();

  // Passes Pull, Push and Stats to `parameters` from now on. `parameters` must
  // outlive the server. Before this call they return UNAVAILABLE ("starting").
  void AttachParameterService(ParameterService* parameters);

  // The address to connect to: the host of options.listen and the port in use.
  const std::string& address() const;

  CopyStats copy_stats() const;

 private:
  class Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_H_
