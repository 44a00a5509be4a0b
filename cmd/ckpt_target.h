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

// What the subcommands of `shoal ckpt` are given.
struct CkptArguments {
  std::string directory;  // a model directory or one checkpoint
  bool json = false;
  bool missing_ok = false;  // verify alone
};

// `shoal ckpt NAME DIR [--json]`. A code to exit with if that is all there is
// to do.
std::optional<ExitCode> ParseCkptArguments(const std::string& command,
                                           const std::string& about,
                                           const std::vector<std::string>& args,
                                           CkptArguments* parsed);

// The checkpoint that `directory` is, or all of a model directory, the newest
// first. NOT_FOUND: no such directory, or nothing in it is named as one.
absl::StatusOr<std::vector<CheckpointInfo>> FindCheckpoints(
    const FileSystem& files, const std::string& directory);

// The one that `directory` is, or the newest valid one of a model directory.
// NOT_FOUND: as FindCheckpoints. Otherwise why the newest is not valid:
// DATA_LOSS where it has no manifest.
absl::StatusOr<CheckpointInfo> FindCheckpoint(const FileSystem& files,
                                              const std::string& directory);

}  // namespace shoal

#endif  // SHOAL_CMD_CKPT_TARGET_H_
