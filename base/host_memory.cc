#include "base/host_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace shoal {
namespace {

// "max", and text that is not a number, mean no limit.
std::optional<uint64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// The number after `key` in a file of "key number" lines.
std::optional<uint64_t> ReadKey(const std::string& path,
                                const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    uint64_t number = 0;
    if (fields >> name >> number && name == key) return number;
  }
  return std::nullopt;
}

// The names of the files of one version of control groups.
struct Files {
  const char* limit;
  const char* usage;
  const char* cache;  // in memory.stat: pages that can be given up
};
constexpr Files kVersion2 = {"memory.max", "memory.current", "inactive_file"};
constexpr Files kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                             "total_inactive_file"};

// Lowers *memory to the limits of the group `path` below `mount` and of its
// ancestors.
void ApplyGroups(const std::string& mount, std::string path, const Files& files,
                 HostMemory* memory) {
  for (;;) {
    const std::string directory =
        mount + (path == "/" ? std::string("/") : path + "/");
    const auto limit = ReadNumber(directory + files.limit);
    // No limit reads as a number above all memory in version 1.
    if (limit.has_value() &&
        (memory->total_bytes == 0 || *limit < memory->total_bytes)) {
      memory->total_bytes = *limit;
      memory->of_group = true;
      memory->whose = "control group " + path;
    }
    const auto usage = ReadNumber(directory + files.usage);
    if (limit.has_value() && usage.has_value()) {
      const uint64_t cache =
          ReadKey(directory + "memory.stat", files.cache).value_or(0);
      const uint64_t used = *usage - std::min(*usage, cache);
      memory->available_bytes =
          std::min(memory->available_bytes, *limit - std::min(*limit, used));
    }
    if (path == "/" || path.empty()) return;
    path.resize(path.rfind('/'));
    if (path.empty()) path = "/";
  }
}

}  // namespace

HostMemory ReadHostMemory(const std::string& root) {
  HostMemory memory;
  const std::string meminfo = root + "/proc/meminfo";
  memory.total_bytes = ReadKey(meminfo, "MemTotal:").value_or(0) * 1024;
  memory.available_bytes = ReadKey(meminfo, "MemAvailable:").value_or(0) * 1024;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "hierarchy:controllers:path"
    const size_t first = line.find(':');
    if (first == std::string::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (controllers == ",,") {
      ApplyGroups(root + "/sys/fs/cgroup", path, kVersion2, &memory);
    } else if (controllers.find(",memory,") != std::string::npos) {
      ApplyGroups(root + "/sys/fs/cgroup/memory", path, kVersion1, &memory);
    }
  }
  return memory;
}

}  // namespace shoal
