#include "rpc/client_loop.h"

#include <pthread.h>

#include <algorithm>

#include "rpc/client/client_loop_impl.h"
#include "rpc/transport/completion_tag.h"

namespace shoal {

ClientLoop::ClientLoop(int threads) : impl_(std::make_unique<Impl>()) {
  for (int i = 0; i < std::max(1, threads); ++i) {
    impl_->threads.emplace_back(
        [queue = &impl_->queue] { CompletionTag::RunQueue(queue); });
    pthread_setname_np(impl_->threads.back().native_handle(), "rpc client");
  }
}

ClientLoop::~ClientLoop() {
  impl_->queue.Shutdown();
  for (std::thread& thread : impl_->threads) thread.join();
}

}  // namespace shoal
