#ifndef SHOAL_PARTITIONER_GREEDY_H_
#define SHOAL_PARTITIONER_GREEDY_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"

namespace shoal {

// Places items in the given order, each on the shard with the fewest bytes so
// far, and on the first such shard if there are several (TensorFlow's
// GreedyLoadBalancingStrategy with byte_size_load_fn). bytes[i] is the size of
// item i. (*load)[s] is the load of shard s in bytes, to which the items are
// added. Returns the shard of each item. O(items × shards). REQUIRES:
// !load->empty().
inline std::vector<int> PlaceGreedily(absl::Span<const int64_t> bytes,
                                      std::vector<int64_t>* load) {
  SHOAL_DCHECK(!load->empty());
  std::vector<int> shard_of;
  shard_of.reserve(bytes.size());
  for (const int64_t size : bytes) {
    const auto least = std::min_element(load->begin(), load->end());
    *least += size;
    shard_of.push_back(static_cast<int>(least - load->begin()));
  }
  return shard_of;
}

}  // namespace shoal

#endif  // SHOAL_PARTITIONER_GREEDY_H_
