#ifndef SHOAL_BASE_GROUP_LOCK_H_
#define SHOAL_BASE_GROUP_LOCK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/posix_file.h"

namespace shoal {

// A lock that all processes of one group hold together and no process of
// another group holds meanwhile, by a file. A group is a number, not 0. The
// lock of a process ends with the object or with the process, however that
// ends; the file stays, and says which group had it last and what the first
// process of that group wrote. Thread-compatible.
//
// Two bytes beyond the file's text are locked, as locks of an open file
// description: the *holders'* byte, by each holder, and the *gate's* byte, for
// the microseconds in which one process looks at the file and changes it. So
// the text is always that of the group that holds the lock, also where
// processes of two groups come at once. Works between hosts where the file
// system has such locks (NFS has).
class GroupLock {
 public:
  // Takes the lock for `group`, beside the processes of that group that have
  // it. The file is made if need be; `holder` is written into it where no other
  // process has the lock. Errors:
  //   FAILED_PRECONDITION  another group has it, or one process alone; the
  //                        message says what its first process wrote
  //   UNAVAILABLE          another process was at the gate for two seconds
  //   UNIMPLEMENTED        the file system has no such locks
  //   and those of base/file_system.h
  static absl::StatusOr<std::unique_ptr<GroupLock>> Join(
      const std::string& path, uint64_t group, absl::string_view holder);

  // Takes the lock for this process alone. Errors as of Join.
  static absl::StatusOr<std::unique_ptr<GroupLock>> AcquireAlone(
      const std::string& path, absl::string_view holder);

  // From now on processes of `group` may join. At no moment in between can
  // another group have the lock. REQUIRES: it was taken alone, and is still.
  // Errors: those of base/file_system.h; the lock stays as it was.
  absl::Status Share(uint64_t group, absl::string_view holder);

  // Removes the file, if AcquireAlone made it: for a process that locked and
  // then does nothing. The lock still ends with the object. REQUIRES: no other
  // process of the group has the lock.
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
