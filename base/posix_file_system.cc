#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_system.h"
#include "base/path.h"
#include "base/posix_file.h"
#include "base/posix_file_list.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// A new temporary file beside `path`, with a name that listings leave out.
absl::StatusOr<std::string> CreateTemporary(const std::string& path,
                                            FileDescriptor* fd) {
  for (int n = 0;; ++n) {
    const std::string name =
        JoinPath(Dirname(path),
                 absl::StrCat(".", Basename(path), ".tmp-", getpid(), "-", n));
    *fd = FileDescriptor(
        open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd->valid()) return name;
    // The name is in use by another thread, or was left by a dead process with
    // the same number.
    if (errno != EEXIST || n == 1000) return PosixError(errno, name);
  }
}

class PosixFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
      const std::string& path) const override {
    return OpenPosixFile(path);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) const override {
    return CreatePosixFile(path);
  }

  absl::StatusOr<std::vector<FileInfo>> List(
      const std::string& pattern) const override {
    return ListPosixFiles(pattern);
  }

  absl::Status CreateDirectories(const std::string& path) const override {
    std::error_code error;
    std::filesystem::create_directories(CleanPath(path), error);
    return error ? PosixError(error.value(), path) : absl::OkStatus();
  }

  absl::Status WriteFileAtomically(const std::string& path,
                                   absl::string_view bytes) const override {
    struct stat info;
    // Without this check the rename would replace a device or a FIFO by a file.
    if (stat(path.c_str(), &info) == 0) {
      SHOAL_RETURN_IF_ERROR(CheckRegular(info.st_mode, path));
    }
    FileDescriptor fd;
    SHOAL_ASSIGN_OR_RETURN(const std::string temporary,
                           CreateTemporary(path, &fd));
    absl::Status status = WriteAll(fd.get(), bytes, temporary);
    if (status.ok() && fsync(fd.get()) != 0) {
      status = PosixError(errno, temporary);
    }
    if (status.ok()) status = fd.Close(temporary);
    if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
      status = PosixError(errno, path);
    }
    if (!status.ok()) {
      unlink(temporary.c_str());
      return status;
    }
    return SyncDirectory(std::string(Dirname(path)));
  }

  absl::StatusOr<std::vector<DirectoryEntry>> ListDirectory(
      const std::string& path) const override {
    SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> names,
                           DirectoryNames(path));
    std::vector<DirectoryEntry> entries;
    for (std::string& name : names) {
      DirectoryEntry entry;
      entry.name = std::move(name);
      struct stat info;
      if (stat(JoinPath(path, entry.name).c_str(), &info) == 0) {
        entry.is_directory = S_ISDIR(info.st_mode);
        if (S_ISREG(info.st_mode)) entry.size = info.st_size;
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  absl::Status Rename(const std::string& from,
                      const std::string& to) const override {
    if (rename(from.c_str(), to.c_str()) != 0) {
      return PosixError(errno, absl::StrCat(from, " to ", to));
    }
    return SyncDirectory(std::string(Dirname(to)));
  }

  absl::Status SyncDirectory(const std::string& path) const override {
    const FileDescriptor fd(
        open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid() || fsync(fd.get()) != 0) return PosixError(errno, path);
    return absl::OkStatus();
  }

  absl::Status Remove(const std::string& path) const override {
    // unlink of a directory is EISDIR or EPERM.
    if (unlink(path.c_str()) == 0) return absl::OkStatus();
    const int error = errno;
    if (rmdir(path.c_str()) == 0) return absl::OkStatus();
    return PosixError(errno == ENOTDIR ? error : errno, path);
  }
};

}  // namespace

std::unique_ptr<FileSystem> NewPosixFileSystem() {
  return std::make_unique<PosixFileSystem>();
}

}  // namespace shoal
