#include "bench/micro/bare_ring.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace shoal {
namespace {

constexpr size_t kScratchFloats = 32 << 10;

}  // namespace

BareRing::BareRing(int rank, int size, int previous_fd, int next_fd)
    : rank_(rank),
      size_(size),
      previous_fd_(previous_fd),
      next_fd_(next_fd),
      epoll_fd_(epoll_create1(0)),
      scratch_(kScratchFloats) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET;
  epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, previous_fd_, &event);
  event.events = EPOLLOUT | EPOLLET;
  epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, next_fd_, &event);
}

BareRing::~BareRing() {
  for (const int fd : {previous_fd_, next_fd_, epoll_fd_}) close(fd);
}

void BareRing::Exchange(const char* out, size_t out_bytes, char* in,
                        size_t in_bytes, bool add) {
  size_t sent = 0, got = 0, held = 0;  // held: bytes that are not added yet
  while (sent < out_bytes || got < in_bytes) {
    bool moved = false;
    if (sent < out_bytes) {
      const ssize_t n =
          send(next_fd_, out + sent, out_bytes - sent, MSG_NOSIGNAL);
      if (n > 0) sent += static_cast<size_t>(n), moved = true;
    }
    if (got < in_bytes) {
      char* const scratch = reinterpret_cast<char*>(scratch_.data());
      const size_t room = std::min(in_bytes - got,
                                   kScratchFloats * sizeof(float) - held);
      const ssize_t n =
          recv(previous_fd_, add ? scratch + held : in + got, room, 0);
      if (n > 0) got += static_cast<size_t>(n), moved = true;
      if (n > 0 && add) {
        held += static_cast<size_t>(n);
        const size_t floats = held / sizeof(float);
        float* const to = reinterpret_cast<float*>(in + got - held);
        for (size_t i = 0; i < floats; ++i) to[i] += scratch_[i];
        held -= floats * sizeof(float);
        std::copy_n(scratch + floats * sizeof(float), held, scratch);
      }
    }
    epoll_event events[2];
    if (!moved) epoll_wait(epoll_fd_, events, 2, -1);
  }
}

void BareRing::Sum(float* values, size_t length) {
  const size_t n = static_cast<size_t>(size_);
  const auto begin = [&](size_t s) { return values + length * (s % n) / n; };
  const auto bytes = [&](size_t s) {
    const size_t first = s % n;
    return (length * (first + 1) / n - length * first / n) * sizeof(float);
  };
  for (size_t step = 0; step < 2 * (n - 1); ++step) {
    const bool add = step < n - 1;
    const size_t out = static_cast<size_t>(rank_) + 2 * n - step;
    const size_t in = out - 1;
    Exchange(reinterpret_cast<const char*>(begin(out)), bytes(out),
             reinterpret_cast<char*>(begin(in)), bytes(in), add);
  }
}

}  // namespace shoal
