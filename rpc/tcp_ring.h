#ifndef SHOAL_RPC_TCP_RING_H_
#define SHOAL_RPC_TCP_RING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "core/collective.h"
#include "core/payload_bytes.h"
#include "core/rank_board.h"
#include "core/reduction.h"

namespace shoal {

class ListeningSockets;
class RingThread;

// The port of a rank, on which the rank before it will connect. It is opened
// first, so that the other ranks can be told where it is. Movable.
class RingPort {
 public:
  // Listens on `listen` (rpc/address.h); port 0: any free port. Errors as
  // RpcServer::Start: INVALID_ARGUMENT, FAILED_PRECONDITION (the address is
  // beyond loopback and there is no token), ALREADY_EXISTS, UNAVAILABLE.
  static absl::StatusOr<RingPort> Open(const std::string& listen,
                                       absl::string_view token);

  RingPort(RingPort&&) noexcept;
  RingPort& operator=(RingPort&&) noexcept;
  ~RingPort();

  // The same port once more, which listens until both are gone. INTERNAL: the
  // system gives no descriptor.
  absl::StatusOr<RingPort> Copy() const;

  // The address to connect to: the host of `listen` and the port in use.
  const std::string& address() const { return address_; }

 private:
  friend class TcpRing;
  RingPort(std::unique_ptr<ListeningSockets> sockets, std::string address);

  std::unique_ptr<ListeningSockets> sockets_;
  std::string address_;
};

struct TcpRingOptions {
  // Which rank this is of how many.
  int rank = 0;
  int size = 1;
  // The address of the port of rank (rank + 1) modulo size.
  std::string next;
  // What all ranks of one ring have alike; ranks that differ refuse each other.
  std::string job;  // the job's label, at most 256 bytes
  uint64_t start = 1;       // number of the job's start
  uint64_t generation = 1;  // of the ranks, within the start
  Reduction reduction = Reduction::kFast;
  // Bytes that are sent as one frame, a multiple of 64 in [4 KiB, 16 MiB]. A
  // rank passes on a chunk while the next chunk arrives, so smaller chunks have
  // less delay over many ranks, and larger chunks cost less processor time.
  uint32_t chunk_bytes = 512 << 10;
  // Limit on the bytes of one rank's part of an AllGather. A rank has memory
  // for that of each other rank at most.
  uint64_t max_part_bytes = uint64_t{1} << 30;
  // The secret of the job (rpc/token.h); empty: any process that reaches the
  // port can be a rank. It is never sent: the ranks prove that they have it.
  std::string token;

  // Limit on the operations that one rank is ahead of another.
  uint64_t max_queued = 65536;
  // Time that the neighbours have to be there. After it all calls end.
  absl::Duration connect_timeout = absl::Seconds(120);
  // The same in generations after the first, whose ranks were all there a
  // moment ago.
  absl::Duration reconnect_timeout = absl::Seconds(10);
  // Time in which a connection must show that it comes from the rank before.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // Connections that have not shown it; the oldest is closed for a new one.
  int max_strangers = 64;
  // How long the destructor tries to tell the neighbours why this rank ends.
  absl::Duration linger = absl::Milliseconds(500);
  // The ranks for people, by rank, in errors; empty: "rank 0" and so on.
  std::vector<std::string> names;
  // Is told for which rank the ring waits; may be null. Outlives the ring.
  RankBoard* board = nullptr;
  // The counters of this process, to which the ring adds the data that it
  // sends and receives; null: none. They outlive the ring.
  PayloadCounters* payload = nullptr;
  // Takes a line about a host whose connection is refused, once for each host,
  // on the ring's thread; null: nothing is told.
  std::function<void(const std::string& line)> on_refused;

  // INVALID_ARGUMENT says which option is wrong.
  absl::Status Validate() const;
};

// A Collective whose ranks are processes: rank r sends to rank r + 1 over TCP
// and receives from rank r - 1 (docs/wire_protocol.md, "The ring of ranks").
// One thread for each rank waits in epoll_wait and moves all data; it works on
// the callers' memory and copies no bytes but those that are to be added. Sums
// have the order of core/ring_schedule.h. Thread-safe.
//
//   SHOAL_ASSIGN_OR_RETURN(RingPort port, RingPort::Open("10.0.0.1:0", token));
//   // tell port.address() to rank - 1, and hear that of rank + 1
//   SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<TcpRing> ring, TcpRing::Start(
//       std::move(port), options, &completions));
//
// The port listens as long as the ring lives, so that others see that the
// process does: once the rank before is there, connections are closed unread.
//
// Errors that name a rank at fault have it as LostRankOf (core/lost_rank.h).
// Calls may be made at once: they wait until the neighbours are there. If these
// are not there in time, or refuse, all calls end with an error that says why:
// ABORTED in the first generation, whose ring then never comes up, and
// UNAVAILABLE in a later one, as when a ring breaks.
class TcpRing final : public Collective {
 public:
  // `executor` gets the completions and must outlive the ring. Errors:
  // INVALID_ARGUMENT (the options), INTERNAL (the system gives no thread or
  // descriptor).
  static absl::StatusOr<std::unique_ptr<TcpRing>> Start(
      RingPort port, TcpRingOptions options, Executor* executor);

  // The other ranks' calls that need this rank end with UNAVAILABLE.
  ~TcpRing() override;

  int rank() const override;
  int size() const override;
  void AllReduce(CollectiveTag tag, absl::Span<float> values,
                 absl::Duration timeout, Done<CollectiveReply> done) override;
  void AllGather(CollectiveTag tag, absl::Span<const char> bytes,
                 GatheredParts* parts, absl::Duration timeout,
                 Done<CollectiveReply> done) override;
  void Broadcast(CollectiveTag tag, int root, absl::Span<char> bytes,
                 absl::Duration timeout, Done<CollectiveReply> done) override;

  // Bytes of frames that were sent to the next rank so far.
  uint64_t bytes_sent() const;

 private:
  explicit TcpRing(std::unique_ptr<RingThread> thread);

  const std::unique_ptr<RingThread> thread_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_TCP_RING_H_
