#include "base/cpu_name.h"

#include <fstream>

namespace shoal {

std::string CpuName(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(':');
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    if (colon == std::string::npos || begin == std::string::npos) return "";
    return line.substr(begin);
  }
  return "";
}

}  // namespace shoal
