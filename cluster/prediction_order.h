#ifndef SHOAL_CLUSTER_PREDICTION_ORDER_H_
#define SHOAL_CLUSTER_PREDICTION_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace shoal {

// Puts the scores of an inference, which come from many workers, into the order
// of the input: piece by piece, row by row, the C scores of a row together. The
// piece that is next goes through as it comes; what comes of later ones waits
// in memory. So that little does, pieces are leased in order and only `window`
// ahead (limit()), and none ahead while half of max_scores wait; beyond
// max_scores the job has to end. Thread-compatible.
class PredictionOrder {
 public:
  // Scores that may wait here or be on their way to the file: 256 MiB.
  static constexpr uint64_t kMaxScores = uint64_t{64} << 20;

  PredictionOrder(uint32_t num_pieces, uint32_t window,
                  uint64_t max_scores = kMaxScores);

  // The next rows of a piece, rows × C, which ends with them if `last`.
  // RESOURCE_EXHAUSTED: more than max_scores wait.
  absl::Status Add(uint32_t piece, const std::vector<float>& logits, bool last);

  // What may be written now: those scores then count as on their way.
  std::vector<float> TakeReady();
  void Written(uint64_t scores) { on_their_way_ -= scores; }

  // Every row of every piece was taken.
  bool complete() const { return next_ == pieces_.size(); }
  // Pieces from this one on are not to be leased yet. Never shrinks.
  uint32_t limit();

 private:
  struct Piece {
    std::vector<float> logits;
    bool whole = false;
  };

  const uint32_t window_;
  const uint64_t max_scores_;
  std::vector<Piece> pieces_;
  uint32_t next_ = 0;  // the first piece that has not been taken whole
  uint32_t limit_ = 0;
  uint64_t waiting_ = 0;
  uint64_t on_their_way_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_PREDICTION_ORDER_H_
