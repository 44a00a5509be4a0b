#ifndef SHOAL_TESTS_CONFORMANCE_GLOO_COLLECTIVE_H_
#define SHOAL_TESTS_CONFORMANCE_GLOO_COLLECTIVE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "base/executor.h"
#include "core/collective.h"

namespace shoal {

// Collectives over Gloo, on loopback, to run the conformance suite: one for
// each executor. Gloo itself does not notice that ranks differ: the ranks
// exchange what they say before each operation, in a round of its own. No
// deadlines, and a lost rank is not noticed. The order of additions is Gloo's.
// Empty if Gloo cannot make the connections.
std::vector<std::unique_ptr<Collective>> MakeGlooCollectives(
    uint64_t max_part_bytes, absl::Span<Executor* const> executors);

}  // namespace shoal

#endif  // SHOAL_TESTS_CONFORMANCE_GLOO_COLLECTIVE_H_
