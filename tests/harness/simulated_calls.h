#ifndef SHOAL_TESTS_HARNESS_SIMULATED_CALLS_H_
#define SHOAL_TESTS_HARNESS_SIMULATED_CALLS_H_

#include <memory>
#include <string>

#include "core/parameter_service.h"
#include "tests/harness/simulated_network.h"

namespace shoal {

// A shard behind the simulated network, as ParameterClient is a shard behind
// gRPC. A push travels as the bytes of the wire, in chunks if it is large, and
// the server's ChunkAssembler puts it together. Pulls are copied. The
// destructor cancels the calls in progress; messages that are on their way
// still arrive.
class SimulatedCalls final : public ParameterService {
 public:
  // Calls from `from` to the process that listens at `address`. Each `done`
  // runs on `executor`. `origin` is the caller's job in the simulator's
  // records. All arguments outlive this object.
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
