#include "cmd/version.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "checkpoint/manifest.h"
#include "core/registration.h"

namespace shoal {

std::string VersionText(absl::string_view binary) {
  return absl::StrCat(binary, " ", SHOAL_VERSION, ", protocol ",
                      kProtocolVersion, ", checkpoint format ",
                      kCheckpointFormatVersion);
}

bool PrintVersion(const std::vector<std::string>& args,
                  absl::string_view binary) {
  if (args.empty() || args[0] != "--version") return false;
  std::cout << VersionText(binary) << std::endl;
  return true;
}

}  // namespace shoal
