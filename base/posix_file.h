#ifndef SHOAL_BASE_POSIX_FILE_H_
#define SHOAL_BASE_POSIX_FILE_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"

namespace shoal {

// The files of posix_file_system.cc and of the locks beside it. No other code
// includes this.

// The status of errno value `error` on `path`, by the codes of file_system.h.
absl::Status PosixError(int error, absl::string_view path);

// FAILED_PRECONDITION, saying what `path` is, unless `mode` (stat's) is that of
// a regular file.
absl::Status CheckRegular(mode_t mode, absl::string_view path);

// Owns a descriptor. Thread-compatible.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() { Reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Closes it now, for the errors that only closing tells (quota, NFS).
  absl::Status Close(absl::string_view path);

 private:
  void Reset();
  int fd_;
};

// Opens a file to read and write, which is made if need be: *made says so.
absl::StatusOr<FileDescriptor> OpenOrMake(const std::string& path, bool* made);
// Whether the file is what `path` names: another process may have removed it.
bool IsNameOf(const std::string& path, const FileDescriptor& file);

absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view path);

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenPosixFile(
    const std::string& path);
absl::StatusOr<std::unique_ptr<WritableFile>> CreatePosixFile(
    const std::string& path);

}  // namespace shoal

#endif  // SHOAL_BASE_POSIX_FILE_H_
