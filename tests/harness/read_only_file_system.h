#ifndef SHOAL_TESTS_HARNESS_READ_ONLY_FILE_SYSTEM_H_
#define SHOAL_TESTS_HARNESS_READ_ONLY_FILE_SYSTEM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"

namespace shoal {

// The base of fakes that only give bytes to read: every call but OpenForRead is
// UNIMPLEMENTED.
class ReadOnlyFileSystem : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) const override {
    return Refuse(path);
  }
  absl::StatusOr<std::vector<FileInfo>> List(
      const std::string& pattern) const override {
    return Refuse(pattern);
  }
  absl::Status CreateDirectories(const std::string& path) const override {
    return Refuse(path);
  }
  absl::Status WriteFileAtomically(const std::string& path,
                                   absl::string_view) const override {
    return Refuse(path);
  }
  absl::StatusOr<std::vector<DirectoryEntry>> ListDirectory(
      const std::string& path) const override {
    return Refuse(path);
  }
  absl::Status Rename(const std::string& from,
                      const std::string&) const override {
    return Refuse(from);
  }
  absl::Status Remove(const std::string& path) const override {
    return Refuse(path);
  }
  absl::Status SyncDirectory(const std::string& path) const override {
    return Refuse(path);
  }

 private:
  static absl::Status Refuse(absl::string_view path) {
    return absl::UnimplementedError(
        absl::StrCat(path, ": this file system is for reading data alone"));
  }
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_READ_ONLY_FILE_SYSTEM_H_
