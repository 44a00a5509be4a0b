#ifndef SHOAL_RPC_SERVER_TRANSFER_WATCH_H_
#define SHOAL_RPC_SERVER_TRANSFER_WATCH_H_

#include <grpcpp/server_context.h>

#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/mutex.h"

namespace shoal {

// Watches the messages that are on their way between clients and the server. If
// a message takes too long, its call is cancelled. So a client that stops in
// the middle of a message does not keep the room for the message. Thread-safe.
class TransferWatch : public std::enable_shared_from_this<TransferWatch> {
 public:
  // `executor` (timers) must outlive the watch.
  TransferWatch(absl::Duration limit, Executor* executor)
      : limit_(limit), executor_(executor) {}

  struct Transfer {
    grpc::ServerContext* context;
    absl::Time until;
  };
  using Entry = std::list<Transfer>::iterator;

  // Starts to watch the call's message. The context must live until Remove.
  Entry Add(grpc::ServerContext* context);
  void Remove(Entry entry);

 private:
  void ScheduleCheck(absl::Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Check();

  const absl::Duration limit_;
  Executor* const executor_;
  Mutex mu_;
  // In the order of `until`. Cancelled transfers, which wait for Remove, come
  // last.
  std::list<Transfer> transfers_ ABSL_GUARDED_BY(mu_);
  bool scheduled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_TRANSFER_WATCH_H_
