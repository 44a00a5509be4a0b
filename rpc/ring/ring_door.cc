#include "rpc/ring/ring_door.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace shoal {

void RingDoor::Watch(int epoll_fd, uint64_t key) {
  if (sockets_ == nullptr) return;
  for (const int fd : sockets_->fds()) {
    // Another address may have had the event.
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = key;
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

void RingDoor::Answer(int epoll_fd) {
  if (sockets_ == nullptr) return;
  for (const int fd : sockets_->fds()) {
    const int stranger =
        accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (stranger >= 0) {
      close(stranger);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      // The event would come again and again.
      epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, nullptr);
    }
  }
}

}  // namespace shoal
