#include "base/group_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kTextMax = 512;  // most bytes of the file's text
constexpr size_t kGroupDigits = 16;
// The locked bytes lie beyond the text: if locks are mandatory, a locked byte
// cannot be read.
constexpr off_t kGateByte = 4096;
constexpr off_t kHoldersByte = 4097;
constexpr absl::Duration kGateTimeout = absl::Seconds(2);
constexpr absl::Duration kGatePause = absl::Milliseconds(1);

// F_WRLCK: exclusive; F_RDLCK: shared; F_UNLCK: unlocks. A lock that is held
// already changes its kind atomically. Returns 0 or errno; EAGAIN: another open
// file description has a conflicting lock.
int SetLock(const FileDescriptor& file, int16_t kind, off_t byte) {
  struct flock lock = {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  if (fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

absl::Status LockError(int error, const std::string& path) {
  if (error == EINVAL || error == ENOLCK || error == ENOSYS ||
      error == EOPNOTSUPP) {
    return absl::UnimplementedError(absl::StrCat(
        path, ": its file system has no locks that processes can share (",
        PosixError(error, "fcntl").message(),
        "); give a directory on another one"));
  }
  return PosixError(error, path);
}

// The right to read and change the file, as long as this object lives.
class Gate {
 public:
  explicit Gate(const FileDescriptor& file) : file_(file) {}
  ~Gate() { SetLock(file_, F_UNLCK, kGateByte); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  absl::Status Enter(const std::string& path) {
    const absl::Time give_up = absl::Now() + kGateTimeout;
    for (;;) {
      const int error = SetLock(file_, F_WRLCK, kGateByte);
      if (error == 0) return absl::OkStatus();
      if (error != EAGAIN) return LockError(error, path);
      if (absl::Now() >= give_up) {
        return absl::UnavailableError(absl::StrCat(
            path, ": another process has been looking at it for ",
            absl::FormatDuration(kGateTimeout), "; is that process stopped?"));
      }
      absl::SleepFor(kGatePause);
    }
  }

 private:
  const FileDescriptor& file_;
};

absl::Status WriteText(const FileDescriptor& file, uint64_t group,
                       absl::string_view holder, const std::string& path) {
  if (ftruncate(file.get(), 0) != 0 || lseek(file.get(), 0, SEEK_SET) != 0) {
    return PosixError(errno, path);
  }
  return WriteAll(
      file.get(),
      absl::StrCat(absl::Hex(group, absl::kZeroPad16), " ", holder, "\n"),
      path);
}

// The owner of the lock, by the text of the file. `group` is 0 if one process
// has the lock alone, or if the text is not Shoal's.
struct Owner {
  uint64_t group = 0;
  std::string holder;
};

Owner ReadOwner(const FileDescriptor& file) {
  char bytes[kTextMax];
  const ssize_t size = pread(file.get(), bytes, sizeof(bytes), 0);
  const absl::string_view text(bytes, size > 0 ? static_cast<size_t>(size) : 0);
  Owner owner;
  const absl::string_view digits = text.substr(0, kGroupDigits);
  if (digits.size() != kGroupDigits ||
      !absl::SimpleHexAtoi(digits, &owner.group)) {
    owner.holder = "another process";
    return owner;
  }
  owner.holder =
      absl::CHexEscape(absl::StripAsciiWhitespace(text.substr(kGroupDigits)));
  return owner;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GroupLock>> GroupLock::Take(
    const std::string& path, uint64_t group, absl::string_view holder) {
  bool made = false;
  SHOAL_ASSIGN_OR_RETURN(FileDescriptor file, OpenOrMake(path, &made));
  auto lock =
      std::unique_ptr<GroupLock>(new GroupLock(std::move(file), path, made));
  Gate gate(lock->file_);
  SHOAL_RETURN_IF_ERROR(gate.Enter(path));
  int error = SetLock(lock->file_, F_WRLCK, kHoldersByte);
  if (error == 0) {
    // Another process removed the file after it was opened here, so this lock
    // locks nothing.
    if (!IsNameOf(path, lock->file_)) return Take(path, group, holder);
    SHOAL_RETURN_IF_ERROR(WriteText(lock->file_, group, holder, path));
    lock->alone_ = group == 0;
    if (group == 0) return lock;
  } else if (error != EAGAIN) {
    return LockError(error, path);
  } else if (const Owner owner = ReadOwner(lock->file_);
             group == 0 || owner.group != group) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is locked by ", owner.holder));
  }
  error = SetLock(lock->file_, F_RDLCK, kHoldersByte);
  if (error != 0) return LockError(error, path);
  return lock;
}

absl::StatusOr<std::unique_ptr<GroupLock>> GroupLock::Join(
    const std::string& path, uint64_t group, absl::string_view holder) {
  return Take(path, group, holder);
}

absl::StatusOr<std::unique_ptr<GroupLock>> GroupLock::AcquireAlone(
    const std::string& path, absl::string_view holder) {
  return Take(path, 0, holder);
}

absl::StatusOr<std::optional<std::string>> GroupLock::HolderOf(
    const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return PosixError(errno, path);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kHoldersByte;
  lock.l_len = 1;
  if (fcntl(file.get(), F_OFD_GETLK, &lock) != 0) return LockError(errno, path);
  if (lock.l_type == F_UNLCK) return std::nullopt;
  return ReadOwner(file).holder;
}

absl::Status GroupLock::Share(uint64_t group, absl::string_view holder) {
  SHOAL_DCHECK(alone_);
  Gate gate(file_);
  SHOAL_RETURN_IF_ERROR(gate.Enter(path_));
  SHOAL_RETURN_IF_ERROR(WriteText(file_, group, holder, path_));
  const int error = SetLock(file_, F_RDLCK, kHoldersByte);
  if (error != 0) return LockError(error, path_);
  alone_ = false;
  return absl::OkStatus();
}

void GroupLock::Withdraw() {
  if (std::exchange(made_, false)) unlink(path_.c_str());
}

}  // namespace shoal
