#include "bench/compare/bare_stream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr absl::Duration kWarmUp = absl::Milliseconds(500);
constexpr absl::Duration kConnectTimeout = absl::Seconds(5);

absl::Status Failed(absl::string_view what) {
  const int error = errno;
  const std::string message = absl::StrCat(what, ": ", strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EPERM || error == EACCES) {
    return absl::PermissionDeniedError(message);
  }
  return absl::UnavailableError(message);
}

// A descriptor that is closed with the object.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { Reset(-1); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  void Reset(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::StatusOr<sockaddr_in> Listen(const std::string& address, Fd* listener) {
  listener->Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                         0));
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  socklen_t size = sizeof(place);
  if (inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(address, " is no address"));
  }
  auto* const any = reinterpret_cast<sockaddr*>(&place);
  if (listener->get() < 0 || bind(listener->get(), any, size) != 0 ||
      listen(listener->get(), 1) != 0 ||
      getsockname(listener->get(), any, &size) != 0) {
    return Failed(absl::StrCat("cannot listen on ", address));
  }
  return place;
}

absl::Status Connect(const sockaddr_in& place, Fd* sender) {
  sender->Reset(
      socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (sender->get() < 0) return Failed("cannot make a socket");
  if (connect(sender->get(), reinterpret_cast<const sockaddr*>(&place),
              sizeof(place)) != 0 &&
      errno != EINPROGRESS) {
    return Failed("cannot connect a stream");
  }
  return absl::OkStatus();
}

absl::Status Accept(const Fd& listener, Fd* receiver) {
  pollfd waits = {listener.get(), POLLIN, 0};
  if (poll(&waits, 1,
           static_cast<int>(absl::ToInt64Milliseconds(kConnectTimeout))) <= 0) {
    return absl::DeadlineExceededError(
        absl::StrCat("a stream between two hosts was not connected within ",
                     absl::FormatDuration(kConnectTimeout)));
  }
  receiver->Reset(
      accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  return receiver->get() < 0 ? Failed("cannot accept a stream")
                             : absl::OkStatus();
}

// Sends and receives as fast as it goes.
absl::StatusOr<double> Carry(const Fd& sender, const Fd& receiver,
                             absl::Duration window) {
  const RealClock clock;
  std::vector<char> block(256 << 10), got(1 << 20);
  const absl::Time start = clock.Now();
  absl::Time begin = start;
  uint64_t bytes = 0;
  for (;;) {
    pollfd waits[] = {{sender.get(), POLLOUT, 0}, {receiver.get(), POLLIN, 0}};
    poll(waits, 2, 100);
    if (waits[0].revents != 0 &&
        send(sender.get(), block.data(), block.size(), MSG_NOSIGNAL) < 0 &&
        errno != EAGAIN && errno != EINTR) {
      return Failed("a stream between two hosts broke");
    }
    ssize_t size = 0;
    if (waits[1].revents != 0) {
      size = read(receiver.get(), got.data(), got.size());
    }
    const absl::Time now = clock.Now();
    if (now < start + kWarmUp) {
      begin = now;
    } else if (size > 0) {
      bytes += static_cast<uint64_t>(size);
    }
    if (now - begin >= window) {
      return 8 * static_cast<double>(bytes) /
             absl::ToDoubleSeconds(now - begin);
    }
  }
}

}  // namespace

absl::Status InNamespace(const std::string& name,
                         absl::FunctionRef<absl::Status()> work) {
  if (name.empty()) return work();
  const Fd own(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  const std::string path = absl::StrCat("/run/netns/", name);
  const Fd there(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (own.get() < 0 || there.get() < 0 || setns(there.get(), CLONE_NEWNET)) {
    return Failed(absl::StrCat("cannot enter the namespace ", path));
  }
  absl::Status status = work();
  if (setns(own.get(), CLONE_NEWNET) != 0) {
    return Failed("cannot leave a namespace");
  }
  return status;
}

absl::StatusOr<double> MeasureStream(const std::string& from,
                                     const std::string& to,
                                     const std::string& address,
                                     absl::Duration window) {
  Fd listener, sender, receiver;
  sockaddr_in place = {};
  SHOAL_RETURN_IF_ERROR(InNamespace(to, [&]() -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(place, Listen(address, &listener));
    return absl::OkStatus();
  }));
  SHOAL_RETURN_IF_ERROR(
      InNamespace(from, [&] { return Connect(place, &sender); }));
  SHOAL_RETURN_IF_ERROR(Accept(listener, &receiver));
  return Carry(sender, receiver, window);
}

}  // namespace shoal
