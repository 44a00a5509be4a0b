#ifndef SHOAL_BASE_POSIX_FILE_H_
#define SHOAL_BASE_POSIX_FILE_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"

namespace shoal {

// Internal: files for posix_file_system.cc and for the file locks of this
// folder. Other code does not include this header.

// The status for errno value `error` on `path`, with the codes of
// file_system.h.
absl::Status PosixError(int error, absl::string_view path);

// FAILED_PRECONDITION unless `mode`, as from stat, is that of a regular file.
// The message says what `path` is instead.
absl::Status CheckRegular(mode_t mode, absl::string_view path);

// Owns a file descriptor. Thread-compatible.
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
  // Closes the descriptor now. Some errors are reported only by close (quota,
  // NFS).
  absl::Status Close(absl::string_view path);

 private:
  void Reset();
  int fd_;
};

// Opens a file for reading and writing. Makes the file if it does not exist,
// and then sets *made.
absl::StatusOr<FileDescriptor> OpenOrMake(const std::string& path, bool* made);
// True if `path` still names the open file: another process may have removed
// it.
bool IsNameOf(const std::string& path, const FileDescriptor& file);

// The names in a directory except "." and "..", sorted.
absl::StatusOr<std::vector<std::string>> DirectoryNames(
    const std::string& path);

absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view path);

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenPosixFile(
    const std::string& path);
absl::StatusOr<std::unique_ptr<WritableFile>> CreatePosixFile(
    const std::string& path);

}  // namespace shoal

#endif  // SHOAL_BASE_POSIX_FILE_H_
