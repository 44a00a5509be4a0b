#ifndef SHOAL_RPC_RING_RING_DOOR_H_
#define SHOAL_RPC_RING_RING_DOOR_H_

#include <cstdint>
#include <memory>

#include "rpc/server/listening_sockets.h"

namespace shoal {

// The port of a rank whose neighbours are there. It goes on listening, so that
// others see that the process lives (rpc/port_probe.h); who connects is closed
// unread, one connection a call. Owned by one thread.
class RingDoor {
 public:
  // `sockets` may be null: the door is shut, until Open.
  explicit RingDoor(std::unique_ptr<ListeningSockets> sockets)
      : sockets_(std::move(sockets)) {}

  void Open(std::unique_ptr<ListeningSockets> sockets) {
    sockets_ = std::move(sockets);
  }

  // Lets the epoll set wait for connections; their events have `key`.
  void Watch(int epoll_fd, uint64_t key);
  // An event came: closes a connection of each address. Without descriptors it
  // stops waiting for more; the port still listens.
  void Answer(int epoll_fd);

 private:
  std::unique_ptr<ListeningSockets> sockets_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_DOOR_H_
