#include "cluster/piece_facts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/status_macros.h"

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
  const uint32_t i = report.piece;
  if (i >= size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "report on ", kind_, " piece ", i, ", but there are only ", size()));
  }
  const SavedPieceFacts facts{report.examples, report.bad_rows, report.batches,
                              report.crc32c};
  SHOAL_RETURN_IF_ERROR(CheckCounts(i, facts));
  if (known(i)) {
    SHOAL_RETURN_IF_ERROR(CheckSame(i, facts));
    facts_[i]->crc32c = facts.crc32c;
    return false;
  }
  Learn(i, facts);
  if (facts.bad_rows == 0) return true;
  if (report.first_error.empty()) NameBadRow(Name(i));
  for (const absl::string_view row :
       absl::StrSplit(report.first_error, '\n', absl::SkipEmpty())) {
    NameBadRow(std::string(row));
  }
  return true;
}

absl::Status PieceFacts::Restore(uint32_t i, const SavedPieceFacts& facts) {
  SHOAL_DCHECK(!known(i));
  SHOAL_RETURN_IF_ERROR(CheckCounts(i, facts));
  Learn(i, facts);
  if (facts.bad_rows != 0 && named_bad_rows_.empty()) NameBadRow(Name(i));
  return absl::OkStatus();
}

void PieceFacts::NameBadRow(std::string row) {
  if (named_bad_rows_.size() < kNamedBadRows) {
    named_bad_rows_.push_back(std::move(row));
  }
}

absl::Status PieceFacts::CheckCounts(uint32_t i,
                                     const SavedPieceFacts& facts) const {
  const uint64_t batches =
      facts.examples / batch_size_ + (facts.examples % batch_size_ != 0);
  if (facts.batches == batches) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      Name(i), ": ", facts.examples, " examples in batches of ", batch_size_,
      " are ", batches, " batches, not ", facts.batches));
}

void PieceFacts::Learn(uint32_t i, const SavedPieceFacts& facts) {
  facts_[i] = facts;
  ++known_;
  known_bytes_ += pieces_[i].end - pieces_[i].begin;
  examples_ += facts.examples;
  bad_rows_ += facts.bad_rows;
  batches_ += facts.batches;
  short_batches_ += facts.examples % batch_size_ != 0;
}

DataReport PieceFacts::report() const {
  DataReport report;
  report.files = sources_.size();
  report.bytes = bytes_;
  report.all_read = all_known();
  report.read_bytes = known_bytes_;
  report.rows = examples_;
  report.batches = batches_;
  report.short_batches = short_batches_;
  report.batch_size = batch_size_;
  return report;
}

absl::Status PieceFacts::CheckSame(uint32_t i,
                                   const SavedPieceFacts& now) const {
  const SavedPieceFacts& first = *facts_[i];
  if (now.examples != first.examples || now.bad_rows != first.bad_rows) {
    return absl::DataLossError(absl::StrCat(
        Name(i), " had ", first.examples, " examples and ", first.bad_rows,
        " bad rows when it was first read, and now ", now.examples, " and ",
        now.bad_rows, ": the file changed"));
  }
  if (first.crc32c.has_value() && now.crc32c != first.crc32c) {
    return absl::DataLossError(absl::StrCat(
        Name(i), " has other bytes than when it was first read (CRC-32C ",
        absl::Hex(*first.crc32c, absl::kZeroPad8), " then, ",
        absl::Hex(*now.crc32c, absl::kZeroPad8), " now): the file changed"));
  }
  return absl::OkStatus();
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
