#include "bench/compare/control_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

absl::Status Failed(const std::string& what, int error) {
  const std::string message = absl::StrCat(what, ": ", strerror(error));
  return error == EACCES || error == EPERM || error == EROFS
             ? absl::PermissionDeniedError(message)
             : absl::UnavailableError(message);
}

// One write(2) of the whole text, as the kernel's files need.
absl::Status WriteTo(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return Failed(absl::StrCat("cannot open ", path), errno);
  const ssize_t written = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  if (written == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  return Failed(absl::StrCat("cannot write '", text, "' to ", path), error);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool HasWord(absl::string_view words, absl::string_view word, char between) {
  for (const absl::string_view one : absl::StrSplit(words, between)) {
    if (one == word) return true;
  }
  return false;
}

absl::StatusOr<ControlGroup::Place> FindPlace(const std::string& root) {
  ControlGroup::Place second;
  const std::string mounts = ReadText(absl::StrCat(root, "/proc/self/mounts"));
  for (const absl::string_view line : absl::StrSplit(mounts, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() < 4) continue;
    const std::string directory = absl::StrCat(root, words[1]);
    if (words[2] == "cgroup" && HasWord(words[3], "cpu", ',')) {
      return ControlGroup::Place{directory, false};
    }
    if (words[2] != "cgroup2") continue;
    std::string controllers =
        ReadText(absl::StrCat(directory, "/cgroup.controllers"));
    if (!controllers.empty() && controllers.back() == '\n') {
      controllers.pop_back();
    }
    if (HasWord(controllers, "cpu", ' ')) second = {directory, true};
  }
  if (second.directory.empty()) {
    return absl::UnavailableError(
        "no control groups for processor time: neither the `cpu` controller of "
        "version 1 nor of version 2 is mounted");
  }
  return second;
}

// UNAVAILABLE: what is below the place has a quota together, as all of a
// container may have. Its hosts would be stopped at the same time.
absl::Status CheckHasNoQuota(const ControlGroup::Place& place) {
  const std::string path = absl::StrCat(
      place.directory, place.version2 ? "/cpu.max" : "/cpu.cfs_quota_us");
  const std::string text = ReadText(path);
  const absl::string_view quota = absl::StripAsciiWhitespace(text);
  if (quota.empty() || quota == "-1" || absl::StartsWith(quota, "max")) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(
      "all processes here have a quota of processor time together (", path,
      " has '", quota,
      "'); give this container whole cores instead, such as with docker run "
      "--cpuset-cpus"));
}

}  // namespace

absl::StatusOr<ControlGroup::Place> ControlGroup::Find(
    const std::string& root) {
  SHOAL_ASSIGN_OR_RETURN(Place place, FindPlace(root));
  SHOAL_RETURN_IF_ERROR(CheckHasNoQuota(place));
  if (place.version2) {
    SHOAL_RETURN_IF_ERROR(Annotate(
        WriteTo(absl::StrCat(place.directory, "/cgroup.subtree_control"),
                "+cpu"),
        "cannot use control groups of version 2"));
  }
  return place;
}

absl::StatusOr<ControlGroup> ControlGroup::Make(const Place& place,
                                                const std::string& name) {
  const std::string path = absl::StrCat(place.directory, "/", name);
  if (mkdir(path.c_str(), 0755) != 0) {
    return Failed(absl::StrCat("cannot make the control group ", path), errno);
  }
  return ControlGroup(path, place.version2);
}

ControlGroup::ControlGroup(ControlGroup&& other) noexcept
    : path_(std::exchange(other.path_, "")), version2_(other.version2_) {}

ControlGroup::~ControlGroup() {
  // A process that was killed just now may still be in the group.
  for (int i = 0; !path_.empty() && i < 100; ++i) {
    if (rmdir(path_.c_str()) == 0 || errno != EBUSY) return;
    usleep(10'000);
  }
}

absl::Status ControlGroup::PutFirst() {
  return version2_ ? WriteTo(absl::StrCat(path_, "/cpu.weight"), "10000")
                   : WriteTo(absl::StrCat(path_, "/cpu.shares"), "262144");
}

absl::Status ControlGroup::SetQuota(absl::Duration quota,
                                    absl::Duration period) {
  const int64_t period_us = absl::ToInt64Microseconds(period);
  const bool all = quota == absl::InfiniteDuration();
  const int64_t quota_us = all ? -1 : absl::ToInt64Microseconds(quota);
  if (version2_) {
    const std::string text = all ? "max" : absl::StrCat(quota_us);
    return WriteTo(absl::StrCat(path_, "/cpu.max"),
                   absl::StrCat(text, " ", period_us));
  }
  // The kernel refuses a quota that does not fit the period in force.
  const std::string quota_file = absl::StrCat(path_, "/cpu.cfs_quota_us");
  SHOAL_RETURN_IF_ERROR(WriteTo(quota_file, "-1"));
  SHOAL_RETURN_IF_ERROR(WriteTo(absl::StrCat(path_, "/cpu.cfs_period_us"),
                                absl::StrCat(period_us)));
  return all ? absl::OkStatus() : WriteTo(quota_file, absl::StrCat(quota_us));
}

std::string ControlGroup::processes_file() const {
  return absl::StrCat(path_, "/cgroup.procs");
}

std::vector<std::string> ControlGroup::List(const Place& place,
                                            const std::string& prefix) {
  std::vector<std::string> names;
  DIR* const directory = opendir(place.directory.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (absl::StartsWith(entry->d_name, prefix)) {
      names.emplace_back(entry->d_name);
    }
  }
  closedir(directory);
  return names;
}

bool ControlGroup::Remove(const Place& place, const std::string& name) {
  return rmdir(absl::StrCat(place.directory, "/", name).c_str()) == 0;
}

}  // namespace shoal
