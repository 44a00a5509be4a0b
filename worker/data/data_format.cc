#include "worker/data/data_format.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "worker/data/decompressed_bytes.h"
#include "worker/data/parse_number.h"
#include "worker/data/stream_decoder.h"
#include "worker/data/tfrecord_source.h"

namespace shoal {
namespace {

// The number of bytes, of the file and of its decompressed data, that detection
// reads at most.
constexpr size_t kHeadBytes = 64 << 10;
constexpr size_t kQuotedBytes = 24;
constexpr size_t kCriteoTabs = 39;  // between a label, 13 numbers, 26 words

// The first bytes of a file, presented as a file.
class Head final : public RandomAccessFile {
 public:
  explicit Head(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(out.data(), out.size(), offset);
  }
  uint64_t size() const override { return bytes_.size(); }

 private:
  const absl::string_view bytes_;
};

bool IsTfRecord(absl::string_view head) {
  return head.size() >= TfRecordFrame::kHeaderBytes &&
         TfRecordFrame::IsHeader(head);
}

Compression CompressionOf(absl::string_view head) {
  // TFRecord comes first, because the length of a record may look like a magic
  // number by chance.
  if (IsTfRecord(head)) return Compression::kNone;
  if (absl::StartsWith(head, "\x1f\x8b")) return Compression::kGzip;
  if (absl::StartsWith(head, "\x28\xb5\x2f\xfd")) return Compression::kZstd;
  // A file may begin with a skippable frame: 0x184d2a50 to 0x184d2a5f.
  if (head.size() >= 4 && (head[0] & 0xf0) == 0x50 &&
      head.substr(1, 3) == "\x2a\x4d\x18") {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

// The format that one line of text, which is neither blank nor a comment, looks
// like; kAuto if it looks like none.
DataFormat FormatOfLine(absl::string_view line) {
  if (std::count(line.begin(), line.end(), '\t') == kCriteoTabs) {
    // LibSVM may contain tabs too, but always has a colon.
    const size_t second = line.find('\t', line.find('\t') + 1);
    if (!absl::StrContains(line.substr(0, second), ':')) {
      return DataFormat::kCriteo;
    }
  }
  line = absl::StripAsciiWhitespace(line);
  const char* const end = line.data() + line.size();
  float label = 0;
  const char* p = ParseFloat(line.data(), end, &label);
  if (p == nullptr) return DataFormat::kAuto;
  const absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(absl::string_view(p, end - p));
  if (rest.empty()) return DataFormat::kLibSvm;
  if (rest.data() == p) return DataFormat::kAuto;
  uint64_t id = 0;
  const char* const colon = ParseDigits(rest.data(), end, &id);
  return colon != rest.data() && colon != end && *colon == ':'
             ? DataFormat::kLibSvm
             : DataFormat::kAuto;
}

// The first line that looks like a row of some format decides, so that bad rows
// may come before it. If all lines are blank or comments, the format is LibSVM.
DataFormat FormatOfText(absl::string_view head) {
  DataFormat format = DataFormat::kLibSvm;
  while (!head.empty()) {
    const size_t newline = head.find('\n');
    const absl::string_view line = head.substr(0, newline);
    head.remove_prefix(newline == head.npos ? head.size() : newline + 1);
    const absl::string_view words = absl::StripAsciiWhitespace(line);
    if (words.empty() || words[0] == '#') continue;
    format = FormatOfLine(line);
    if (format != DataFormat::kAuto) return format;
  }
  return format;
}

// The first bytes of the decompressed data.
absl::StatusOr<std::string> Decompressed(absl::string_view compressed,
                                         uint64_t file_size,
                                         Compression compression) {
  const Head file(compressed);
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> bytes,
                         OpenBytes(&file, compression, nullptr));
  std::string head;
  while (head.size() < kHeadBytes) {
    // Read in small steps: the file seems truncated at the end of its head.
    char some[256];
    const absl::StatusOr<size_t> got =
        bytes->Read(head.size(), absl::MakeSpan(some));
    if (!got.ok() && compressed.size() == file_size) return got.status();
    if (!got.ok() || *got == 0) break;
    head.append(some, *got);
  }
  return head;
}

}  // namespace

absl::StatusOr<FileFormat> DetectFormat(const RandomAccessFile& file,
                                        DataFormat wanted) {
  std::string head(std::min<uint64_t>(kHeadBytes, file.size()), '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t got, file.Read(0, absl::MakeSpan(head)));
  head.resize(got);
  FileFormat result;
  result.compression = CompressionOf(head);
  result.format = wanted;
  if (wanted != DataFormat::kAuto) return result;
  if (result.compression != Compression::kNone) {
    SHOAL_ASSIGN_OR_RETURN(head,
                           Decompressed(head, file.size(), result.compression));
  }
  result.format = IsTfRecord(head) ? DataFormat::kTfRecord : FormatOfText(head);
  if (result.format != DataFormat::kAuto) return result;
  return absl::InvalidArgumentError(absl::StrCat(
      "the file begins with '",
      absl::CHexEscape(absl::string_view(head).substr(0, kQuotedBytes)),
      "', which is neither TFRecord (the checksum of a length), nor a line of "
      "LibSVM (label id:value ...) or Criteo (40 columns), nor gzip or zstd of "
      "these; name other files, or set --data_format if it is one of them"));
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenBytes(
    const RandomAccessFile* file, Compression compression,
    const std::atomic<bool>* cancelled) {
  if (compression == Compression::kNone) {
    return std::make_unique<FileBytes>(file);
  }
  auto decoder =
      compression == Compression::kGzip ? NewGzipDecoder() : NewZstdDecoder();
  SHOAL_RETURN_IF_ERROR(decoder.status());
  return std::make_unique<DecompressedBytes>(file, *std::move(decoder),
                                             cancelled);
}

}  // namespace shoal
