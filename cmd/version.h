#ifndef SHOAL_CMD_VERSION_H_
#define SHOAL_CMD_VERSION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace shoal {

// "shoal 0.5.0, protocol 1, checkpoint format 1": of the project, and what two
// builds must have in common to work together and to read each other's
// checkpoints.
std::string VersionText(absl::string_view binary);

// Whether `args` begin with --version; then it is printed on stdout.
bool PrintVersion(const std::vector<std::string>& args,
                  absl::string_view binary);

}  // namespace shoal

#endif  // SHOAL_CMD_VERSION_H_
