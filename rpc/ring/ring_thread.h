#ifndef SHOAL_RPC_RING_RING_THREAD_H_
#define SHOAL_RPC_RING_RING_THREAD_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "rpc/ring/ring_door.h"
#include "rpc/ring/ring_links.h"
#include "rpc/ring/ring_linker.h"
#include "rpc/ring/ring_operations.h"
#include "rpc/ring/ring_settings.h"
#include "rpc/tcp_ring.h"

namespace shoal {

// The thread of a TcpRing: it waits for calls, for the two connections and for
// deadlines, and does everything else in between. Thread-safe.
class RingThread {
 public:
  RingThread(TcpRingOptions options, RingSettings settings,
             std::unique_ptr<RingLinker> linker,
             std::unique_ptr<ListeningSockets> sockets, Executor* executor);
  // Ends all calls, tells the neighbours, and joins the thread.
  ~RingThread();

  // INTERNAL: the system gives no descriptor. REQUIRES: called once.
  absl::Status Start();

  const RingSettings& settings() const { return settings_; }
  void Submit(RingCall call, absl::Duration timeout);
  uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  // The rest belongs to the thread.
  void Run();
  void TellBoard();
  // Waits for the neighbours, unless the ring ends before. False: it is being
  // destroyed.
  bool FindNeighbours();
  // How a ring ends whose neighbours were not found.
  absl::StatusCode NotLinked() const;
  void ClearWake();
  void Wait();
  // False: the ring is being destroyed.
  bool TakeCalls();
  void MoveData();
  // One read from the rank before. True: read again.
  bool ReadPrevious(bool* paused);
  // The connection to the next rank has something to say, or broke because of
  // `broken`.
  void OnNext(const absl::Status& broken);
  void OnLinkEnd();
  // True if the deadline of a call has come, which ends the ring.
  bool CheckDeadlines();
  void Post();
  // The ring is over, because of `rank`. The first reason stays.
  void Fail(int rank, const std::string& text,
            absl::StatusCode code = absl::StatusCode::kUnavailable);
  void End(int rank, const std::string& text, std::optional<uint64_t> late,
           const absl::Status& its_status,
           absl::StatusCode code = absl::StatusCode::kUnavailable);
  void Leave();
  absl::Time Now() const { return executor_->Now(); }

  const TcpRingOptions options_;
  const RingSettings settings_;
  Executor* const executor_;
  std::unique_ptr<RingLinker> linker_;  // null: not needed any more
  RingDoor door_;                       // open once the neighbours are there
  RingOperations operations_;
  std::unique_ptr<RingLinks> links_;  // null: alone, or not linked
  int epoll_fd_ = -1;
  int wake_fd_ = -1;
  absl::Status ended_;     // OK: the ring works
  absl::Status why_next_;  // the connection to the next rank broke
  bool more_ = false;      // there is data to read without waiting
  std::atomic<uint64_t> bytes_sent_{0};
  std::thread thread_;

  Mutex mu_;
  std::vector<RingCall> inbox_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_THREAD_H_
