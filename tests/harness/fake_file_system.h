#ifndef SHOAL_TESTS_HARNESS_FAKE_FILE_SYSTEM_H_
#define SHOAL_TESTS_HARNESS_FAKE_FILE_SYSTEM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "base/mutex.h"

namespace shoal {

// Files in memory, with faults. Passes the same conformance suite as the
// operating system's files. Thread-safe; open files may outlive the file
// system.
class FakeFileSystem final : public FileSystem {
 public:
  // Adds a file and its directories.
  void AddFile(const std::string& path, std::string bytes);
  absl::StatusOr<std::string> Contents(const std::string& path) const;

  // From now on reads that touch a byte at or after `from` fail with `error`,
  // on open files, too. OK: they no longer fail.
  void FailReads(const std::string& path, absl::Status error,
                 uint64_t from = 0);
  // Cuts the file to `bytes`. Open files still have the old size().
  void Truncate(const std::string& path, uint64_t bytes);
  // Gives the file these bytes, in open files, too.
  void Overwrite(const std::string& path, std::string bytes);
  // A file at `path` takes at most `bytes`; more is RESOURCE_EXHAUSTED, as on a
  // full disk.
  void LimitWrites(const std::string& path, uint64_t bytes);

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
      const std::string& path) const override;
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) const override;
  absl::StatusOr<std::vector<FileInfo>> List(
      const std::string& pattern) const override;
  absl::Status CreateDirectories(const std::string& path) const override;
  absl::Status WriteFileAtomically(const std::string& path,
                                   absl::string_view bytes) const override;
  absl::StatusOr<std::vector<DirectoryEntry>> ListDirectory(
      const std::string& path) const override;
  absl::Status Rename(const std::string& from,
                      const std::string& to) const override;
  absl::Status Remove(const std::string& path) const override;
  absl::Status SyncDirectory(const std::string& path) const override;

 private:
  // One file's bytes and faults, shared by all that have the file open.
  struct File {
    mutable Mutex mu;
    std::string bytes ABSL_GUARDED_BY(mu);
    absl::Status read_error ABSL_GUARDED_BY(mu);
    uint64_t read_error_from ABSL_GUARDED_BY(mu) = 0;
  };
  class Reader;
  class Writer;

  std::shared_ptr<File> Find(const std::string& path) const;
  // OK if a file may be put at `path`: the directory of `path` exists, and
  // `path` is not a directory.
  absl::Status CheckPlace(const std::string& path) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint64_t WriteLimit(const std::string& path) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status ListPattern(const std::string& pattern,
                           std::map<std::string, FileInfo>* found) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  mutable std::map<std::string, std::shared_ptr<File>> files_
      ABSL_GUARDED_BY(mu_);
  mutable std::set<std::string> directories_ ABSL_GUARDED_BY(mu_) = {".", "/"};
  std::map<std::string, uint64_t> write_limits_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_FAKE_FILE_SYSTEM_H_
