#ifndef SHOAL_TESTS_RPC_LOOPBACK_H_
#define SHOAL_TESTS_RPC_LOOPBACK_H_

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "ps/shard/parameter_shard.h"
#include "rpc/client_loop.h"
#include "rpc/parameter_client.h"
#include "rpc/server.h"

namespace shoal {

// A shard of one table (ids [0, 1M), dim 4) and one dense block, both SGD of
// rate 1 from zeros, so that a value is minus the sum of its gradients.
inline ParameterShardOptions OneShard(int64_t block_size = 16) {
  OptimizerSpec sgd;
  sgd.kind = OptimizerKind::kSgd;
  sgd.learning_rate = 1;
  ParameterShardOptions options;
  options.job = "job";
  options.model.tables = {{"ids", 1'000'000, {{"v", 4, sgd, {}}}}};
  options.model.dense = {{"w", {block_size}, sgd, {}}};
  options.map.tables = {{PartitionKind::kFixedSize, 1'000'000, 1}};
  options.map.blocks = {{0, 0, block_size, 0, 0}};
  options.life = {1, 1};
  return options;
}

inline CallIdentity OneShardIdentity() { return {"job", {1, 2}, {1, 1}, 1}; }

// A server on a free port of this machine, with executors of its own.
class LoopbackServer {
 public:
  explicit LoopbackServer(RpcServerOptions options = {},
                          ClusterService* cluster = nullptr) {
    auto server = RpcServer::Start(std::move(options), cluster, &executor_);
    EXPECT_TRUE(server.ok()) << server.status();
    if (server.ok()) server_ = *std::move(server);
  }

  void AttachShard(ParameterShardOptions options) {
    auto shard = ParameterShard::Create(std::move(options), &executor_);
    ASSERT_TRUE(shard.ok()) << shard.status();
    shard_ = *std::move(shard);
    shard_->ServeUntil(absl::InfiniteFuture());
    server_->AttachParameterService(shard_.get());
  }

  RpcServer* operator->() { return server_.get(); }
  ParameterShard* shard() { return shard_.get(); }
  ThreadExecutor* executor() { return &executor_; }
  void Stop() { server_.reset(); }

 private:
  RealClock clock_;
  ThreadExecutor executor_{{.name = "server", .threads = 2}, &clock_};
  std::unique_ptr<ParameterShard> shard_;
  std::unique_ptr<RpcServer> server_;
};

// What a process needs to make clients.
struct LoopbackProcess {
  RealClock clock;
  ThreadExecutor executor{{.name = "client", .threads = 1}, &clock};
  ClientLoop loop;
};

inline ChannelOptions ChannelTo(const std::string& address,
                                std::string token = "") {
  ChannelOptions options;
  options.address = address;
  options.peer = "ps 0";
  options.token = std::move(token);
  return options;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_RPC_LOOPBACK_H_
