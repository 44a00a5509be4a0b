#include "rpc/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kMaxTokenBytes = 512;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

absl::Status SystemError(const std::string& path, absl::string_view what) {
  const int error = errno;
  return absl::ErrnoToStatus(error,
                             absl::StrCat("token file '", path, "': ", what));
}

// True if users other than the file's owner can use the token. The group of a
// file of root may read it: so a container's platform and systemd hand a secret
// to a process that is not root.
bool OthersCanUse(const struct stat& info) {
  return (info.st_mode & (info.st_uid == 0 ? 037 : 077)) != 0;
}

}  // namespace

absl::StatusOr<std::string> MakeToken() {
  char bytes[32];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return absl::ErrnoToStatus(errno, "cannot get random bytes for a token");
  }
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

absl::Status CheckToken(absl::string_view token) {
  if (token.empty()) return absl::InvalidArgumentError("the token is empty");
  if (token.size() > kMaxTokenBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the token has more than ", kMaxTokenBytes, " characters"));
  }
  for (const char c : token) {
    if (c <= ' ' || c >= 127) {
      return absl::InvalidArgumentError(
          "the token has a blank or a character that is not printable ASCII");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  // O_NONBLOCK, so that a FIFO, which is refused below, does not block.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return SystemError(path, "cannot open it");
  struct stat info;
  if (fstat(file.get(), &info) != 0) return SystemError(path, "cannot stat it");
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("token file '", path, "' is not a regular file"));
  }
  if (OthersCanUse(info)) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "token file '%s' has mode %04o and belongs to user %u, so others can "
        "use the token. Accepted are 0600 and 0400, and for a file of root "
        "also 0640 and 0440, as for mounted secrets: run chmod 600 '%s', or "
        "mount the secret with mode 0440",
        path, info.st_mode & 07777, info.st_uid, path));
  }
  char bytes[kMaxTokenBytes + 3];  // a token, a line's end, one byte too many
  const ssize_t size = read(file.get(), bytes, sizeof(bytes));
  if (size < 0) return SystemError(path, "cannot read it");
  absl::string_view token(bytes, static_cast<size_t>(size));
  absl::ConsumeSuffix(&token, "\n");
  absl::ConsumeSuffix(&token, "\r");
  SHOAL_RETURN_IF_ERROR(
      Annotate(CheckToken(token), absl::StrCat("token file '", path, "'")));
  return std::string(token);
}

absl::Status WriteTokenFile(const std::string& path, absl::string_view token) {
  SHOAL_RETURN_IF_ERROR(CheckToken(token));
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    if (errno == EEXIST) {
      return absl::AlreadyExistsError(absl::StrCat(
          "token file '", path,
          "': something has this name already, and a token that may be in use "
          "is never replaced: choose another name, or remove it first"));
    }
    return SystemError(path, "cannot create it");
  }
  const std::string line = absl::StrCat(token, "\n");
  const ssize_t written = write(file.get(), line.data(), line.size());
  const bool whole = written == static_cast<ssize_t>(line.size());
  if (written >= 0 && !whole) errno = ENOSPC;
  // Some file systems report a full disk only here.
  if (!whole || fsync(file.get()) != 0) {
    const absl::Status status = SystemError(path, "cannot write it");
    unlink(path.c_str());
    return status;
  }
  return absl::OkStatus();
}

bool ConstantTimeEquals(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  // volatile, so that the compiler cannot end the loop at the first difference.
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(
        difference |
        (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

}  // namespace shoal
