#include "cluster/piece_facts.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace shoal {

PieceFacts::PieceFacts(std::string kind, std::vector<SourceInfo> sources,
                       std::vector<Piece> pieces, uint32_t batch_size)
    : kind_(std::move(kind)),
      sources_(std::move(sources)),
      pieces_(std::move(pieces)),
      facts_(pieces_.size()),
      batch_size_(batch_size) {
  for (const Piece& piece : pieces_) bytes_ += piece.end - piece.begin;
}

absl::StatusOr<bool> PieceFacts::Add(const PieceReport& report) {
  if (report.piece >= size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("report on ", kind_, " piece ", report.piece,
                     ", but there are only ", size()));
  }
  const uint64_t batches =
      report.examples / batch_size_ + (report.examples % batch_size_ != 0);
  if (report.batches != batches) {
    return absl::InvalidArgumentError(absl::StrCat(
        Name(report.piece), ": ", report.examples, " examples in batches of ",
        batch_size_, " are ", batches, " batches, not ", report.batches));
  }
  const Facts facts{report.examples, report.bad_rows, report.batches};
  std::optional<Facts>& known = facts_[report.piece];
  if (known.has_value()) {
    if (*known == facts) return false;
    return absl::DataLossError(absl::StrCat(
        Name(report.piece), " had ", known->examples, " examples and ",
        known->bad_rows, " bad rows at first, and now ", facts.examples,
        " and ", facts.bad_rows, ": the file changed while the job runs"));
  }
  known = facts;
  ++known_;
  examples_ += facts.examples;
  bad_rows_ += facts.bad_rows;
  if (facts.bad_rows != 0 && first_error_.empty()) {
    first_error_ =
        report.first_error.empty() ? Name(report.piece) : report.first_error;
  }
  return true;
}

std::string PieceFacts::Name(uint32_t i) const {
  const Piece& piece = pieces_[i];
  return absl::StrCat(kind_, " piece ", i, " (",
                      piece.source < sources_.size()
                          ? sources_[piece.source].name
                          : absl::StrCat("source ", piece.source),
                      ", bytes ", piece.begin, " to ", piece.end, ")");
}

}  // namespace shoal
