#include "base/output_path.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/posix_file.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr int kMaxLinks = 40;  // as Linux follows

// Links in these directories lead to open files of a process, which may have no
// name at all.
bool IsInProc(const std::string& path) {
  char real[PATH_MAX];
  return realpath(std::string(Dirname(path)).c_str(), real) != nullptr &&
         absl::StartsWith(real, "/proc/");
}

absl::StatusOr<std::string> ReadLink(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof(target));
  if (size < 0) return PosixError(errno, path);
  if (size == sizeof(target)) return PosixError(ENAMETOOLONG, path);
  const std::string text(target, static_cast<size_t>(size));
  return text[0] == '/' ? text : JoinPath(Dirname(path), text);
}

}  // namespace

absl::StatusOr<std::string> OutputPath(const std::string& path) {
  std::string at = path;
  for (int links = 0; links <= kMaxLinks; ++links) {
    struct stat info;
    // The writer will find errors of the directory.
    if (lstat(at.c_str(), &info) != 0) return at;
    if (!S_ISLNK(info.st_mode)) {
      SHOAL_RETURN_IF_ERROR(CheckRegular(info.st_mode, path));
      return at;
    }
    if (IsInProc(at)) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": is an open descriptor; a regular file is needed"));
    }
    SHOAL_ASSIGN_OR_RETURN(at, ReadLink(at));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": is a symbolic link that leads back to itself"));
}

absl::Status CheckOutputPath(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string at, OutputPath(path));
  const std::string directory(Dirname(at));
  struct stat info = {};
  if (stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(
      absl::StrCat("there is no directory ", directory, "; make it"));
}

absl::Status WriteOutput(const FileSystem& files, const std::string& path,
                         absl::string_view bytes) {
  SHOAL_ASSIGN_OR_RETURN(const std::string at, OutputPath(path));
  return files.WriteFileAtomically(at, bytes);
}

}  // namespace shoal
