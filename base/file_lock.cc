#include "base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kHolderMax = 512;  // bytes that are read of it

absl::StatusOr<FileDescriptor> OpenOrMake(const std::string& path, bool* made) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NONBLOCK;
  FileDescriptor file(open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0644));
  *made = file.valid();
  // Also of a link to nothing.
  if (errno == EEXIST && !*made) {
    file = FileDescriptor(open(path.c_str(), kFlags | O_CREAT, 0644));
  }
  if (!file.valid()) return PosixError(errno, path);
  return file;
}

bool IsNameOf(const std::string& path, int file) {
  struct stat named, opened;
  return stat(path.c_str(), &named) == 0 && fstat(file, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Acquire(
    const std::string& path, absl::string_view holder) {
  bool made = false;
  SHOAL_ASSIGN_OR_RETURN(FileDescriptor file, OpenOrMake(path, &made));
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return PosixError(errno, path);
    char text[kHolderMax];
    const ssize_t size = pread(file.get(), text, sizeof(text), 0);
    const std::string who(absl::StripAsciiWhitespace(
        absl::string_view(text, size > 0 ? static_cast<size_t>(size) : 0)));
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is locked by ",
                     who.empty() ? "another process" : absl::CHexEscape(who)));
  }
  // Another process withdrew it since it was opened: this is no name's lock.
  if (!IsNameOf(path, file.get())) return Acquire(path, holder);
  if (ftruncate(file.get(), 0) != 0) return PosixError(errno, path);
  SHOAL_RETURN_IF_ERROR(WriteAll(file.get(), absl::StrCat(holder, "\n"), path));
  return std::unique_ptr<FileLock>(
      new FileLock(path, made, std::move(file)));
}

void FileLock::Withdraw() {
  if (std::exchange(made_, false)) unlink(path_.c_str());
}

}  // namespace shoal
