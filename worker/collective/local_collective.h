#ifndef SHOAL_WORKER_COLLECTIVE_LOCAL_COLLECTIVE_H_
#define SHOAL_WORKER_COLLECTIVE_LOCAL_COLLECTIVE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "base/executor.h"
#include "core/collective.h"
#include "core/reduction.h"

namespace shoal {

struct LocalCollectiveOptions {
  uint64_t generation = 1;
  Reduction reduction = Reduction::kFast;
  // Limit on the bytes of one rank's part of an AllGather.
  uint64_t max_part_bytes = uint64_t{1} << 32;
  // Limit on the calls of one rank that are queued.
  int max_queued = 65536;
};

// The Collectives of ranks that are in one process: one rank for each executor,
// which gets the rank's completions and runs its timers. Works on any executor,
// also on simulated ones. The sums have the same bits as TcpRing's with the
// same Reduction. The rank that comes last does an operation's work on its own
// thread, inside its call; other threads of the group never wait for that,
// except in a destructor.
//
//   std::vector<std::unique_ptr<Collective>> ranks =
//       MakeLocalCollectives(options, {&executor0, &executor1});
//
// The executors must outlive the Collectives. A rank whose Collective is
// destroyed has left: the other ranks' operations that it had not called end
// with UNAVAILABLE. REQUIRES: there is an executor; max_queued >= 4096.
std::vector<std::unique_ptr<Collective>> MakeLocalCollectives(
    const LocalCollectiveOptions& options,
    absl::Span<Executor* const> executors);

}  // namespace shoal

#endif  // SHOAL_WORKER_COLLECTIVE_LOCAL_COLLECTIVE_H_
