#ifndef SHOAL_CMD_CKPT_TARGET_H_
#define SHOAL_CMD_CKPT_TARGET_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "checkpoint/checkpoint_directory.h"
#include "job/exit_code.h"

namespace shoal {

// The arguments of the subcommands of `shoal ckpt`.
struct CkptArguments {
  std::string directory;  // a model directory or one checkpoint
  bool json = false;
  bool missing_ok = false;  // only for verify
};

// Parses `shoal ckpt NAME DIR [--json]`. Returns an exit code if the command
// has nothing more to do.
std::optional<ExitCode> ParseCkptArguments(const std::string& command,
                                           const std::string& about,
                                           const std::vector<std::string>& args,
                                           CkptArguments* parsed);

// The checkpoint in `directory`, or all checkpoints if `directory` is a model
// directory, the newest first. NOT_FOUND: there is no such directory, or no
// entry in it has the name of a checkpoint.
absl::StatusOr<std::vector<CheckpointInfo>> FindCheckpoints(
    const FileSystem& files, const std::string& directory);

// The checkpoint in `directory`, or the newest valid one if `directory` is a
// model directory. NOT_FOUND: as FindCheckpoints. Other errors say why the
// newest is not valid: DATA_LOSS if it has no manifest.
absl::StatusOr<CheckpointInfo> FindCheckpoint(const FileSystem& files,
                                              const std::string& directory);

}  // namespace shoal

#endif  // SHOAL_CMD_CKPT_TARGET_H_
