#include "worker/data/data_format.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "worker/data/decompressed_bytes.h"
#include "worker/data/format_table.h"
#include "worker/data/row_words.h"
#include "worker/data/stream_decoder.h"

namespace shoal {
namespace {

// The number of bytes, of the file and of its decompressed data, that detection
// reads at most.
constexpr size_t kHeadBytes = 64 << 10;
constexpr size_t kQuotedBytes = 24;

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

// The format of bytes that `head` begins; kAuto if it begins none.
DataFormat FormatOfBytes(absl::string_view head) {
  for (const DataFormatKind& kind : DataFormatKinds()) {
    if (!kind.lines() && kind.is_head(head)) return kind.format;
  }
  return DataFormat::kAuto;
}

Compression CompressionOf(absl::string_view head) {
  // Formats of bytes come first, because a file of such a format may look like
  // a magic number by chance, for example the length of a first TFRecord.
  if (FormatOfBytes(head) != DataFormat::kAuto) return Compression::kNone;
  if (absl::StartsWith(head, "\x1f\x8b")) return Compression::kGzip;
  if (absl::StartsWith(head, "\x28\xb5\x2f\xfd")) return Compression::kZstd;
  // A file may begin with a skippable frame: 0x184d2a50 to 0x184d2a5f.
  if (head.size() >= 4 && (head[0] & 0xf0) == 0x50 &&
      head.substr(1, 3) == "\x2a\x4d\x18") {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

// The first line that looks like a row of some format decides, so that bad rows
// may come before it. If there is none, a file with a label alone, or of blank
// lines and comments, is LibSVM.
FileFormat FormatOfText(absl::string_view head) {
  FileFormat result;
  bool any_line = false;
  bool any_label = false;
  while (!head.empty()) {
    const size_t newline = head.find('\n');
    const absl::string_view line = head.substr(0, newline);
    head.remove_prefix(newline == head.npos ? head.size() : newline + 1);
    const absl::string_view words = absl::StripAsciiWhitespace(line);
    if (words.empty() || words[0] == '#') continue;
    any_line = true;
    for (const DataFormatKind& kind : DataFormatKinds()) {
      if (!kind.lines() || !kind.is_row(line)) continue;
      result.format = kind.format;
      result.ids = kind.ids;
      return result;
    }
    // Rows without features are of LibSVM as well as of LibFFM.
    any_label |= row_words::IsNumber(words);
  }
  result.format =
      any_line && !any_label ? DataFormat::kAuto : DataFormat::kLibSvm;
  return result;
}

// The marks of all formats of lines, or of bytes, as --data_format lists them.
std::vector<absl::string_view> Marks(bool lines) {
  std::vector<absl::string_view> marks;
  for (const Choice<DataFormat>& choice : kDataFormats) {
    if (choice.value == DataFormat::kAuto) continue;
    const DataFormatKind& kind = KindOf(choice.value);
    if (kind.lines() == lines) marks.push_back(kind.mark);
  }
  return marks;
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
  const Compression compression = CompressionOf(head);
  if (wanted != DataFormat::kAuto) {
    return FileFormat{wanted, compression, KindOf(wanted).ids};
  }
  if (compression != Compression::kNone) {
    SHOAL_ASSIGN_OR_RETURN(head, Decompressed(head, file.size(), compression));
  }
  const DataFormat of_bytes = FormatOfBytes(head);
  if (of_bytes != DataFormat::kAuto) {
    return FileFormat{of_bytes, compression, KindOf(of_bytes).ids};
  }
  FileFormat result = FormatOfText(head);
  result.compression = compression;
  if (result.format != DataFormat::kAuto) return result;
  return absl::InvalidArgumentError(absl::StrCat(
      "the file begins with '",
      absl::CHexEscape(absl::string_view(head).substr(0, kQuotedBytes)),
      "', which is neither ", absl::StrJoin(Marks(/*lines=*/false), ", nor "),
      ", nor a line of ", absl::StrJoin(Marks(/*lines=*/true), " or "),
      ", nor gzip or zstd of these; name other files, or set --data_format if "
      "it is one of them"));
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
