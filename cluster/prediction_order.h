#ifndef SHOAL_CLUSTER_PREDICTION_ORDER_H_
#define SHOAL_CLUSTER_PREDICTION_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace shoal {

// Puts the scores of an inference, which come from many workers, into the order
// of the input: piece by piece, row by row, the C scores of a row together.
// Scores of the next piece may be written as they come; scores of later pieces
// wait in memory. To keep these few, pieces are leased in order, at most
// `window` pieces ahead (limit()), and no piece ahead while half of max_scores
// wait. With more than max_scores waiting the job has to end.
// Thread-compatible.
class PredictionOrder {
 public:
  // Scores that may wait here or be on their way to the file: 256 MiB.
  static constexpr uint64_t kMaxScores = uint64_t{64} << 20;

  PredictionOrder(uint32_t num_pieces, uint32_t window,
                  uint64_t max_scores = kMaxScores);

  // Adds the next rows of a piece, rows × C; `last`: the piece ends with them.
  // RESOURCE_EXHAUSTED: more than max_scores wait.
  absl::Status Add(uint32_t piece, const std::vector<float>& logits, bool last);

  // Takes the scores that may be written now. They count as on their way to the
  // file until Written.
  std::vector<float> TakeReady();
  void Written(uint64_t scores) { on_their_way_ -= scores; }

  // True once every row of every piece was taken.
  bool complete() const { return next_ == pieces_.size(); }
  // Index of the first piece that must not be leased yet. Never shrinks.
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
