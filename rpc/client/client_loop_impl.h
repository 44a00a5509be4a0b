#ifndef SHOAL_RPC_CLIENT_CLIENT_LOOP_IMPL_H_
#define SHOAL_RPC_CLIENT_CLIENT_LOOP_IMPL_H_

#include <grpcpp/completion_queue.h>

#include <thread>
#include <vector>

#include "rpc/client_loop.h"

namespace shoal {

struct ClientLoop::Impl {
  grpc::CompletionQueue queue;
  std::vector<std::thread> threads;
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLIENT_CLIENT_LOOP_IMPL_H_
