// The gRPC client, with a server and a ParameterShard behind it over real
// sockets, does what every ParameterService does.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "rpc/client_loop.h"
#include "rpc/parameter_client.h"
#include "rpc/server.h"
#include "tests/conformance/parameter_service_conformance.h"

namespace shoal {
namespace {

constexpr char kToken[] = "a-token-of-the-test";

class GrpcHarness : public ParameterServiceHarness {
 public:
  // `chunk_bytes`: from which size on pushes are chunked and pulls split.
  static std::unique_ptr<ParameterServiceHarness> Make(
      ParameterShardOptions options, uint64_t chunk_bytes) {
    auto harness = std::make_unique<GrpcHarness>();
    auto shard =
        ParameterShard::Create(std::move(options), &harness->server_executor_);
    if (!shard.ok()) {
      ADD_FAILURE() << shard.status();
      return nullptr;
    }
    harness->shard_ = *std::move(shard);
    RpcServerOptions server_options;
    server_options.token = kToken;
    auto server = RpcServer::Start(server_options, /*cluster=*/nullptr,
                                   &harness->server_executor_);
    if (!server.ok()) {
      ADD_FAILURE() << server.status();
      return nullptr;
    }
    harness->server_ = *std::move(server);
    harness->server_->AttachParameterService(harness->shard_.get());
    ParameterClientOptions client_options;
    client_options.channel.address = harness->server_->address();
    client_options.channel.peer = "ps 0";
    client_options.channel.token = kToken;
    client_options.chunk_bytes = chunk_bytes;
    harness->client_ = std::make_unique<ParameterClient>(
        client_options, &harness->loop_, &harness->client_executor_);
    return harness;
  }

  ParameterService& service() override { return *client_; }
  ParameterShard& shard() override { return *shard_; }

 private:
  RealClock clock_;
  ThreadExecutor server_executor_{{.name = "server", .threads = 2}, &clock_};
  ThreadExecutor client_executor_{{.name = "client", .threads = 2}, &clock_};
  std::unique_ptr<ParameterShard> shard_;
  std::unique_ptr<RpcServer> server_;
  ClientLoop loop_;
  std::unique_ptr<ParameterClient> client_;
};

INSTANTIATE_TEST_SUITE_P(Grpc, ParameterServiceConformance,
                         testing::Values(ParameterServiceImplementation{
                             "whole",
                             [](ParameterShardOptions options) {
                               return GrpcHarness::Make(std::move(options),
                                                        16 << 20);
                             }}),
                         ImplementationName);

}  // namespace
}  // namespace shoal
