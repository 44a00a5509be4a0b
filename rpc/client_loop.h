#ifndef SHOAL_RPC_CLIENT_LOOP_H_
#define SHOAL_RPC_CLIENT_LOOP_H_

#include <memory>

namespace shoal {

// The threads on which a process's gRPC clients hear of their replies: one is
// enough for most, since they only decode and post. Thread-safe.
class ClientLoop {
 public:
  explicit ClientLoop(int threads = 1);
  // REQUIRES: every client on it is destroyed. Not on one of its threads.
  ~ClientLoop();
  ClientLoop(const ClientLoop&) = delete;
  ClientLoop& operator=(const ClientLoop&) = delete;

 private:
  friend class Peer;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLIENT_LOOP_H_
