#ifndef SHOAL_BASE_FILE_SYSTEM_H_
#define SHOAL_BASE_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal {

// Errors of every call below: NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION
// (a directory where a file is needed, or the reverse), RESOURCE_EXHAUSTED
// (disk or descriptors), otherwise INTERNAL; the message names the path.

// Thread-safe: reads carry their own offset.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Reads up to out.size() bytes at `offset`; fewer only at the file's end.
  virtual absl::StatusOr<size_t> Read(uint64_t offset,
                                      absl::Span<char> out) const = 0;
  virtual uint64_t size() const = 0;  // bytes, when the file was opened
};

// Thread-compatible.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual absl::Status Append(absl::string_view bytes) = 0;
  // Hands the appended bytes to the operating system, so that readers of the
  // file see them.
  virtual absl::Status Flush() = 0;
  // Returns when the appended bytes are on the disk (fsync).
  virtual absl::Status Sync() = 0;
  // Flushes and closes. A file that was not closed may be incomplete.
  virtual absl::Status Close() = 0;
};

struct FileInfo {
  std::string path;
  uint64_t size = 0;  // bytes
  // The path below the directory that the pattern names, or the base name of a
  // file that the pattern names. It does not depend on where the directory is.
  std::string name;
};

struct DirectoryEntry {
  std::string name;  // without the directory
  bool is_directory = false;
  uint64_t size = 0;  // bytes, of a regular file
};

// SEAM: files. Implementations: the operating system's, and the faulty ones of
// tests/harness. Thread-safe.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
      const std::string& path) const = 0;
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) const = 0;

  // Returns the regular files that `pattern` names, sorted by path. A pattern
  // is a file, a directory or a glob. A directory names the files below it, at
  // any depth. A glob names the files that match it, and the files below the
  // directories that match it, whose names begin with the directory's name.
  // Files and directories that a listing finds and whose names begin with '.'
  // or '_' are left out. Several patterns are separated by commas; a file named
  // twice is listed once, with its first name. A path that exists is taken as
  // it is, before its commas (SplitPatterns of path.h) and the characters of a
  // glob in it are looked at. NOT_FOUND if a pattern names nothing;
  // FAILED_PRECONDITION if links make a circle or name a directory twice, or if
  // there is more than posix_file_list.h allows.
  virtual absl::StatusOr<std::vector<FileInfo>> List(
      const std::string& pattern) const = 0;

  // Creates the directory and its parents; OK if they exist already. Their
  // names survive a crash once SyncDirectory was called for the directories
  // that hold them.
  virtual absl::Status CreateDirectories(const std::string& path) const = 0;
  // Replaces the content of `path` by `bytes`, whole or not at all, even after
  // a crash (temporary file, fsync, rename, fsync of the directory).
  virtual absl::Status WriteFileAtomically(const std::string& path,
                                           absl::string_view bytes) const = 0;

  // Returns all entries of a directory, hidden ones too, sorted by name. A link
  // counts as the file or directory that it leads to. A device, or a link that
  // leads nowhere, counts as a file of size 0.
  virtual absl::StatusOr<std::vector<DirectoryEntry>> ListDirectory(
      const std::string& path) const = 0;
  // Gives a file another name in the same directory, replaces a file that has
  // the new name, and syncs the directory, so that the new name survives a
  // crash.
  virtual absl::Status Rename(const std::string& from,
                              const std::string& to) const = 0;
  // Removes a file or an empty directory. FAILED_PRECONDITION: the directory is
  // not empty. After a crash the entry may be there again.
  virtual absl::Status Remove(const std::string& path) const = 0;
  // Returns when all names that were created, renamed or removed in this
  // directory are on the disk (fsync).
  virtual absl::Status SyncDirectory(const std::string& path) const = 0;
};

std::unique_ptr<FileSystem> NewPosixFileSystem();

}  // namespace shoal

#endif  // SHOAL_BASE_FILE_SYSTEM_H_
