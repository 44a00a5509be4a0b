#ifndef SHOAL_CORE_LOST_RANK_H_
#define SHOAL_CORE_LOST_RANK_H_

#include "absl/status/status.h"

namespace shoal {

// The rank at fault, as a part of an error of a Collective: the message names
// the rank for people, and programs do not read messages.

// The error with the rank. REQUIRES: !status.ok().
absl::Status WithLostRank(absl::Status status, int rank);
// The rank of WithLostRank; -1 if the error has none. Any status may come.
int LostRankOf(const absl::Status& status);

}  // namespace shoal

#endif  // SHOAL_CORE_LOST_RANK_H_
