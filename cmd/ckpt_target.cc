#include "cmd/ckpt_target.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "cmd/parse_command_line.h"

namespace shoal {

std::optional<ExitCode> ParseCkptArguments(const std::string& command,
                                           const std::string& about,
                                           const std::vector<std::string>& args,
                                           CkptArguments* parsed) {
  FlagSet set(absl::StrCat("shoal ckpt ", command, " DIR"), about);
  set.Group("Output");
  set.Add({"json", &parsed->json, "Print JSON instead of text."});
  if (command == "verify") {
    set.Add({"missing_ok", &parsed->missing_ok,
             "Ignore missing files, for hosts that each keep their own "
             "shards."});
  }
  std::vector<std::string> flags;
  for (const std::string& arg : args) {
    if (absl::StartsWith(arg, "-")) {
      flags.push_back(arg);
    } else if (parsed->directory.empty()) {
      parsed->directory = arg;
    } else {
      return Complain(
          set.command(),
          absl::InvalidArgumentError(absl::StrCat(
              "give only one directory: '", arg, "' is a second one")),
          kExitUsage);
    }
  }
  if (const auto exit = ParseOrExit(&set, flags)) return exit;
  if (!parsed->directory.empty()) return std::nullopt;
  return Complain(
      set.command(),
      absl::InvalidArgumentError("name a model directory or a checkpoint"),
      kExitUsage);
}

absl::StatusOr<std::vector<CheckpointInfo>> FindCheckpoints(
    const FileSystem& files, const std::string& directory) {
  SHOAL_ASSIGN_OR_RETURN(const auto entries, files.ListDirectory(directory));
  bool is_checkpoint = StepOfName(Basename(CleanPath(directory))).has_value();
  for (const DirectoryEntry& entry : entries) {
    is_checkpoint |= entry.name == kManifestFile;
  }
  if (is_checkpoint) {
    return std::vector<CheckpointInfo>{InspectCheckpoint(files, directory)};
  }
  SHOAL_ASSIGN_OR_RETURN(auto found, ListCheckpoints(files, directory));
  if (!found.empty()) return found;
  return absl::NotFoundError(absl::StrCat(
      directory, ": holds no checkpoint: no entry is named ckpt-<step>"));
}

absl::StatusOr<CheckpointInfo> FindCheckpoint(const FileSystem& files,
                                              const std::string& directory) {
  SHOAL_ASSIGN_OR_RETURN(auto found, FindCheckpoints(files, directory));
  for (CheckpointInfo& info : found) {
    if (info.status.ok()) return std::move(info);
  }
  // The directory exists; its content is wrong.
  const absl::Status& why = found.front().status;
  return absl::IsNotFound(why) ? absl::DataLossError(why.message()) : why;
}

}  // namespace shoal
