#include "cluster/scored_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace shoal {

absl::StatusOr<size_t> ScoredRows::Known(const EvalResult& result) const {
  if (result.epoch != number_ || result.piece >= pieces_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "scores of evaluation ", result.epoch, ", piece ", result.piece,
        ", where evaluation ", number_, " has ", pieces_.size(), " pieces"));
  }
  const std::string name = absl::StrCat("evaluation piece ", result.piece);
  const uint64_t size = result.labels.size();
  if (result.logits.size() != size * num_scores_) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", result.logits.size(), " scores for ", size,
                     " labels, not ", num_scores_, " each"));
  }
  const Piece& piece = pieces_[result.piece];
  if (result.offset > piece.rows) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": scores from row ", result.offset,
                     " on, where those from row ", piece.rows, " are missing"));
  }
  const uint64_t end = result.offset + size;
  if ((piece.complete && end > piece.rows) ||
      (!result.more && end < piece.rows)) {
    return absl::DataLossError(absl::StrCat(
        name, ": ", end, " rows were scored where another worker scored ",
        piece.rows, ": the file changed"));
  }
  return static_cast<size_t>(
      std::min<uint64_t>(size, piece.rows - result.offset));
}

void ScoredRows::Take(const EvalResult& result, int worker) {
  SHOAL_DCHECK(Known(result).ok());
  Piece& piece = pieces_[result.piece];
  const uint64_t end = result.offset + result.labels.size();
  if (end > piece.rows) {
    rows_ += end - piece.rows;
    rows_of_worker_[worker] += end - piece.rows;
    piece.rows = end;
  }
  if (!result.more && !piece.complete) {
    piece.complete = true;
    ++complete_;
  }
}

}  // namespace shoal
