#ifndef SHOAL_TESTS_HARNESS_DURABLE_FILE_SYSTEM_H_
#define SHOAL_TESTS_HARNESS_DURABLE_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {

// A FakeFileSystem that knows which of its content would survive a crash of the
// machine. It records every change and every sync. After a run it can show the
// disk as a crash at any moment of the run would have left it:
//
//   DurableFileSystem files;
//   ... code that writes ...
//   for (size_t n = 0; n <= files.operations(); ++n) {
//     const auto disk = files.Crash(n);  // what the next process finds
//
// A file's bytes are durable once the file is synced. A new name, a removal or
// a renaming is durable once the directory is synced (SyncDirectory, Rename and
// WriteFileAtomically sync it by contract). Thread-safe.
class DurableFileSystem final : public FileSystem {
 public:
  // The number of changes and syncs so far. Rename and WriteFileAtomically
  // count as several.
  size_t operations() const;
  // The last one of the first `n`, for messages: "rename m/a to m/b".
  std::string OperationBefore(size_t n) const;

  // The disk after a crash that follows the first `n` operations. Without a
  // seed it holds exactly what was synced. With a seed each change of a
  // directory that was not synced may have reached the disk or not, in any
  // order. Of a file that was not synced some, all or none of the bytes are
  // there, or zeros in their place. The seed decides.
  std::unique_ptr<FakeFileSystem> Crash(
      size_t n, std::optional<uint64_t> seed = std::nullopt) const;

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
  enum class Kind {
    kMakeDirectories,
    kCreate,
    kAppend,
    kSync,
    kRename,
    kRemove,
    kSyncDirectory
  };
  struct Operation {
    Kind kind;
    std::string path;
    std::string to;     // of kRename
    uint64_t file = 0;  // for kCreate, kAppend and kSync: the open file
    std::string bytes;  // for kAppend
  };
  class Writer;
  class Disk;

  void Note(Operation operation) const;

  FakeFileSystem files_;  // as the processes see it
  mutable Mutex mu_;
  mutable std::vector<Operation> operations_ ABSL_GUARDED_BY(mu_);
  mutable uint64_t opened_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_DURABLE_FILE_SYSTEM_H_
