#ifndef SHOAL_CLUSTER_SCORED_ROWS_H_
#define SHOAL_CLUSTER_SCORED_ROWS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/session_messages.h"

namespace shoal {

// The rows of one evaluation's pieces that have their scores: the first n rows
// of each piece, where n is the most that any lease has sent. The first score
// of a row counts. A score that comes again, from a copy of the lease or from a
// worker that took the place of a dead worker, is ignored. This loses nothing:
// no weight changes during an evaluation, so it is the same score (up to the
// rounding of another processor). So every row counts exactly once, whichever
// workers die meanwhile. Holds no scores. Thread-compatible.
class ScoredRows {
 public:
  ScoredRows() = default;
  // `num_scores`: scores of a row, C.
  ScoredRows(uint32_t number, uint32_t num_pieces, int num_scores)
      : number_(number), num_scores_(num_scores), pieces_(num_pieces) {}

  // Number of rows at the front of the result that have their scores already;
  // the other rows follow the piece's last known row without a gap. Changes
  // nothing. INVALID_ARGUMENT: the result is of another evaluation or an
  // unknown piece, has not C scores for each label, or rows are missing before
  // it. DATA_LOSS: the piece had another number of rows for another worker.
  absl::StatusOr<size_t> Known(const EvalResult& result) const;

  // Counts the rows of `result` that were not known, for the worker that sent
  // it. REQUIRES: Known(result) was OK.
  void Take(const EvalResult& result, int worker);

  uint64_t rows(uint32_t piece) const { return pieces_[piece].rows; }
  // True once all rows of the piece have come; rows(piece) is then its number
  // of rows.
  bool complete(uint32_t piece) const { return pieces_[piece].complete; }
  bool complete() const { return complete_ == pieces_.size(); }

  uint32_t number() const { return number_; }
  uint64_t rows() const { return rows_; }
  // By worker's index; the sum is rows().
  const std::map<int, uint64_t>& rows_of_worker() const {
    return rows_of_worker_;
  }

 private:
  struct Piece {
    uint64_t rows = 0;
    bool complete = false;
  };

  uint32_t number_ = 0;
  int num_scores_ = 1;
  std::vector<Piece> pieces_;
  size_t complete_ = 0;
  uint64_t rows_ = 0;
  std::map<int, uint64_t> rows_of_worker_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_SCORED_ROWS_H_
