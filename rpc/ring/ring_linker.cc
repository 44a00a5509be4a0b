#include "rpc/ring/ring_linker.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/ring/token_proof.h"

namespace shoal {
namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(20);
constexpr absl::Duration kLastDelay = absl::Seconds(1);
// How often neighbours that are there are looked at. Poll would not wait for
// the end of one that has said something, which is for the ring to read.
constexpr absl::Duration kLook = absl::Milliseconds(200);

// The peer of a connection, in gRPC's form: "ipv4:10.0.0.1:40000".
std::string NameOf(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = "?";
  char port[NI_MAXSERV] = "?";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host,
              sizeof(host), port, sizeof(port),
              NI_NUMERICHOST | NI_NUMERICSERV);
  if (address.ss_family == AF_INET6) {
    return absl::StrCat("ipv6:[", host, "]:", port);
  }
  return absl::StrCat("ipv4:", host, ":", port);
}

void Close(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

// True if the other side has closed the connection, and all that it sent
// before was read.
bool HasEnded(int fd) {
  char byte;
  const ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 ||
         (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool Send(int fd, const std::string& bytes) {
  // A handshake fits into any socket's buffer.
  return bytes.empty() || send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                              static_cast<ssize_t>(bytes.size());
}

}  // namespace

RingLinker::RingLinker(const TcpRingOptions& options, RingSettings settings,
                       Address next, std::unique_ptr<ListeningSockets> sockets,
                       const Executor* clock)
    : options_(options),
      settings_(std::move(settings)),
      address_(std::move(next)),
      sockets_(std::move(sockets)),
      clock_(clock),
      log_(options.on_refused),
      connect_at_(clock->Now()),
      delay_(kFirstDelay),
      why_("no answer yet") {}

RingLinker::~RingLinker() {
  for (Peer& peer : strangers_) Close(&peer.fd);
  Close(&outgoing_.fd);
  Close(&previous_);
  Close(&next_);
}

int RingLinker::missing_rank() const {
  return next_ < 0 ? settings_.next() : settings_.previous();
}

std::string RingLinker::Missing() const {
  std::string text;
  if (next_ < 0) {
    text = absl::StrCat(settings_.Name(settings_.next()), " at ",
                        address_.ToString(), " cannot be reached: ", why_);
  }
  if (previous_ < 0) {
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    settings_.Name(settings_.previous()),
                    " has not connected");
  }
  return text;
}

std::vector<pollfd> RingLinker::PollSet(int wake_fd) const {
  std::vector<pollfd> set = {{wake_fd, POLLIN, 0}};
  const short outgoing = outgoing_.connecting ? POLLOUT : POLLIN;
  set.push_back({outgoing_.fd, outgoing, 0});  // -1 is left out by poll
  if (sockets_ != nullptr) {
    for (const int fd : sockets_->fds()) set.push_back({fd, POLLIN, 0});
  }
  for (const Peer& peer : strangers_) set.push_back({peer.fd, POLLIN, 0});
  return set;
}

absl::Status RingLinker::Step(int wake_fd, absl::Time until) {
  if (next_ < 0 && outgoing_.fd < 0) {
    if (clock_->Now() >= connect_at_) Connect();
    if (outgoing_.fd < 0) until = std::min(until, connect_at_);
  }
  if (previous_ >= 0 || next_ >= 0) {
    until = std::min(until, clock_->Now() + kLook);
  }
  for (const Peer& peer : strangers_) until = std::min(until, peer.until);
  if (outgoing_.fd >= 0) until = std::min(until, outgoing_.until);
  std::vector<pollfd> set = PollSet(wake_fd);
  const absl::Duration left = std::clamp(
      until - clock_->Now(), absl::ZeroDuration(), absl::Minutes(1));
  if (poll(set.data(), set.size(),
           static_cast<int>(absl::ToInt64Milliseconds(left)) + 1) < 0) {
    return absl::OkStatus();
  }
  absl::Status status;
  if (set[1].revents != 0) status = OnNext();
  // Strangers first: Accept adds to them.
  const size_t first = set.size() - strangers_.size();
  for (size_t i = 0; i < strangers_.size(); ++i) {
    if (set[first + i].revents != 0) OnStranger(&strangers_[i]);
  }
  for (size_t i = 2; i < first && sockets_ != nullptr; ++i) {
    if (set[i].revents != 0) Accept(set[i].fd);
  }
  DropLate(clock_->Now());
  if (!linked()) DropEnded();
  return status;
}

void RingLinker::DropEnded() {
  if (previous_ >= 0 && HasEnded(previous_)) Close(&previous_);
  if (next_ >= 0 && HasEnded(next_)) {
    Close(&next_);
    ConnectLater("it has closed the connection");
  }
}

void RingLinker::DropLate(absl::Time now) {
  for (Peer& peer : strangers_) {
    if (peer.fd < 0 || peer.until > now) continue;
    log_.Refused(peer.name, absl::UnauthenticatedError(
                                "it does not say in time which rank it is"));
    Close(&peer.fd);
  }
  if (previous_ >= 0) {
    for (Peer& peer : strangers_) Close(&peer.fd);
  }
  strangers_.erase(
      std::remove_if(strangers_.begin(), strangers_.end(),
                     [](const Peer& peer) { return peer.fd < 0; }),
      strangers_.end());
  if (outgoing_.fd >= 0 && outgoing_.until <= now) {
    ConnectLater("no answer in time");
  }
}

void RingLinker::Accept(int listening_fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  const int fd = accept4(listening_fd, reinterpret_cast<sockaddr*>(&address),
                         &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    // Out of descriptors: an older connection gives its own.
    if ((errno == EMFILE || errno == ENFILE) && !strangers_.empty()) {
      Close(&strangers_.front().fd);
    }
    return;
  }
  if (previous_ >= 0) {
    close(fd);
    return;
  }
  if (strangers_.size() >= static_cast<size_t>(options_.max_strangers)) {
    Close(&strangers_.front().fd);
    strangers_.erase(strangers_.begin());
  }
  Peer peer;
  peer.fd = fd;
  peer.name = NameOf(address, size);
  peer.until = clock_->Now() + options_.handshake_timeout;
  peer.handshake = std::make_unique<RingAcceptor>(settings_, options_.token,
                                                  MakeNonce());
  if (!Send(fd, peer.handshake->TakeOutput())) {
    Close(&peer.fd);
    return;
  }
  strangers_.push_back(std::move(peer));
}

bool RingLinker::Converse(Peer* peer) {
  char bytes[1024];
  while (!peer->handshake->done()) {
    const size_t wants = std::min(sizeof(bytes), peer->handshake->wants());
    const ssize_t got = recv(peer->fd, bytes, wants, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) return false;
    peer->handshake->Feed(
        absl::string_view(bytes, static_cast<size_t>(got)));
    if (!Send(peer->fd, peer->handshake->TakeOutput())) return false;
  }
  return true;
}

void RingLinker::OnStranger(Peer* peer) {
  if (!Converse(peer)) {
    // A port scanner, or a rank that ended: there is nothing to say about it.
    Close(&peer->fd);
    return;
  }
  if (!peer->handshake->done()) return;
  if (absl::IsUnavailable(peer->handshake->status())) {
    Close(&peer->fd);  // a rank of this job, too early or too late
  } else if (!peer->handshake->status().ok()) {
    log_.Refused(peer->name, peer->handshake->status());
    Close(&peer->fd);
  } else if (previous_ >= 0) {
    Close(&peer->fd);
  } else {
    previous_ = std::exchange(peer->fd, -1);
  }
}

void RingLinker::ConnectLater(std::string why) {
  why_ = std::move(why);
  Close(&outgoing_.fd);
  connect_at_ = clock_->Now() + delay_;
  delay_ = std::min(2 * delay_, kLastDelay);
}

void RingLinker::Connect() {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int resolved =
      getaddrinfo(address_.host.c_str(), absl::StrCat(address_.port).c_str(),
                  &hints, &found);
  if (resolved != 0) {
    ConnectLater(gai_strerror(resolved));
    return;
  }
  // Another address of the name at each try.
  int count = 0;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) ++count;
  const addrinfo* address = found;
  for (int i = tries_++ % count; i > 0; --i) address = address->ai_next;
  const int fd = socket(address->ai_family,
                        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool refused =
      fd < 0 ||
      (connect(fd, address->ai_addr, address->ai_addrlen) != 0 &&
       errno != EINPROGRESS);
  outgoing_.fd = fd;
  if (refused) {
    ConnectLater(std::strerror(errno));
  } else {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    outgoing_.connecting = true;
    outgoing_.until = clock_->Now() + options_.handshake_timeout;
    outgoing_.handshake = std::make_unique<RingConnector>(
        settings_, options_.token, MakeNonce());
  }
  freeaddrinfo(found);
}

absl::Status RingLinker::OnNext() {
  if (outgoing_.connecting) {
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(outgoing_.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      ConnectLater(std::strerror(error));
    } else {
      outgoing_.connecting = false;
    }
    return absl::OkStatus();
  }
  if (!Converse(&outgoing_)) {
    ConnectLater("it closes the connection");
    return absl::OkStatus();
  }
  if (!outgoing_.handshake->done()) return absl::OkStatus();
  const absl::Status& status = outgoing_.handshake->status();
  if (absl::IsUnavailable(status)) {
    ConnectLater(std::string(status.message()));
    return absl::OkStatus();
  }
  if (!status.ok()) {
    return absl::UnavailableError(
        absl::StrCat(settings_.Name(settings_.next()), " at ",
                     address_.ToString(), ": ", status.message()));
  }
  next_ = std::exchange(outgoing_.fd, -1);
  return absl::OkStatus();
}

}  // namespace shoal
