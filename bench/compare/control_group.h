#ifndef SHOAL_BENCH_COMPARE_CONTROL_GROUP_H_
#define SHOAL_BENCH_COMPARE_CONTROL_GROUP_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace shoal {

// A `cpu` control group, of version 1 or 2, whose processes get a quota of
// processor time. Thread-compatible.
class ControlGroup {
 public:
  // The directory below which groups of processor time are made: that of the
  // controller `cpu` in version 1, or of version 2 if `cpu` is there.
  // UNAVAILABLE: there is none, `cpu` cannot be enabled in version 2, or all
  // that is below it has a quota.
  // `root` is put before every path, for tests.
  struct Place {
    std::string directory;
    bool version2 = false;
  };
  static absl::StatusOr<Place> Find(const std::string& root = "");

  // Makes the group `name`, without a quota. PERMISSION_DENIED or UNAVAILABLE,
  // with the path: the group cannot be made.
  static absl::StatusOr<ControlGroup> Make(const Place& place,
                                           const std::string& name);
  ControlGroup(ControlGroup&& other) noexcept;
  ControlGroup& operator=(ControlGroup&&) = delete;
  // Removes the group, whose processes have ended. If the kernel still holds
  // one after 1 s, the group is left for Remove.
  ~ControlGroup();

  // Gives the group the largest weight that the kernel has: where cores are
  // short, it comes before groups with the usual one.
  absl::Status PutFirst();

  // Processor time that the group gets in each period; InfiniteDuration: all.
  // The kernel takes periods of 1 ms to 1 s and quotas of 1 ms and more.
  absl::Status SetQuota(absl::Duration quota, absl::Duration period);

  // The file into which a process writes its number to join the group.
  std::string processes_file() const;

  // Names of the groups below the place that begin with `prefix`.
  static std::vector<std::string> List(const Place& place,
                                       const std::string& prefix);
  // False: the group is still there, as when it has processes.
  static bool Remove(const Place& place, const std::string& name);

 private:
  ControlGroup(std::string path, bool version2)
      : path_(std::move(path)), version2_(version2) {}

  std::string path_;  // empty: moved from
  bool version2_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CONTROL_GROUP_H_
