#ifndef SHOAL_TESTS_RPC_RING_RING_RANKS_H_
#define SHOAL_TESTS_RPC_RING_RING_RANKS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "rpc/tcp_ring.h"

namespace shoal {

// The ranks of a TcpRing in this process, on loopback.
class RingRanks {
 public:
  using Change = std::function<void(int rank, TcpRingOptions*)>;

  // `options` are those of all ranks, without rank, size and next. `change`
  // changes those of one rank.
  RingRanks(int size, const TcpRingOptions& options,
            const Change& change = nullptr) {
    std::vector<RingPort> ports;
    for (int r = 0; r < size; ++r) {
      absl::StatusOr<RingPort> port =
          RingPort::Open("127.0.0.1:0", options.token);
      EXPECT_TRUE(port.ok()) << port.status();
      ports.push_back(*std::move(port));
      addresses_.push_back(ports.back().address());
    }
    for (int r = 0; r < size; ++r) {
      TcpRingOptions own = options;
      own.rank = r;
      own.size = size;
      own.next = addresses_[static_cast<size_t>((r + 1) % size)];
      if (change != nullptr) change(r, &own);
      executors_.push_back(std::make_unique<ThreadExecutor>(
          ThreadExecutorOptions{.name = "rank"}, &clock_));
      absl::StatusOr<std::unique_ptr<TcpRing>> ring =
          TcpRing::Start(std::move(ports[static_cast<size_t>(r)]), own,
                         executors_.back().get());
      EXPECT_TRUE(ring.ok()) << ring.status();
      rings_.push_back(*std::move(ring));
    }
  }
  ~RingRanks() { rings_.clear(); }

  TcpRing& rank(int rank) { return *rings_[static_cast<size_t>(rank)]; }
  void Destroy(int rank) { rings_[static_cast<size_t>(rank)] = nullptr; }
  const std::string& address(int rank) const {
    return addresses_[static_cast<size_t>(rank)];
  }

 private:
  RealClock clock_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<ThreadExecutor>> executors_;
  std::vector<std::unique_ptr<TcpRing>> rings_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_RPC_RING_RING_RANKS_H_
