#include "base/posix_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

constexpr size_t kBufferBytes = 64 * 1024;

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case ENXIO:  // a FIFO without a reader, a device that is not there
      return absl::StatusCode::kFailedPrecondition;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::string_view KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "directory";
  if (S_ISFIFO(mode)) return "FIFO";
  if (S_ISSOCK(mode)) return "socket";
  return "device";
}

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, FileDescriptor fd, uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override {
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t n = pread(fd_.get(), out.data() + done, out.size() - done,
                              static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        return PosixError(
            errno, absl::StrCat(path_, ": reading at byte ", offset + done));
      }
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

  uint64_t size() const override { return size_; }

 private:
  const std::string path_;
  const FileDescriptor fd_;
  const uint64_t size_;
};

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, FileDescriptor fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status Append(absl::string_view bytes) override {
    if (!fd_.valid()) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ": the file is closed"));
    }
    if (buffer_.size() + bytes.size() > kBufferBytes) WriteBuffer();
    if (bytes.size() >= kBufferBytes) {
      if (status_.ok()) status_ = WriteAll(fd_.get(), bytes, path_);
    } else {
      buffer_.append(bytes.data(), bytes.size());
    }
    return status_;
  }

  absl::Status Flush() override {
    WriteBuffer();
    return status_;
  }

  absl::Status Sync() override {
    if (!fd_.valid()) return status_;
    WriteBuffer();
    if (status_.ok() && fsync(fd_.get()) != 0) {
      status_ = PosixError(errno, path_);
    }
    return status_;
  }

  absl::Status Close() override {
    if (!fd_.valid()) return status_;
    WriteBuffer();
    const absl::Status closed = fd_.Close(path_);
    if (status_.ok()) status_ = closed;
    return status_;
  }

 private:
  void WriteBuffer() {
    if (status_.ok()) status_ = WriteAll(fd_.get(), buffer_, path_);
    buffer_.clear();
  }

  const std::string path_;
  FileDescriptor fd_;
  std::string buffer_;
  absl::Status status_;  // the first failure: the file has a hole after it
};

}  // namespace

absl::Status PosixError(int error, absl::string_view path) {
  return absl::Status(
      CodeOf(error),
      absl::StrCat(path, ": ", std::generic_category().message(error)));
}

absl::Status CheckRegular(mode_t mode, absl::string_view path) {
  if (S_ISREG(mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": is a ", KindOf(mode), "; a regular file is needed"));
}

void FileDescriptor::Reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

absl::Status FileDescriptor::Close(absl::string_view path) {
  if (fd_ >= 0 && close(std::exchange(fd_, -1)) != 0) {
    return PosixError(errno, path);
  }
  return absl::OkStatus();
}

absl::StatusOr<FileDescriptor> OpenOrMake(const std::string& path, bool* made) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NONBLOCK;
  FileDescriptor file(open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0644));
  *made = file.valid();
  // EEXIST also comes for a broken link.
  if (!*made && errno == EEXIST) {
    file = FileDescriptor(open(path.c_str(), kFlags | O_CREAT, 0644));
  }
  if (!file.valid()) return PosixError(errno, path);
  return file;
}

bool IsNameOf(const std::string& path, const FileDescriptor& file) {
  struct stat named, opened;
  return stat(path.c_str(), &named) == 0 && fstat(file.get(), &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

absl::StatusOr<std::vector<std::string>> DirectoryNames(
    const std::string& path) {
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(path.c_str()));
  if (directory == nullptr) return PosixError(errno, path);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr) break;
    const absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return PosixError(errno, path);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return PosixError(errno, path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenPosixFile(
    const std::string& path) {
  // O_NONBLOCK: opening a FIFO would else wait for its writer.
  FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!fd.valid() || fstat(fd.get(), &info) != 0) {
    return PosixError(errno, path);
  }
  SHOAL_RETURN_IF_ERROR(CheckRegular(info.st_mode, path));
  return std::make_unique<PosixRandomAccessFile>(path, std::move(fd),
                                                 info.st_size);
}

absl::StatusOr<std::unique_ptr<WritableFile>> CreatePosixFile(
    const std::string& path) {
  FileDescriptor fd(open(path.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK,
                         0666));
  struct stat info;
  if (!fd.valid() || fstat(fd.get(), &info) != 0) {
    return PosixError(errno, path);
  }
  SHOAL_RETURN_IF_ERROR(CheckRegular(info.st_mode, path));
  return std::make_unique<PosixWritableFile>(path, std::move(fd));
}

}  // namespace shoal
