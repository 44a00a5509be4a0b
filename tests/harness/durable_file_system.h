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

// A FakeFileSystem that knows what of it would survive a crash of the machine.
// It takes down every change and every sync, so that after a run the disk can
// be looked at as a crash at any moment of the run would have left it:
//
//   DurableFileSystem files;
//   ... code that writes ...
//   for (size_t n = 0; n <= files.operations(); ++n) {
//     const auto disk = files.Crash(n);  // what the next process finds
//
// A file's bytes are durable from its Sync on; a name, its removal or another
// name of a file from the sync of its directory on (SyncDirectory, Rename and
// WriteFileAtomically do that by contract). Thread-safe.
class DurableFileSystem final : public FileSystem {
 public:
  // How many changes and syncs there were so far. Rename and
  // WriteFileAtomically are several.
  size_t operations() const;
  // The last one of the first `n`, for messages: "rename m/a to m/b".
  std::string OperationBefore(size_t n) const;

  // What a crash behind the first `n` operations leaves. Without a seed exactly
  // what was synced. With one each change of a directory that was not synced
  // has reached the disk or has not, in any order, and of a file that was not
  // synced some, all or none of the bytes, or zeros in their place: by the
  // seed.
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
    uint64_t file = 0;  // of kCreate, kAppend and kSync: which open file
    std::string bytes;  // of kAppend
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
