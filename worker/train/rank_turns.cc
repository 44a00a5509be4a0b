#include "worker/train/rank_turns.h"

#include <algorithm>

namespace shoal {

RankTurns::Turn RankTurns::next() const {
  if (stopped()) return Turn::kStop;
  if (step_ == Step::kHere && !early()) return Turn::kBatch;
  if (lane_ended() || hold() != 0) return Turn::kNoBatch;
  return Turn::kWait;
}

void RankTurns::Hold(uint64_t number) { hold_ = std::max(hold_, number); }

void RankTurns::Resume(uint64_t number) {
  released_ = std::max(released_, number);
}

void RankTurns::OnRound(uint64_t hold, bool lanes_ended) {
  agreed_ = std::max(agreed_, hold);
  if (lanes_ended) ++lanes_closed_;
}

}  // namespace shoal
