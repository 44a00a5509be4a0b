#ifndef SHOAL_TESTS_HARNESS_SIMULATED_CALLS_H_
#define SHOAL_TESTS_HARNESS_SIMULATED_CALLS_H_

#include <memory>
#include <string>

#include "core/parameter_service.h"
#include "tests/harness/simulated_network.h"

namespace shoal {

// A shard as a process reaches it over the simulated network: what
// ParameterClient is over gRPC. A push travels as the bytes of the wire, in
// chunks where it is large, and is put together by the server's own
// ChunkAssembler; pulls are copied. The end cancels the calls in progress; what
// is on its way arrives all the same.
class SimulatedCalls final : public ParameterService {
 public:
  // Calls from `from` to who listens at `address`; each `done` runs on
  // `executor`. `origin` is the job that the caller takes part in, by the
  // simulator's own book. All outlive it.
  SimulatedCalls(SimulatedNetwork* network, SimulatedExecutor* executor,
                 const SimulatedProcess& from, std::string address,
                 std::string origin);
  ~SimulatedCalls() override;

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override;
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override;
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override;

 private:
  class Link;
  const std::shared_ptr<Link> link_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SIMULATED_CALLS_H_
