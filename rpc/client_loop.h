#ifndef SHOAL_RPC_CLIENT_LOOP_H_
#define SHOAL_RPC_CLIENT_LOOP_H_

#include <memory>

namespace shoal {

// The threads that take the replies for a process's gRPC clients. One thread is
// enough for most processes, because it only decodes and posts. Thread-safe.
class ClientLoop {
 public:
  explicit ClientLoop(int threads = 1);
  // REQUIRES: every client on the loop is destroyed, and the caller is not a
  // thread of the loop.
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
