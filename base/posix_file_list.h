#ifndef SHOAL_BASE_POSIX_FILE_LIST_H_
#define SHOAL_BASE_POSIX_FILE_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_system.h"

namespace shoal {

// The most that a list of files may be made of. Every entry costs a call to the
// file system and some 200 bytes.
struct FileListLimits {
  // Levels of directories below a directory that a pattern names.
  int depth = 64;
  // Files and directories that are looked at.
  size_t entries = size_t{1} << 20;
};

// FileSystem::List for the operating system's files.
absl::StatusOr<std::vector<FileInfo>> ListPosixFiles(
    const std::string& pattern, const FileListLimits& limits = {});

}  // namespace shoal

#endif  // SHOAL_BASE_POSIX_FILE_LIST_H_
