#include "rpc/ring/ring_links.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace shoal {
namespace {

// The events of epoll as numbers: they are an enum of C.
constexpr uint32_t kIn = EPOLLIN;
constexpr uint32_t kOut = EPOLLOUT;

ssize_t ReadFrom(int fd, iovec* ranges, int count) {
  const ssize_t got = readv(fd, ranges, count);
  return got < 0 ? -errno : got;
}

ssize_t WriteTo(int fd, iovec* ranges, int count) {
  msghdr message = {};
  message.msg_iov = ranges;
  message.msg_iovlen = static_cast<size_t>(count);
  const ssize_t wrote = sendmsg(fd, &message, MSG_NOSIGNAL);
  return wrote < 0 ? -errno : wrote;
}

}  // namespace

RingLinks::RingLinks(RingSettings settings, int previous_fd, int next_fd,
                     int epoll_fd, RingOperations* operations)
    : epoll_fd_(epoll_fd),
      reader_(settings, operations),
      next_reader_(settings, nullptr),
      writer_(operations),
      back_writer_(nullptr) {
  previous_.fd = previous_fd;
  next_.fd = next_fd;
  Watch(/*paused=*/false, /*write_blocked=*/false);
}

RingLinks::~RingLinks() {
  Close(&previous_);
  Close(&next_);
}

void RingLinks::Close(Link* link) {
  if (link->fd >= 0) close(link->fd);  // which also leaves the epoll set
  *link = Link();
}

void RingLinks::SetEvents(Link* link, uint64_t key, uint32_t events) {
  if (link->fd < 0 || link->events == events) return;
  epoll_event event = {};
  event.events = events;
  event.data.u64 = key;
  // A link that waits for nothing is not in the set, which would report its end
  // again and again.
  const int change = events == 0          ? EPOLL_CTL_DEL
                     : link->events == 0 ? EPOLL_CTL_ADD
                                         : EPOLL_CTL_MOD;
  epoll_ctl(epoll_fd_, change, link->fd, &event);
  link->events = events;
}

void RingLinks::Watch(bool paused, bool write_blocked) {
  const uint32_t out = write_blocked ? kOut : 0;
  if (finished_) {
    SetEvents(&previous_, kPrevious, back_writer_.empty() ? 0 : kOut);
    SetEvents(&next_, kNext, out);
    return;
  }
  SetEvents(&previous_, kPrevious, paused ? 0 : kIn);
  SetEvents(&next_, kNext, kIn | out);
}

absl::StatusOr<bool> RingLinks::Write() {
  if (finished_) {
    WriteRest(&previous_, &back_writer_);
    return WriteRest(&next_, &writer_);
  }
  return writer_.Write([this](iovec* ranges, int count) {
    return WriteTo(next_.fd, ranges, count);
  });
}

absl::StatusOr<RingReader::Result> RingLinks::Read() {
  return reader_.Read([this](iovec* ranges, int count) {
    return ReadFrom(previous_.fd, ranges, count);
  });
}

absl::StatusOr<RingReader::Result> RingLinks::ReadNext() {
  return next_reader_.Read([this](iovec* ranges, int count) {
    return ReadFrom(next_.fd, ranges, count);
  });
}

void RingLinks::Finish(const std::string& failure) {
  finished_ = true;
  writer_.Finish(failure);
  back_writer_.Finish(failure);
}

bool RingLinks::WriteRest(Link* link, RingWriter* writer) {
  if (link->fd < 0 || writer->empty()) return true;
  const absl::StatusOr<bool> all =
      writer->Write([link](iovec* ranges, int count) {
        return WriteTo(link->fd, ranges, count);
      });
  if (!all.ok()) {
    Close(link);
    return true;
  }
  // The other side can read to the end, whatever follows here.
  if (*all) shutdown(link->fd, SHUT_WR);
  return *all;
}

void RingLinks::Flush(absl::Duration patience) {
  const auto end = std::chrono::steady_clock::now() +
                   absl::ToChronoMilliseconds(patience);
  while (true) {
    const bool back = WriteRest(&previous_, &back_writer_);
    const bool next = WriteRest(&next_, &writer_);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if ((back && next) || left.count() <= 0) return;
    pollfd set[] = {{back ? -1 : previous_.fd, POLLOUT, 0},
                    {next ? -1 : next_.fd, POLLOUT, 0}};
    poll(set, 2, static_cast<int>(left.count()));
  }
}

}  // namespace shoal
