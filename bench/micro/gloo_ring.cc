#include "bench/micro/gloo_ring.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <memory>
#include <thread>
#include <utility>

namespace shoal {

std::vector<std::function<void(float*, size_t)>> MakeGlooSums(int size) {
  gloo::rendezvous::HashStore store;
  std::vector<std::shared_ptr<gloo::rendezvous::Context>> contexts;
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    contexts.push_back(std::make_shared<gloo::rendezvous::Context>(r, size));
    threads.emplace_back([&store, context = contexts.back()] {
      gloo::transport::tcp::attr attr;
      attr.hostname = "127.0.0.1";
      std::shared_ptr<gloo::transport::Device> device =
          gloo::transport::tcp::CreateDevice(attr);
      context->connectFullMesh(store, device);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::function<void(float*, size_t)>> sums;
  for (const auto& context : contexts) {
    sums.push_back([context](float* values, size_t length) {
      gloo::AllreduceOptions options(context);
      options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      options.setOutput(values, length);
      options.setReduceFunction(static_cast<void (*)(
          void*, const void*, const void*, size_t)>(&gloo::sum<float>));
      gloo::allreduce(options);
    });
  }
  return sums;
}

}  // namespace shoal
