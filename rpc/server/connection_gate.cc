#include "rpc/server/connection_gate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/check.h"

namespace shoal {
namespace {

// Time to wait for free file descriptors.
constexpr int kShortageMillis = 50;

// Values of epoll_event::data: kListening with a listening socket's descriptor,
// kStop, or the number of a connection.
constexpr uint64_t kListening = uint64_t{1} << 63;
constexpr uint64_t kStop = ~uint64_t{0};

// The host of a connection's peer, such as "10.0.0.1" or "::1". An IPv4 address
// that is mapped into IPv6 is written as IPv4.
std::string HostOf(const sockaddr_storage& name) {
  char text[INET6_ADDRSTRLEN] = "";
  if (name.ss_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(name).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
      inet_ntop(AF_INET, v6.s6_addr + 12, text, sizeof(text));
    } else {
      inet_ntop(AF_INET6, &v6, text, sizeof(text));
    }
  } else {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(name).sin_addr,
              text, sizeof(text));
  }
  return text;
}

// The key of a connection's peer: "10.0.0.1 40000".
std::string PeerOf(const sockaddr_storage& name, absl::string_view host) {
  const in_port_t port =
      name.ss_family == AF_INET6
          ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
          : reinterpret_cast<const sockaddr_in&>(name).sin_port;
  return absl::StrCat(host, " ", ntohs(port));
}

// The same key from gRPC's form of the peer: "ipv4:10.0.0.1:40000",
// "ipv6:%5Bfe80::1%25eth0%5D:40000".
std::string PeerOf(absl::string_view text) {
  const size_t scheme = text.find(':');
  const size_t port = text.rfind(':');
  if (scheme == absl::string_view::npos || port <= scheme) return "";
  std::string host = absl::StrReplaceAll(
      text.substr(scheme + 1, port - scheme - 1),
      {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}, {"%25", "%"}});
  host.resize(std::min(host.size(), host.find('%')));
  return absl::StrCat(host, " ", text.substr(port + 1));
}

bool Watch(int epoll_fd, int fd, uint32_t events, uint64_t what) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = what;
  return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

ConnectionGate::ConnectionGate(ListeningSockets sockets,
                               ConnectionLimits limits, const Executor* clock)
    : sockets_(std::move(sockets)), clock_(clock), table_(limits) {}

ConnectionGate::~ConnectionGate() {
  Stop();
  for (const auto& [id, connection] : connections_) close(connection.fd);
  if (stop_fd_ >= 0) close(stop_fd_);
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

absl::Status ConnectionGate::Start(HandOver hand_over) {
  SHOAL_DCHECK(epoll_fd_ < 0);
  hand_over_ = std::move(hand_over);
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bool watched = epoll_fd_ >= 0 && stop_fd_ >= 0 &&
                 Watch(epoll_fd_, stop_fd_, EPOLLIN, kStop);
  for (const int fd : sockets_.fds()) {
    watched = watched && Watch(epoll_fd_, fd, EPOLLIN,
                               kListening | static_cast<uint64_t>(fd));
  }
  if (!watched) {
    return absl::InternalError(
        absl::StrCat("cannot wait for connections: ", std::strerror(errno)));
  }
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "rpc accept");
  return absl::OkStatus();
}

void ConnectionGate::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(stop_fd_, &one, sizeof(one));
  thread_.join();
}

int ConnectionGate::WaitMillis() {
  MutexLock lock(&mu_);
  const absl::Time next = table_.NextExpiry();
  if (next == absl::InfiniteFuture()) return -1;
  const absl::Duration left =
      std::clamp(next - clock_->Now(), absl::ZeroDuration(), absl::Minutes(1));
  return static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
}

void ConnectionGate::Run() {
  epoll_event events[64];
  while (true) {
    const int count = epoll_wait(epoll_fd_, events, 64, WaitMillis());
    for (int i = 0; i < count; ++i) {
      const uint64_t what = events[i].data.u64;
      if (what == kStop) return;
      if ((what & kListening) != 0) {
        Accept(static_cast<int>(what & ~kListening));
      } else if ((events[i].events & EPOLLHUP) != 0) {
        MutexLock lock(&mu_);
        Forget(what);
      }
    }
    MutexLock lock(&mu_);
    Close(table_.Expire(clock_->Now()));
  }
}

void ConnectionGate::Accept(int listening_fd) {
  while (true) {
    sockaddr_storage name = {};
    socklen_t size = sizeof(name);
    const int fd = accept4(listening_fd, reinterpret_cast<sockaddr*>(&name),
                           &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
      const int error = errno;
      if (fd >= 0) close(fd);
      if (error != EMFILE && error != ENFILE && error != ENOBUFS &&
          error != ENOMEM) {
        return;
      }
      {
        MutexLock lock(&mu_);
        Close(table_.CloseOldest());
      }
      pollfd stop = {stop_fd_, POLLIN, 0};
      poll(&stop, 1, kShortageMillis);
      return;
    }
    const std::string host = HostOf(name);
    bool refused;
    {
      MutexLock lock(&mu_);
      const Id id = ++last_id_;
      Connection& connection = connections_[id];
      connection.peer = PeerOf(name, host);
      connection.fd = own;
      by_peer_[connection.peer] = id;
      const std::vector<Id> late = table_.Add(id, host, clock_->Now());
      refused = !late.empty() && late.back() == id;
      Close(late);
      // No events but the connection's end, which epoll always reports.
      Watch(epoll_fd_, own, EPOLLET, id);
      if (refused) Forget(id);
    }
    if (refused) {
      close(fd);
    } else {
      hand_over_(listening_fd, fd);
    }
  }
}

// Only shuts the connections down. gRPC then closes its descriptors, and Run
// calls Forget.
void ConnectionGate::Close(const std::vector<Id>& ids) {
  for (const Id id : ids) {
    const auto found = connections_.find(id);
    if (found != connections_.end()) shutdown(found->second.fd, SHUT_RDWR);
  }
}

void ConnectionGate::Forget(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  // close() alone does not end the watch while gRPC's descriptor is open.
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, found->second.fd, nullptr);
  close(found->second.fd);
  // A new connection may already have come from the same port.
  const auto by_peer = by_peer_.find(found->second.peer);
  if (by_peer != by_peer_.end() && by_peer->second == id) {
    by_peer_.erase(by_peer);
  }
  connections_.erase(found);
  table_.Remove(id);
}

uint64_t ConnectionGate::OnCall(const std::string& peer, bool has_token) {
  const std::string key = PeerOf(peer);
  MutexLock lock(&mu_);
  const auto found = by_peer_.find(key);
  if (found == by_peer_.end()) return 0;
  if (has_token) {
    table_.OnToken(found->second);
  } else if (table_.OnRefused(found->second)) {
    Close({found->second});
  }
  return found->second;
}

}  // namespace shoal
