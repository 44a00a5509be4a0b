#include "rpc/socket_probe.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case 0:
    case EAGAIN:  // many connections wait to be accepted
      return absl::StatusCode::kOk;
    case ECONNREFUSED:
      return absl::StatusCode::kUnavailable;
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace

absl::Status ProbeSocket(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(name.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' cannot be the path of a socket"));
  }
  std::memcpy(name.sun_path, path.c_str(), path.size());
  struct stat file = {};
  if (lstat(path.c_str(), &file) == 0 && !S_ISSOCK(file.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is no socket"));
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&name),
                         sizeof(name)) != 0) {
    error = errno;
  }
  if (fd >= 0) close(fd);
  return absl::Status(CodeOf(error),
                      absl::StrCat(path, ": ", std::strerror(error)));
}

}  // namespace shoal
