#include "bench/compare/text_file.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace shoal {

absl::StatusOr<std::string> ReadTextFile(const FileSystem& files,
                                         const std::string& path,
                                         uint64_t max) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         files.OpenForRead(path));
  if (file->size() > max) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, " has ", file->size(), " bytes; at most ", max,
                     " are read"));
  }
  std::string text(file->size(), '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t size,
                         file->Read(0, absl::MakeSpan(text)));
  text.resize(size);
  return text;
}

}  // namespace shoal
