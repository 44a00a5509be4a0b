#include "base/file_system.h"

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

absl::Status ReadOnly(absl::string_view path) {
  return absl::UnimplementedError(
      absl::StrCat(path, ": this file system is for reading data alone"));
}

}  // namespace

absl::StatusOr<std::vector<DirectoryEntry>> FileSystem::ListDirectory(
    const std::string& path) const {
  return ReadOnly(path);
}

absl::Status FileSystem::Rename(const std::string& from,
                                const std::string&) const {
  return ReadOnly(from);
}

absl::Status FileSystem::Remove(const std::string& path) const {
  return ReadOnly(path);
}

absl::Status FileSystem::SyncDirectory(const std::string& path) const {
  return ReadOnly(path);
}

}  // namespace shoal
