#include "tests/fuzz/fuzz_piece.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "core/piece_table.h"
#include "tests/harness/read_only_file_system.h"
#include "worker/data/piece_reader.h"
#include "worker/data/row_window.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatureSize = 1000;
constexpr int kFieldSize = 39;
constexpr uint32_t kBatchSize = 3;

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

class OneFile final : public ReadOnlyFileSystem {
 public:
  explicit OneFile(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
      const std::string&) const override {
    return std::make_unique<File>(bytes_);
  }

 private:
  class File final : public RandomAccessFile {
   public:
    explicit File(absl::string_view bytes) : bytes_(bytes) {}
    absl::StatusOr<size_t> Read(uint64_t offset,
                                absl::Span<char> out) const override {
      if (offset >= bytes_.size()) return 0;
      return bytes_.copy(out.data(), out.size(), offset);
    }
    uint64_t size() const override { return bytes_.size(); }

   private:
    const absl::string_view bytes_;
  };

  const absl::string_view bytes_;
};

struct Result {
  absl::Status status;
  std::vector<Batch> batches;
  PieceReport report;
};

void CheckBatch(const Batch& batch) {
  const ExampleBatch& rows = batch.examples;
  Check(rows.size() >= 1 && rows.size() <= kBatchSize, "batch size");
  Check(rows.offsets.size() == rows.size() + 1, "offsets");
  Check(rows.offsets.back() == rows.ids.size(), "last offset");
  Check(rows.values.size() == rows.ids.size(), "values");
  Check(rows.fields.empty() || rows.fields.size() == rows.ids.size(), "fields");
  for (size_t i = 0; i < rows.size(); ++i) {
    Check(rows.labels[i] <= 1, "label");
    Check(rows.offsets[i] <= rows.offsets[i + 1], "offsets grow");
    Check(rows.offsets[i + 1] - rows.offsets[i] <= kFieldSize, "field_size");
    uint64_t seen = 0;
    for (uint32_t j = rows.offsets[i];
         j < rows.offsets[i + 1] && !rows.fields.empty(); ++j) {
      Check(rows.fields[j] < kFieldSize, "field");
      Check((seen >> rows.fields[j] & 1) == 0, "a field comes once");
      seen |= uint64_t{1} << rows.fields[j];
    }
  }
  for (const FeatureId id : rows.ids) Check(id < kFeatureSize, "id");
  for (const float value : rows.values) {
    Check(std::isfinite(value), "value is finite");
  }
}

Result Read(const FileSystem& files, const Piece& piece, DataFormat format,
            bool backwards) {
  PieceReaderOptions options;
  options.format = format;
  options.feature_size = kFeatureSize;
  options.field_size = kFieldSize;
  options.shuffle_rows = 4;
  options.max_record_bytes = 2000;
  Lease lease;
  lease.piece = piece;
  lease.batch_size = kBatchSize;
  lease.backwards = backwards;
  Result result;
  auto reader = PieceReader::Open(&files, "fuzzed", lease, options);
  result.status = reader.status();
  while (result.status.ok()) {
    Batch batch;
    const absl::StatusOr<bool> more = (*reader)->Next(&batch);
    result.status = more.status();
    if (!more.ok()) break;
    if (!*more) {
      result.report = (*reader)->report();
      break;
    }
    CheckBatch(batch);
    result.batches.push_back(std::move(batch));
  }
  return result;
}

bool Same(const ExampleBatch& a, const ExampleBatch& b) {
  return a.labels == b.labels && a.offsets == b.offsets && a.ids == b.ids &&
         a.values == b.values && a.fields == b.fields;
}

void CheckBackwards(const Result& forwards, const Result& backwards) {
  Check(forwards.status.code() == backwards.status.code(), "same status");
  if (!forwards.status.ok()) return;
  const size_t count = forwards.batches.size();
  Check(backwards.batches.size() == count, "batches backwards");
  for (size_t i = 0; i < count; ++i) {
    Check(Same(forwards.batches[i].examples,
               backwards.batches[count - 1 - i].examples),
          "a batch read backwards");
  }
  Check(forwards.report.bad_rows == backwards.report.bad_rows, "bad rows");
}

}  // namespace

void FuzzPiece(absl::string_view bytes, DataFormat format) {
  const OneFile files(bytes);
  const FileFormat detected =
      DetectFormat(*files.OpenForRead("").value(), format)
          .value_or(FileFormat{});
  const Result whole =
      Read(files, {0, 0, 0, bytes.size()}, format, /*backwards=*/false);
  CheckBackwards(whole, Read(files, {0, 0, 0, bytes.size()}, format, true));
  if (bytes.empty()) return;
  SourceInfo source;
  source.size = bytes.size();
  source.compressed = detected.compression != Compression::kNone;
  const uint64_t piece_bytes = std::max<uint64_t>(
      1 + static_cast<uint8_t>(bytes[0]) % 100, bytes.size() / 8);
  uint64_t examples = 0;
  uint64_t bad_rows = 0;
  bool failed = false;
  bool ambiguous = false;
  const std::vector<Piece> pieces =
      BuildPieceTable({source}, piece_bytes).value();
  for (const Piece& piece : pieces) {
    const Result part = Read(files, piece, format, false);
    CheckBackwards(part, Read(files, piece, format, true));
    failed |= !part.status.ok();
    ambiguous |= absl::StrContains(part.status.message(), "--piece_bytes=0");
    examples += part.report.examples;
    bad_rows += part.report.bad_rows;
  }
  if (ambiguous) return;  // TFRecord data in a record: refused, not misread
  Check(failed == !whole.status.ok(), "the pieces fail as the whole does");
  if (failed) return;
  Check(examples == whole.report.examples, "the pieces' examples");
  Check(bad_rows == whole.report.bad_rows, "the pieces' bad rows");
}

int FuzzCompressedInput(const uint8_t* data, size_t size,
                        std::string (*compress)(absl::string_view)) {
  if (size < 4) return 0;
  const absl::string_view rest(reinterpret_cast<const char*>(data + 4),
                               size - 4);
  std::string file(rest);
  if (data[0] % 4 != 0) {
    const size_t half = rest.size() * data[1] / 256;
    file = compress(rest.substr(0, half)) + compress(rest.substr(half));
    if (data[0] % 4 == 2) file.resize(file.size() * data[2] / 256);
    if (data[0] % 4 == 3) {
      file[file.size() * data[2] / 256] ^= static_cast<char>(data[3]);
    }
  }
  FuzzPiece(file, DataFormat::kLibSvm);
  return 0;
}

}  // namespace shoal
