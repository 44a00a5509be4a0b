#ifndef SHOAL_JOB_OWN_REPLICA_H_
#define SHOAL_JOB_OWN_REPLICA_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "base/executor.h"
#include "core/parameter_service.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// The PS of a process, as the worker of the same process calls it. The worker
// may have its first batch before the PS has made or loaded its shard: until
// Attach all calls end with UNAVAILABLE.
//
//   OwnReplica replica(&train);
//   ps_part->Start([&](const PsPart& ps) {
//     replica.Attach(ps.service(), ps.shard());
//   }, …);
//   RetryingParameterService worker(replica.Connect(), …);
//
// Thread-safe.
class OwnReplica {
 public:
  // `executor` gets the completions of calls before Attach, and must outlive
  // this object and its connections. If RetryingParameterService stands before
  // a connection, the attached service has the same executor.
  explicit OwnReplica(Executor* executor);
  ~OwnReplica();

  // Calls go to `service` from now on, which serves `shard`. Call once.
  void Attach(std::shared_ptr<ParameterService> service,
              std::shared_ptr<const ParameterShard> shard);
  // The batches that have a mark in the shard, of the whole job; 0 before
  // Attach.
  uint64_t Marked() const;

  // A service that may outlive this object.
  std::unique_ptr<ParameterService> Connect() const;

 private:
  class Connection;
  struct Place;

  const std::shared_ptr<Place> place_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_OWN_REPLICA_H_
