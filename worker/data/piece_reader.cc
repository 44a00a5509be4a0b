#include "worker/data/piece_reader.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/path.h"
#include "base/saturating.h"
#include "base/status_macros.h"
#include "core/label.h"
#include "worker/data/format_table.h"
#include "worker/data/open_examples.h"
#include "worker/data/row_window.h"
#include "worker/data/shuffle.h"

namespace shoal {
namespace {

// The number of rows that are read together if rows are not shuffled: enough to
// amortise the call, few enough that the first batch comes soon. The contents
// of batches do not depend on it.
constexpr uint32_t kUnshuffledRows = 4096;
// The ratio of a window's memory to the memory of its rows. Measured by
// bench/e2e/memory.py.
constexpr uint64_t kWindowPercent = 160;
constexpr uint64_t kMostReserved = 4 << 20;  // features, 48 MiB
constexpr uint64_t kMostRecordBytes = 1 << 30;
constexpr int kMostParseThreads = 256;
constexpr uint32_t kNoWindow = std::numeric_limits<uint32_t>::max();

// Offsets of an ExampleBatch are 32 bits wide.
bool Fits(uint64_t rows, uint64_t field_size) {
  return rows * field_size <= std::numeric_limits<uint32_t>::max();
}

}  // namespace

uint64_t PieceReaderOptions::MemoryBytes(LeasePurpose purpose,
                                         uint64_t piece_rows) const {
  if (!shuffle || purpose != LeasePurpose::kTrain) return 0;
  const uint64_t row =
      ExampleBatch::BytesOfExample(static_cast<uint64_t>(field_size));
  return SaturatingTimes(std::min<uint64_t>(shuffle_rows, piece_rows),
                         kWindowPercent * row) /
         100;
}

absl::Status PieceReaderOptions::Validate() const {
  if (field_size < 1 || field_size > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("field_size is ", field_size, "; not in [1, 65535]"));
  }
  if (num_labels < 2 || num_labels > kMostLabels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "num_labels is ", num_labels, "; not in [2, ", kMostLabels, "]"));
  }
  if (shuffle_rows < 1 || !Fits(shuffle_rows, field_size)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shuffle_rows is ", shuffle_rows,
                     "; it must be positive and below 2^32 with ", field_size,
                     " features a row"));
  }
  if (max_record_bytes == 0 || max_record_bytes > kMostRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_record_bytes is ", max_record_bytes, "; not in [1, ",
                     kMostRecordBytes, "]"));
  }
  if (parse_threads < 1 || parse_threads > kMostParseThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("parse_threads is ", parse_threads, "; not in [1, ",
                     kMostParseThreads, "]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PieceReader>> PieceReader::Open(
    const FileSystem* file_system, const std::string& path, const Lease& lease,
    const PieceReaderOptions& options, std::optional<uint64_t> size,
    const std::string& name) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  const Piece& piece = lease.piece;
  if (lease.batch_size == 0 || !Fits(lease.batch_size, options.field_size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lease ", lease.number, " has batch size ", lease.batch_size));
  }
  if (piece.begin > piece.end) {
    return absl::InvalidArgumentError(absl::StrCat("lease ", lease.number,
                                                   " has bytes [", piece.begin,
                                                   ", ", piece.end, ")"));
  }
  if (lease.offset >= lease.stride) {
    return absl::InvalidArgumentError(
        absl::StrCat("lease ", lease.number, " has offset ", lease.offset,
                     " in a stride of ", lease.stride));
  }
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file,
                         file_system->OpenForRead(path));
  if (size.has_value() && file->size() != *size) {
    return absl::DataLossError(
        absl::StrCat(path, ": has ", file->size(), " bytes, but had ", *size,
                     " when the job began: the file changed"));
  }
  if (file->size() < piece.end) {
    return absl::DataLossError(absl::StrCat(
        path, ": has ", file->size(), " bytes, but piece ", piece.index,
        " ends at byte ", piece.end, ": the file changed"));
  }
  auto format = DetectFormat(*file, options.format);
  if (!format.ok()) return Annotate(format.status(), path);
  if (format->compression != Compression::kNone &&
      (piece.begin != 0 || piece.end != file->size())) {
    return absl::DataLossError(
        absl::StrCat(path, ": is compressed, but piece ", piece.index,
                     " is a part of it: the file changed since the job began"));
  }
  std::unique_ptr<PieceReader> reader(new PieceReader(
      file_system, path, name.empty() ? std::string(Basename(path)) : name,
      std::move(file), *format, lease, options));
  SHOAL_RETURN_IF_ERROR(reader->WithPath(reader->OpenExamples()));
  return reader;
}

PieceReader::PieceReader(const FileSystem* file_system, std::string path,
                         std::string name,
                         std::unique_ptr<RandomAccessFile> file,
                         const FileFormat& format, const Lease& lease,
                         const PieceReaderOptions& options)
    : file_system_(file_system),
      path_(std::move(path)),
      name_(std::move(name)),
      file_(std::move(file), lease.piece.begin, lease.piece.end),
      format_(format),
      lease_(lease),
      options_(options),
      shuffle_(options.shuffle && lease.purpose == LeasePurpose::kTrain),
      window_rows_(shuffle_ ? options.shuffle_rows
                            : std::min(options.shuffle_rows, kUnshuffledRows)) {
  // Reserve memory for the largest window; a feature takes some bytes of the
  // file. Pages that are never touched cost nothing, while growing would copy
  // all of them.
  const uint64_t bytes = lease.piece.end - lease.piece.begin;
  const uint64_t most = std::min(
      {uint64_t{window_rows_} * options.field_size,
       format.compression == Compression::kNone ? bytes / 4 : bytes * 4,
       kMostReserved});
  window_.rows.ids.reserve(most);
  window_.rows.values.reserve(most);
}

absl::Status PieceReader::OpenExamples() {
  ExampleOptions options;
  options.feature_size = options_.feature_size;
  options.field_size = options_.field_size;
  options.num_labels = options_.num_labels;
  options.max_record_bytes = options_.max_record_bytes;
  if (lease_.purpose == LeasePurpose::kInfer) {
    options.any_label = true;
    options.bad_row_label = BadRowLabel(options_.num_labels);
  }
  // To return to a window, its start must be known.
  options.parse_threads = lease_.backwards ? 1 : options_.parse_threads;
  SHOAL_ASSIGN_OR_RETURN(
      examples_, shoal::OpenExamples(&file_, format_, lease_.piece.begin,
                                     lease_.piece.end, options, &cancelled_));
  return absl::OkStatus();
}

absl::StatusOr<bool> PieceReader::Next(Batch* batch) {
  batch->examples.Clear();
  absl::StatusOr<bool> more =
      lease_.backwards ? NextBackwards(batch) : NextForwards(batch);
  if (!more.ok()) return WithPath(more.status());
  // The next piece is read before this reader is gone.
  if (!*more) window_.rows = ExampleBatch();
  return more;
}

const PieceReport& PieceReader::report() const {
  // True also between the last batch and the end.
  SHOAL_DCHECK(lease_.backwards
                   ? back_.surveyed && next_batch_ == 0
                   : window_.last && window_.cursor == window_.order.size());
  return report_;
}

absl::StatusOr<bool> PieceReader::NextForwards(Batch* batch) {
  for (;;) {
    const uint32_t index = next_batch_;
    const bool skip = lease_.Skips(index);
    uint32_t taken = 0;
    while (taken < lease_.batch_size) {
      if (window_.cursor == window_.order.size()) {
        if (window_.last) break;
        SHOAL_RETURN_IF_ERROR(ReadWindow(window_.index++, &bad_));
        window_.cursor = 0;
        window_.last = window_.order.size() < window_rows_;
        continue;
      }
      const uint32_t n = std::min<uint32_t>(
          lease_.batch_size - taken, window_.order.size() - window_.cursor);
      if (!skip) {
        AppendOrdered(window_.cursor, window_.cursor + n, &batch->examples);
      }
      window_.cursor += n;
      taken += n;
    }
    rows_ += taken;
    if (taken == 0) {
      SHOAL_RETURN_IF_ERROR(FinishReport(rows_));
      return false;
    }
    ++next_batch_;
    if (!skip) {
      batch->id = {lease_.epoch, lease_.piece.index, index};
      return true;
    }
  }
}

absl::StatusOr<bool> PieceReader::NextBackwards(Batch* batch) {
  if (!back_.surveyed) SHOAL_RETURN_IF_ERROR(Survey());
  while (next_batch_ > 0 && lease_.Skips(next_batch_ - 1)) --next_batch_;
  if (next_batch_ == 0) return false;
  const uint32_t index = --next_batch_;
  const uint64_t begin = uint64_t{index} * lease_.batch_size;
  const uint64_t end = std::min<uint64_t>(begin + lease_.batch_size, rows_);
  // Go through the windows from the last one, so that each is read again only
  // once.
  for (uint64_t to = end; to > begin;) {
    const uint64_t window = (to - 1) / window_rows_;
    SHOAL_RETURN_IF_ERROR(LoadWindow(static_cast<uint32_t>(window)));
    const uint64_t window_begin = window * window_rows_;
    const uint64_t from = std::max(begin, window_begin);
    back_.joined.Clear();
    AppendOrdered(static_cast<uint32_t>(from - window_begin),
                  static_cast<uint32_t>(to - window_begin), &back_.joined);
    AppendRange(batch->examples, 0, batch->examples.size(), &back_.joined);
    std::swap(back_.joined, batch->examples);
    to = from;
  }
  batch->id = {lease_.epoch, lease_.piece.index, index};
  return true;
}

absl::Status PieceReader::Survey() {
  rows_ = 0;
  do {
    back_.starts.push_back(examples_->position());
    SHOAL_RETURN_IF_ERROR(
        ReadWindow(static_cast<uint32_t>(back_.starts.size() - 1), &bad_));
    back_.crcs.push_back(RowsCrc32c(window_.rows));
    rows_ += window_.order.size();
  } while (window_.order.size() == window_rows_);
  window_.index = static_cast<uint32_t>(back_.starts.size() - 1);
  SHOAL_RETURN_IF_ERROR(FinishReport(rows_));
  next_batch_ = report_.batches;
  back_.surveyed = true;
  return absl::OkStatus();
}

absl::Status PieceReader::ReadWindow(uint32_t window, BadRowSink* bad) {
  window_.rows.Clear();
  SHOAL_RETURN_IF_ERROR(examples_->ReadRows(window_rows_, &window_.rows, bad));
  const auto rows = static_cast<uint32_t>(window_.rows.size());
  if (shuffle_) {
    ShuffledOrder({options_.seed, lease_.epoch, lease_.piece.index, window},
                  rows, &window_.order);
  } else {
    window_.order.resize(rows);
    std::iota(window_.order.begin(), window_.order.end(), 0);
  }
  return absl::OkStatus();
}

absl::Status PieceReader::LoadWindow(uint32_t window) {
  if (window_.index == window) return absl::OkStatus();
  window_.index = kNoWindow;
  examples_->Seek(back_.starts[window]);
  SHOAL_RETURN_IF_ERROR(ReadWindow(window, nullptr));
  const uint64_t expected =
      std::min<uint64_t>(window_rows_, rows_ - uint64_t{window} * window_rows_);
  if (window_.order.size() != expected) {
    return absl::DataLossError(absl::StrCat(
        "piece ", lease_.piece.index, " changed while it was ",
        "read: ", window_.order.size(), " rows where there were ", expected));
  }
  if (RowsCrc32c(window_.rows) != back_.crcs[window]) {
    return absl::DataLossError(
        absl::StrCat("piece ", lease_.piece.index,
                     " changed while it was read: the rows from row ",
                     uint64_t{window} * window_rows_, " on differ"));
  }
  window_.index = window;
  return absl::OkStatus();
}

void PieceReader::AppendOrdered(uint32_t begin, uint32_t end,
                                ExampleBatch* to) const {
  // A shuffled row is not in the cache, so it is prefetched this many rows
  // before its use.
  constexpr uint32_t kAhead = 8;
  for (uint32_t i = begin; i < end; ++i) {
    if (shuffle_ && i + kAhead < end)
      PrefetchRow(window_.rows, window_.order[i + kAhead]);
    AppendRow(window_.rows, window_.order[i], to);
  }
}

absl::Status PieceReader::FinishReport(uint64_t examples) {
  report_.purpose = lease_.purpose;
  report_.epoch = lease_.epoch;
  report_.piece = lease_.piece.index;
  report_.examples = examples;
  report_.bad_rows = bad_.count();
  report_.batches = static_cast<uint32_t>((examples + lease_.batch_size - 1) /
                                          lease_.batch_size);
  SHOAL_ASSIGN_OR_RETURN(report_.crc32c, file_.Crc32c());
  SHOAL_RETURN_IF_ERROR(CheckSize());
  if (bad_.count() == 0) return absl::OkStatus();
  report_.first_error = FirstErrors();
  return options_.quarantine == nullptr ? absl::OkStatus()
                                        : options_.quarantine->Sync();
}

absl::Status PieceReader::CheckSize() const {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         file_system_->OpenForRead(path_));
  if (file->size() == file_.size()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("has ", file->size(), " bytes, but had ", file_.size(),
                   " when it was opened: the file changed"));
}

std::string PieceReader::FirstErrors() const {
  const std::string name = absl::CHexEscape(name_);
  std::string rows;
  for (const BadRow& row : bad_.first()) {
    std::string place = absl::StrCat(": byte ", row.offset);
    if (row.number != 0) {
      place = absl::StrCat(KindOf(format_.format).lines() ? ":" : ": record ",
                           row.number);
    }
    absl::StrAppend(&rows, rows.empty() ? "" : "\n", name, place, ": ",
                    row.reason);
  }
  return rows;
}

uint64_t PieceReader::NumberInFile(const BadRow& row) const {
  // Records are counted from the first one of the piece.
  if (lease_.piece.begin == 0) return row.number;
  if (options_.line_numbers == nullptr || !KindOf(format_.format).lines()) {
    return 0;
  }
  return options_.line_numbers->LineAt(path_, row.offset).value_or(0);
}

absl::Status PieceReader::FirstPass::Add(const BadRow& row) {
  Quarantine* const quarantine = reader_->options_.quarantine;
  const bool named = count_++ < kNamedBadRows;
  if (!named && quarantine == nullptr) return absl::OkStatus();
  BadRow placed = row;
  placed.number = reader_->NumberInFile(row);
  if (named) first_.push_back(placed);
  if (quarantine == nullptr) return absl::OkStatus();
  return quarantine->Add(reader_->path_, reader_->lease_.piece.begin, placed);
}

absl::Status PieceReader::WithPath(const absl::Status& status) const {
  if (absl::StrContains(status.message(), path_)) return status;
  return Annotate(status, path_);
}

}  // namespace shoal
