#ifndef SHOAL_RPC_RING_RING_LINKER_H_
#define SHOAL_RPC_RING_RING_LINKER_H_

#include <poll.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "rpc/address.h"
#include "rpc/ring/ring_handshake.h"
#include "rpc/ring/ring_settings.h"
#include "rpc/server/listening_sockets.h"
#include "rpc/server/stranger_log.h"
#include "rpc/tcp_ring.h"

namespace shoal {

// Finds the neighbours of a rank: connects to the next rank, again and again
// until it is there, and waits for the rank before among all who connect. A
// neighbour whose connection ends before the other neighbour is there is looked
// for again. Owned by one thread.
class RingLinker {
 public:
  // `clock` gives the time, and must outlive the linker.
  RingLinker(const TcpRingOptions& options, RingSettings settings,
             Address next, std::unique_ptr<ListeningSockets> sockets,
             const Executor* clock);
  ~RingLinker();

  // Waits until something happens, until `wake_fd` can be read, or until the
  // time `until`, and does what follows. UNAVAILABLE: a neighbour refuses, so
  // there will be no ring. A neighbour that is of another generation is asked
  // again: one of the two has not heard of the newest.
  absl::Status Step(int wake_fd, absl::Time until);

  bool linked() const { return previous_ >= 0 && next_ >= 0; }
  // Gives away the sockets that listen. REQUIRES: linked().
  std::unique_ptr<ListeningSockets> TakeSockets() {
    return std::move(sockets_);
  }
  // Gives away the connections. REQUIRES: linked().
  int TakePrevious() { return std::exchange(previous_, -1); }
  int TakeNext() { return std::exchange(next_, -1); }

  // For people: who is not there, and why.
  std::string Missing() const;
  int missing_rank() const;

 private:
  // A connection that is not a link yet.
  struct Peer {
    int fd = -1;
    bool connecting = false;
    std::string name;  // gRPC's form of a peer (stranger_log.h)
    absl::Time until;
    std::unique_ptr<RingHandshake> handshake;
  };

  void Accept(int listening_fd);
  // Something came from `peer`. False: it has no future.
  bool Converse(Peer* peer);
  void OnStranger(Peer* peer);
  absl::Status OnNext();
  void Connect();
  void ConnectLater(std::string why);
  void DropLate(absl::Time now);
  // Drops neighbours that are not there any more.
  void DropEnded();
  std::vector<pollfd> PollSet(int wake_fd) const;

  const TcpRingOptions options_;
  const RingSettings settings_;
  const Address address_;  // of the next rank
  std::unique_ptr<ListeningSockets> sockets_;  // null: they are given away
  const Executor* const clock_;
  StrangerLog log_;
  std::vector<Peer> strangers_;  // the oldest first
  Peer outgoing_;
  absl::Time connect_at_;
  absl::Duration delay_;
  int tries_ = 0;
  std::string why_;  // there is no connection to the next rank
  int previous_ = -1;
  int next_ = -1;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_LINKER_H_
