#include "worker/data/source_list.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/crc32c.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint64_t kHeadBytes = 64 << 10;

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
  source.info.compressed = detected->compression != Compression::kNone;
  return source;
}

}  // namespace

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
