#ifndef SHOAL_CLUSTER_PIECE_FACTS_H_
#define SHOAL_CLUSTER_PIECE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "cluster/job_report.h"
#include "core/lease.h"
#include "core/registration.h"
#include "core/session_messages.h"

namespace shoal {

// The pieces of one purpose, and the facts that workers report once they have
// read a piece whole. A piece is open until its first report. The facts are a
// function of the piece's bytes, so all reports on a piece agree.
// Thread-compatible.
class PieceFacts {
 public:
  PieceFacts() = default;
  // `kind` is "training" or "evaluation"; pieces[i].index is i.
  PieceFacts(std::string kind, std::vector<SourceInfo> sources,
             std::vector<Piece> pieces, uint32_t batch_size);

  // True if this is the piece's first report, false if it repeats the first.
  // INVALID_ARGUMENT: no such piece, or counts that do not fit together.
  // DATA_LOSS: the report differs from the first or from the checkpoint: the
  // file changed.
  absl::StatusOr<bool> Add(const PieceReport& report);
  // Sets the facts of piece i that a checkpoint holds. INVALID_ARGUMENT: counts
  // that do not fit together. REQUIRES: not known(i).
  absl::Status Restore(uint32_t i, const SavedPieceFacts& facts);

  uint32_t size() const { return static_cast<uint32_t>(pieces_.size()); }
  const Piece& piece(uint32_t i) const { return pieces_[i]; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  bool known(uint32_t i) const { return facts_[i].has_value(); }
  // REQUIRES, below: known(i).
  uint64_t examples(uint32_t i) const { return facts_[i]->examples; }
  uint64_t bad_rows(uint32_t i) const { return facts_[i]->bad_rows; }
  uint32_t batches(uint32_t i) const { return facts_[i]->batches; }
  const SavedPieceFacts& facts(uint32_t i) const { return *facts_[i]; }

  bool all_known() const { return known_ == size(); }
  uint32_t num_known() const { return known_; }
  // Sums over the known pieces. Each piece counts once, however many epochs
  // there are.
  uint64_t examples() const { return examples_; }
  uint64_t bad_rows() const { return bad_rows_; }
  // The files, and what is known of their rows and batches.
  DataReport report() const;
  // The first bad rows that were reported, each with its place and reason; at
  // most kNamedBadRows.
  const std::vector<std::string>& named_bad_rows() const {
    return named_bad_rows_;
  }
  uint64_t bytes() const { return bytes_; }  // bytes of all pieces

  // "training piece 3 (day_0.txt, bytes 0 to 65536)".
  std::string Name(uint32_t i) const;

 private:
  absl::Status CheckCounts(uint32_t i, const SavedPieceFacts& facts) const;
  void Learn(uint32_t i, const SavedPieceFacts& facts);
  void NameBadRow(std::string row);
  // DATA_LOSS, unless the second report on a piece says what the first said.
  absl::Status CheckSame(uint32_t i, const SavedPieceFacts& now) const;

  std::string kind_;
  std::vector<SourceInfo> sources_;
  std::vector<Piece> pieces_;
  std::vector<std::optional<SavedPieceFacts>> facts_;
  uint32_t batch_size_ = 1;
  uint32_t known_ = 0;
  uint64_t examples_ = 0;
  uint64_t bad_rows_ = 0;
  uint64_t batches_ = 0;
  uint64_t short_batches_ = 0;
  uint64_t known_bytes_ = 0;
  uint64_t bytes_ = 0;
  std::vector<std::string> named_bad_rows_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_PIECE_FACTS_H_
