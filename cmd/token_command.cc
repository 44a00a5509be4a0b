// shoal token: makes a file with a new secret for a job.

#include <iostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "job/exit_code.h"
#include "launch/flag_set.h"
#include "rpc/token.h"

namespace shoal {
namespace {

// Removes the only argument that is not a flag from *args. INVALID_ARGUMENT:
// there is no such argument, or several.
absl::StatusOr<std::string> TakePath(Args* args) {
  std::string path;
  Args flags;
  for (const std::string& arg : *args) {
    if (arg == "-") {
      return absl::InvalidArgumentError(
          "'-' is not the name of a file: name the file to make");
    }
    if (absl::StartsWith(arg, "-")) {
      flags.push_back(arg);
    } else if (path.empty()) {
      path = arg;
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "give only one file: '", arg, "' is a second one"));
    }
  }
  *args = std::move(flags);
  return path;
}

absl::Status MakeTokenFile(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string token, MakeToken());
  return WriteTokenFile(path, token);
}

}  // namespace

int TokenCommand(const Args& args) {
  FlagSet set(
      "shoal token FILE",
      "Makes FILE with a new secret for a job: 32 bytes from the system's "
      "random source, in hexadecimal. Only the user who runs this command can "
      "read FILE (mode 0600). A file that exists is never replaced. Copy FILE "
      "to every host of the job, and name it in --token_file.");
  Args flags = args;
  const absl::StatusOr<std::string> path = TakePath(&flags);
  if (!path.ok()) return Complain("shoal token", path.status(), kExitUsage);
  if (const auto exit = ParseOrExit(&set, flags)) return *exit;
  if (path->empty()) {
    return Complain("shoal token",
                    absl::InvalidArgumentError(
                        "name the file to make, as in: shoal token job.token"),
                    kExitUsage);
  }
  const absl::Status made = MakeTokenFile(*path);
  if (absl::IsAlreadyExists(made)) {
    return Complain("shoal token", made, kExitUsage);
  }
  if (!made.ok()) return Complain("shoal token", made);
  std::cout << *path << " holds a new token. Copy it to every host of the "
            << "job, and give\nit to every process: --token_file=" << *path
            << std::endl;
  return std::cout.good() ? kExitOk : kExitFailed;
}

}  // namespace shoal
