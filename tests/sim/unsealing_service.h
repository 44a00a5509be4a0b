#ifndef SHOAL_TESTS_SIM_UNSEALING_SERVICE_H_
#define SHOAL_TESTS_SIM_UNSEALING_SERVICE_H_

#include <functional>
#include <memory>
#include <utility>

#include "core/cluster_service.h"
#include "ps/shard/parameter_shard.h"
#include "tests/harness/fake_cluster.h"

namespace shoal {

// A planted bug: a wrapper of the coordinator for a PS that does not stay held.
// The shard is released as soon as it has said that it is held, so it takes
// pushes that come before it is written. Belongs to the simulator's thread.
class UnsealingService : public ForwardingCluster {
 public:
  // `cluster` outlives it. `shard` is asked at each Hold.
  UnsealingService(ClusterService* cluster,
                   std::function<ParameterShard*()> shard)
      : ForwardingCluster(cluster), shard_(std::move(shard)) {}

  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override;

 private:
  const std::function<ParameterShard*()> shard_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_UNSEALING_SERVICE_H_
