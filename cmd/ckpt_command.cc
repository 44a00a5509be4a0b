// shoal ckpt ls | show | balance | verify: what a model directory holds.

#include <memory>
#include <string>
#include <utility>

#include "base/file_system.h"
#include "checkpoint/verify.h"
#include "cmd/ckpt_report.h"
#include "cmd/ckpt_target.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "job/exit_code.h"

namespace shoal {
namespace {

int ShowOne(const std::string& command, const std::string& about,
            const Args& args, std::string (*text)(const CheckpointInfo&),
            std::string (*json)(const CheckpointInfo&)) {
  CkptArguments arguments;
  if (const auto exit = ParseCkptArguments(command, about, args, &arguments)) {
    return *exit;
  }
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const auto found = FindCheckpoint(*files, arguments.directory);
  if (!found.ok()) {
    return Complain("shoal ckpt " + command, found.status());
  }
  return PrintResult("shoal ckpt " + command,
                     (arguments.json ? json : text)(*found));
}

}  // namespace

int CkptLsCommand(const Args& args) {
  CkptArguments arguments;
  if (const auto exit = ParseCkptArguments(
          "ls",
          "Lists the checkpoints of a model directory, the newest first, and "
          "says why other entries are not valid.",
          args, &arguments)) {
    return *exit;
  }
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const auto found = FindCheckpoints(*files, arguments.directory);
  if (!found.ok()) {
    return Complain("shoal ckpt ls", found.status());
  }
  return PrintResult(
      "shoal ckpt ls",
      arguments.json ? CkptListJson(*found) : CkptListText(*found));
}

int CkptShowCommand(const Args& args) {
  return ShowOne("show",
                 "Shows one checkpoint, or the newest of a model directory: "
                 "its variables, files and tensors.",
                 args, CkptShowText, CkptShowJson);
}

int CkptBalanceCommand(const Args& args) {
  return ShowOne("balance",
                 "Shows how evenly one checkpoint, or the newest of a model "
                 "directory, is spread over its servers: bytes, rows and "
                 "look-ups.",
                 args, CkptBalanceText, CkptBalanceJson);
}

int CkptVerifyCommand(const Args& args) {
  CkptArguments arguments;
  if (const auto exit = ParseCkptArguments(
          "verify",
          "Reads every byte of one checkpoint, or of all checkpoints of a "
          "model directory, and compares the bytes with the checksums in the "
          "manifest. Exits with 1 if anything is damaged, or if there are "
          "only attempts that were cut off.",
          args, &arguments)) {
    return *exit;
  }
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  auto found = FindCheckpoints(*files, arguments.directory);
  if (!found.ok()) {
    return Complain("shoal ckpt verify", found.status());
  }
  VerifiedCheckpoints verified;
  bool damaged = false;
  bool any = false;  // at least one has a manifest
  for (CheckpointInfo& info : *found) {
    VerifyReport report;
    // A file of another size is reported below, with its place.
    const auto manifest = ReadManifest(*files, info.path);
    if (manifest.ok()) {
      info.manifest = *manifest;
      report = VerifyCheckpoint(*files, info.path, info.manifest,
                                {.need_all_files = !arguments.missing_ok});
    }
    // An attempt without a manifest is no checkpoint.
    const bool none = absl::IsNotFound(manifest.status());
    damaged |= !report.ok() || (!manifest.ok() && !none);
    any |= !none;
    verified.emplace_back(std::move(info), std::move(report));
  }
  return PrintResult(
      "shoal ckpt verify",
      arguments.json ? CkptVerifyJson(verified) : CkptVerifyText(verified),
      damaged || !any ? kExitFailed : kExitOk);
}

}  // namespace shoal
