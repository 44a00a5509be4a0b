#ifndef SHOAL_CLUSTER_PIECE_ORDER_H_
#define SHOAL_CLUSTER_PIECE_ORDER_H_

#include <cstdint>
#include <vector>

namespace shoal {

// The order in which the pieces of one epoch are leased: a permutation of
// 0..num_pieces-1 that depends on (seed, epoch, num_pieces) alone (Fisher and
// Yates over Philox words, the same on every machine and in every version).
std::vector<uint32_t> ShuffledPieces(uint64_t seed, uint32_t epoch,
                                     uint32_t num_pieces);

// The order without shuffling: 0..num_pieces-1.
std::vector<uint32_t> ListedPieces(uint32_t num_pieces);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_PIECE_ORDER_H_
