#include "base/file_lock.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kTextMax = 4096;  // most bytes of the file's text

std::string ReadText(const FileDescriptor& file) {
  char text[kTextMax];
  const ssize_t size = pread(file.get(), text, sizeof(text), 0);
  return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Acquire(
    const std::string& path, absl::string_view holder) {
  bool made = false;
  SHOAL_ASSIGN_OR_RETURN(FileDescriptor file, OpenOrMake(path, &made));
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return PosixError(errno, path);
    const std::string text = ReadText(file);
    const std::string who(
        absl::StripAsciiWhitespace(text.substr(0, text.find('\n'))));
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is locked by ",
                     who.empty() ? "another process" : absl::CHexEscape(who)));
  }
  // Another process removed the file after it was opened here, so this lock
  // locks nothing.
  if (!IsNameOf(path, file)) return Acquire(path, holder);
  std::string left_before = ReadText(file);
  if (ftruncate(file.get(), 0) != 0) return PosixError(errno, path);
  SHOAL_RETURN_IF_ERROR(WriteAll(file.get(), absl::StrCat(holder, "\n"), path));
  return std::unique_ptr<FileLock>(
      new FileLock(path, made, std::move(file), std::move(left_before)));
}

absl::Status FileLock::AddLine(absl::string_view line) {
  return WriteAll(file_.get(), absl::StrCat(line, "\n"), path_);
}

void FileLock::Withdraw() {
  if (std::exchange(made_, false)) unlink(path_.c_str());
}

}  // namespace shoal
