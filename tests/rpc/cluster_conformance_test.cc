// The gRPC client, with a server and a Coordinator behind it over real sockets,
// does what every ClusterService does.
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"
#include "rpc/server.h"
#include "tests/conformance/cluster_service_conformance.h"

namespace shoal {
namespace {

constexpr char kClusterToken[] = "a-token-of-the-test";

class GrpcClusterHarness final : public ClusterServiceHarness {
 public:
  static std::unique_ptr<ClusterServiceHarness> Make(
      CoordinatorOptions options) {
    auto harness = std::make_unique<GrpcClusterHarness>(std::move(options));
    RpcServerOptions server_options;
    server_options.token = kClusterToken;
    auto server = RpcServer::Start(server_options, harness->coordinator_.get(),
                                   &harness->server_executor_);
    if (!server.ok()) {
      ADD_FAILURE() << server.status();
      return nullptr;
    }
    harness->server_ = *std::move(server);
    ClusterClientOptions client_options;
    client_options.channel.address = harness->server_->address();
    client_options.channel.peer = "ps 0";
    client_options.channel.token = kClusterToken;
    harness->client_ = std::make_unique<ClusterClient>(
        client_options, &harness->loop_, &harness->client_executor_,
        &harness->probes_);
    return harness;
  }
  explicit GrpcClusterHarness(CoordinatorOptions options)
      : coordinator_(std::move(options)) {}

  ClusterService& service() override { return *client_; }
  void StopCoordinator() override {
    server_.reset();
    coordinator_.Stop();
  }

 private:
  RealClock clock_;
  ThreadExecutor server_executor_{{.name = "server", .threads = 2}, &clock_};
  ThreadExecutor client_executor_{{.name = "client"}, &clock_};
  ThreadExecutor probes_{{.name = "probes"}, &clock_};
  CoordinatorOnStrand coordinator_;
  std::unique_ptr<RpcServer> server_;
  ClientLoop loop_;
  std::unique_ptr<ClusterClient> client_;
};

INSTANTIATE_TEST_SUITE_P(Grpc, ClusterServiceConformance,
                         testing::Values(ClusterServiceImplementation{
                             "client", GrpcClusterHarness::Make}),
                         ClusterImplementationName);

}  // namespace
}  // namespace shoal
