#ifndef SHOAL_BASE_FILE_LOCK_H_
#define SHOAL_BASE_FILE_LOCK_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/posix_file.h"

namespace shoal {

// An exclusive lock that one process holds, by means of a file (flock). The
// lock ends with the object or with the process, even one that is killed. The
// file stays, and names the last holder in its first line. Thread-compatible.
class FileLock {
 public:
  // Takes the lock of `path` and writes `holder` into the file. Makes the file
  // if it does not exist. FAILED_PRECONDITION: another process has the lock;
  // the message quotes the first line that that process wrote. Otherwise the
  // errors of base/file_system.h.
  static absl::StatusOr<std::unique_ptr<FileLock>> Acquire(
      const std::string& path, absl::string_view holder);

  // Adds a line to the file, for other processes. Errors: those of
  // base/file_system.h.
  absl::Status AddLine(absl::string_view line);

  // The text that the holder before this one left in the file, up to 4 KiB;
  // empty: there was none.
  const std::string& left_before() const { return left_before_; }

  // Removes the file if Acquire made it, for a process that ends without having
  // used the lock. The lock still ends with the object.
  void Withdraw();

 private:
  FileLock(std::string path, bool made, FileDescriptor file,
           std::string left_before)
      : path_(std::move(path)),
        made_(made),
        file_(std::move(file)),
        left_before_(std::move(left_before)) {}

  const std::string path_;
  bool made_;
  const FileDescriptor file_;
  const std::string left_before_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_FILE_LOCK_H_
