#include "cmd/version.h"

#include "absl/strings/str_cat.h"
#include "checkpoint/manifest.h"
#include "cmd/own_terminal.h"
#include "core/registration.h"

namespace shoal {

std::string VersionText(absl::string_view binary) {
  return absl::StrCat(binary, " ", SHOAL_VERSION, ", protocol ",
                      kProtocolVersion, ", checkpoint format ",
                      kCheckpointFormatVersion);
}

std::optional<ExitCode> PrintVersion(const std::vector<std::string>& args,
                                     absl::string_view binary) {
  if (args.empty() || args[0] != "--version") return std::nullopt;
  return PrintResult(binary, absl::StrCat(VersionText(binary), "\n"));
}

}  // namespace shoal
