#include "worker/data/source_list.h"

#include <string.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/crc32c.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint64_t kHeadBytes = 64 << 10;

// Counts the rows that lie whole in the head of a file.
void CountRows(absl::string_view head, DataFormat format, LocalSource* source) {
  if (format != DataFormat::kTfRecord) {
    source->head_rows = static_cast<uint32_t>(absl::c_count(head, '\n'));
    source->head_bytes = static_cast<uint32_t>(head.rfind('\n') + 1);
    return;
  }
  constexpr uint64_t kFraming = 16;  // length, two checksums
  uint64_t at = 0;
  while (head.size() - at >= kFraming) {
    uint64_t length = 0;
    memcpy(&length, head.data() + at, sizeof(length));
    if (length > head.size() - at - kFraming) break;
    at += kFraming + length;
    ++source->head_rows;
  }
  source->head_bytes = static_cast<uint32_t>(at);
}

absl::StatusOr<LocalSource> Describe(const FileSystem* file_system,
                                     const FileInfo& listed,
                                     DataFormat format) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         file_system->OpenForRead(listed.path));
  LocalSource source;
  source.path = listed.path;
  source.info.name = listed.name;
  source.info.size = file->size();
  std::vector<char> head(std::min(file->size(), kHeadBytes));
  SHOAL_ASSIGN_OR_RETURN(const size_t got, file->Read(0, absl::MakeSpan(head)));
  source.info.head_crc32c = Crc32c(absl::string_view(head.data(), got));
  if (file->size() == 0) return source;
  const auto detected = DetectFormat(*file, format);
  if (!detected.ok()) return Annotate(detected.status(), listed.path);
  source.ids = detected->ids;
  source.info.compressed = detected->compression != Compression::kNone;
  if (!source.info.compressed) {
    CountRows(absl::string_view(head.data(), got), detected->format, &source);
  }
  return source;
}

}  // namespace

uint32_t MeanRowBytes(const std::vector<LocalSource>& sources) {
  uint64_t bytes = 0;
  uint64_t rows = 0;
  for (const LocalSource& source : sources) {
    bytes += source.head_bytes;
    rows += source.head_rows;
  }
  return rows == 0 ? 0 : static_cast<uint32_t>((bytes - 1) / rows + 1);
}

absl::StatusOr<std::vector<LocalSource>> ListSources(
    const FileSystem* file_system, const std::string& pattern,
    DataFormat format) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<FileInfo> files,
                         file_system->List(pattern));
  std::vector<LocalSource> sources;
  for (const FileInfo& file : files) {
    SHOAL_ASSIGN_OR_RETURN(LocalSource source,
                           Describe(file_system, file, format));
    sources.push_back(std::move(source));
  }
  std::sort(sources.begin(), sources.end(),
            [](const LocalSource& a, const LocalSource& b) {
              return a.info.name < b.info.name;
            });
  for (size_t i = 1; i < sources.size(); ++i) {
    if (sources[i - 1].info.name == sources[i].info.name) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", sources[i - 1].path, "' and '", sources[i].path,
          "' have the same name, '", sources[i].info.name,
          "'. Files that are named one by one or by a glob are known by their "
          "base names, and files below a directory by their paths below it: "
          "name the directory above both, or rename one of them"));
    }
  }
  return sources;
}

}  // namespace shoal
