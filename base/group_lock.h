#ifndef SHOAL_BASE_GROUP_LOCK_H_
#define SHOAL_BASE_GROUP_LOCK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/posix_file.h"

namespace shoal {

// A lock, by means of a file, that the processes of one group hold together; no
// process of another group can hold the lock meanwhile. A group is a number
// other than 0. The lock of a process ends with the object or with the process,
// even one that is killed. The file stays, and says which group had the lock
// last and what the first process of that group wrote. Thread-compatible.
//
// Two bytes beyond the file's text are locked, as locks of an open file
// description: the *holders'* byte, by each holder, and the *gate's* byte, for
// the microseconds in which a process reads the file and changes it. So the
// text is always that of the group that holds the lock, even if processes of
// two groups come at once. Works between hosts if the file system has such
// locks (NFS has).
class GroupLock {
 public:
  // Takes the lock for `group`, together with other processes of that group.
  // Makes the file if it does not exist. Writes `holder` into the file if no
  // other process has the lock. Errors:
  //   FAILED_PRECONDITION  another group has the lock, or one process has it
  //                        alone; the message quotes what the first process of
  //                        the holders wrote
  //   UNAVAILABLE          another process was at the gate for two seconds
  //   UNIMPLEMENTED        the file system has no such locks
  //   and those of base/file_system.h
  static absl::StatusOr<std::unique_ptr<GroupLock>> Join(
      const std::string& path, uint64_t group, absl::string_view holder);

  // Takes the lock for this process alone. Errors: those of Join.
  static absl::StatusOr<std::unique_ptr<GroupLock>> AcquireAlone(
      const std::string& path, absl::string_view holder);

  // What the first process of the holders wrote; nullopt: no process has the
  // lock. Takes and changes nothing. Errors: UNIMPLEMENTED and those of
  // base/file_system.h.
  static absl::StatusOr<std::optional<std::string>> HolderOf(
      const std::string& path);

  // Lets processes of `group` join from now on. Another group cannot take the
  // lock in between. REQUIRES: this process took the lock alone and has not
  // shared it. Errors: those of base/file_system.h; the lock then stays as it
  // was.
  absl::Status Share(uint64_t group, absl::string_view holder);

  // Removes the file if AcquireAlone made it, for a process that ends without
  // having used the lock. The lock still ends with the object. REQUIRES: no
  // other process of the group has the lock.
  void Withdraw();

 private:
  GroupLock(FileDescriptor file, std::string path, bool made)
      : file_(std::move(file)), path_(std::move(path)), made_(made) {}

  static absl::StatusOr<std::unique_ptr<GroupLock>> Take(
      const std::string& path, uint64_t group, absl::string_view holder);

  const FileDescriptor file_;
  const std::string path_;
  bool made_;
  bool alone_ = false;  // taken alone, and not shared since
};

}  // namespace shoal

#endif  // SHOAL_BASE_GROUP_LOCK_H_
