#include "base/machine_name.h"

#include <unistd.h>

#include <array>
#include <fstream>

namespace shoal {

std::string MachineName(const std::string& root) {
  std::array<char, 256> host = {};  // HOST_NAME_MAX and a last zero
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const std::string name = host[0] == '\0' ? "localhost" : host.data();
  std::ifstream file(root + "/proc/sys/kernel/random/boot_id");
  std::string boot;
  if (!(file >> boot)) return name;
  return name + " (boot " + boot.substr(0, boot.find('-')) + ")";
}

}  // namespace shoal
