#include "bench/compare/known_data.h"

#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/json_reader.h"
#include "base/path.h"
#include "bench/compare/text_file.h"
#include "datatools/synthetic.h"

namespace shoal {
namespace {

constexpr uint64_t kMetaBytesMax = 1 << 16;
// Training files are tr-00000.libsvm and so on (datatools/synthetic.h).
constexpr absl::string_view kTrainPrefix = "tr-";

// The rows of so many files that were generated together; 0: not known.
uint64_t GeneratedRows(const FileSystem& files, const std::string& directory,
                       size_t count) {
  const auto text = ReadTextFile(
      files, JoinPath(directory, kSyntheticMetaName), kMetaBytesMax);
  if (!text.ok()) return 0;
  const auto document = JsonDocument::Parse(*text);
  if (!document.ok()) return 0;
  const JsonNode& root = (*document)->root();
  const uint64_t rows = root.Field("rows").U64();
  const uint64_t made = root.Field("files").U64();
  return (*document)->status().ok() && made == count ? rows : 0;
}

}  // namespace

ComparedData KnownData(const FileSystem& files,
                       absl::Span<const std::string> paths) {
  ComparedData data;
  data.files = paths.size();
  std::set<std::string> directories;
  std::set<std::string> names;
  for (const std::string& path : paths) {
    if (!absl::StartsWith(Basename(path), kTrainPrefix)) return data;
    directories.emplace(Dirname(path));
    names.emplace(Basename(path));
  }
  if (directories.size() != 1 || names.size() != paths.size()) return data;
  data.rows = GeneratedRows(files, *directories.begin(), paths.size());
  return data;
}

}  // namespace shoal
