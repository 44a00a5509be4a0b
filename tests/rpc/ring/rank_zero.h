#ifndef SHOAL_TESTS_RPC_RING_RANK_ZERO_H_
#define SHOAL_TESTS_RPC_RING_RANK_ZERO_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "rpc/address.h"
#include "rpc/ring/ring_handshake.h"
#include "rpc/ring/token_proof.h"
#include "rpc/tcp_ring.h"

namespace shoal {

// Of all ranks of the tests.
inline TcpRingOptions TestRingOptions() {
  TcpRingOptions options;
  options.job = "demo";
  options.token = "the-token";
  return options;
}

// A TCP connection on loopback without any knowledge of rings. Every wait ends.
class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {
    timeval limit = {30, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  }
  ~RawSocket() {
    if (fd_ >= 0) close(fd_);
  }
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawSocket& operator=(RawSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  static RawSocket Connect(const std::string& text) {
    const Address address = *ParseAddress(text);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(address.port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    return RawSocket(fd);
  }

  // Listens on a free port; *address tells where.
  static RawSocket Listen(std::string* address) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(fd, 5), 0);
    getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
    *address = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
    return RawSocket(fd);
  }
  RawSocket Accept() { return RawSocket(accept(fd_, nullptr, nullptr)); }

  void Send(const std::string& bytes) {
    (void)!send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Up to `most` bytes; empty at the end.
  std::string Receive(size_t most) {
    std::string bytes(most, '\0');
    const ssize_t got = recv(fd_, bytes.data(), most, 0);
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
  }
  // All bytes until the other side closes the connection.
  std::string ReceiveAll() {
    std::string all;
    while (true) {
      const std::string more = Receive(4096);
      if (more.empty()) return all;
      all += more;
    }
  }
  absl::Status Shake(RingHandshake* handshake) {
    while (true) {
      const std::string out = handshake->TakeOutput();
      if (!out.empty()) Send(out);
      if (handshake->done()) return handshake->status();
      const std::string in = Receive(handshake->wants());
      if (in.empty()) return absl::UnavailableError("closed");
      handshake->Feed(in);
    }
  }
  void Close() {
    close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// Rank 0 of two, whose neighbour is played by the test.
class RankZero {
 public:
  explicit RankZero(const TcpRingOptions& base = TestRingOptions()) {
    listening_ = RawSocket::Listen(&listens_at_);
    absl::StatusOr<RingPort> port = RingPort::Open("127.0.0.1:0", base.token);
    EXPECT_TRUE(port.ok()) << port.status();
    address_ = port->address();
    TcpRingOptions options = base;
    options.rank = 0;
    options.size = 2;
    options.next = listens_at_;
    options.on_refused = [this](const std::string& line) {
      MutexLock lock(&mu_);
      lines_.push_back(line);
    };
    absl::StatusOr<std::unique_ptr<TcpRing>> ring =
        TcpRing::Start(*std::move(port), options, &executor_);
    EXPECT_TRUE(ring.ok()) << ring.status();
    ring_ = *std::move(ring);
  }
  ~RankZero() { ring_ = nullptr; }

  TcpRing& ring() { return *ring_; }
  void Destroy() { ring_ = nullptr; }
  const std::string& address() const { return address_; }
  std::vector<std::string> lines() {
    MutexLock lock(&mu_);
    return lines_;
  }

  static RingSettings RankOne() {
    RingSettings settings;
    settings.job = "demo";
    settings.rank = 1;
    settings.size = 2;
    return settings;
  }
  // Plays the handshakes of rank 1 on both sides.
  void LinkUp() {
    EXPECT_EQ(LinkFromZero(), absl::OkStatus());
    EXPECT_EQ(LinkToZero(), absl::OkStatus());
  }
  absl::Status LinkFromZero() {
    from_zero_ = listening_.Accept();
    RingAcceptor acceptor(RankOne(), "the-token", MakeNonce());
    return from_zero_.Shake(&acceptor);
  }
  absl::Status LinkToZero() {
    to_zero_ = RawSocket::Connect(address_);
    RingConnector connector(RankOne(), "the-token", MakeNonce());
    return to_zero_.Shake(&connector);
  }
  RawSocket& from_zero() { return from_zero_; }
  RawSocket& to_zero() { return to_zero_; }

 private:
  RealClock clock_;
  ThreadExecutor executor_{{.name = "rank 0"}, &clock_};
  Mutex mu_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mu_);
  std::string listens_at_;
  std::string address_;
  RawSocket listening_{-1};
  RawSocket from_zero_{-1};
  RawSocket to_zero_{-1};
  std::unique_ptr<TcpRing> ring_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_RPC_RING_RANK_ZERO_H_
