#include "job/running_job.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/group_lock.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "job/local_saves.h"
#include "job/model_directory.h"
#include "rpc/socket_probe.h"

namespace shoal {
namespace {

constexpr absl::string_view kFromElsewhere =
    "; from another host a job is reached with --ps_hosts and --token_file";

// INVALID_ARGUMENT unless `directory` may be a model directory; NOT_FOUND.
absl::Status CheckModelDirectory(const FileSystem& files,
                                 const std::string& directory) {
  SHOAL_ASSIGN_OR_RETURN(const auto entries, files.ListDirectory(directory));
  for (const DirectoryEntry& entry : entries) {
    if (entry.name == kManifestFile) {
      return absl::InvalidArgumentError(absl::StrCat(
          directory, " is a checkpoint; give the directory that holds it: ",
          Dirname(CleanPath(directory))));
    }
  }
  for (const DirectoryEntry& entry : entries) {
    if (entry.name == kLockFile || entry.name == kServersLockFile ||
        StepOfName(entry.name).has_value()) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      directory,
      " is not a model directory: no job has saved into it. Give the "
      "--model_dir of the job"));
}

// The text of LOCK; empty: there is no such file.
absl::StatusOr<std::string> ReadLock(const FileSystem& files,
                                     const std::string& path) {
  const auto file = files.OpenForRead(path);
  if (absl::IsNotFound(file.status())) return std::string();
  SHOAL_RETURN_IF_ERROR(file.status());
  std::string text((*file)->size(), '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t size,
                         (*file)->Read(0, absl::MakeSpan(text)));
  text.resize(size);
  return text;
}

// Why the job that holds the directory cannot be reached, if its socket does
// not answer. `holder` is the first line of LOCK.
absl::Status Unreachable(const absl::Status& probe, const SocketLine& line,
                         const std::string& model_dir,
                         const std::string& holder) {
  const bool here = line.host == HostName();
  if (absl::IsUnavailable(probe)) {
    return absl::UnavailableError(absl::StrCat(
        "the job that held ", model_dir, " is gone: ", holder,
        ", did not end in good order. Its servers may take some seconds to "
        "notice; the same command as before goes on from the newest "
        "checkpoint"));
  }
  if (absl::IsPermissionDenied(probe)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the job that holds ", model_dir, " (", holder, ") runs as another "
        "user: only that user and root may ask for a checkpoint"));
  }
  if (absl::IsNotFound(probe) && !here) {
    return absl::FailedPreconditionError(
        absl::StrCat("the job that holds ", model_dir, " runs on host ",
                     line.host, " (", holder, "), and this is ", HostName(),
                     ": give the command there", kFromElsewhere));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the job that holds ", model_dir, " (", holder, ") listens on ",
      line.path, ", which this process cannot reach: ", probe.message(),
      ". Does the job have another /tmp than this shell, as in a container or "
      "a service with PrivateTmp?"));
}

// No process has the locks. `probe` is that of the socket that LOCK names.
absl::Status NoJob(const std::string& model_dir, const std::string& holder,
                   const absl::Status& probe) {
  if (absl::IsUnavailable(probe)) {
    return absl::UnavailableError(absl::StrCat(
        "the job that held ", model_dir, " is gone: ", holder,
        ", did not end in good order; the same command as before goes on from "
        "the newest checkpoint"));
  }
  return absl::UnavailableError(absl::StrCat(
      "no job holds ", model_dir,
      holder.empty() ? "" : absl::StrCat("; the last one was ", holder)));
}

}  // namespace

absl::StatusOr<std::string> SocketOfJob(const FileSystem& files,
                                        const std::string& model_dir) {
  SHOAL_RETURN_IF_ERROR(CheckModelDirectory(files, model_dir));
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         ReadLock(files, JoinPath(model_dir, kLockFile)));
  const std::string holder = text.substr(0, text.find('\n'));
  const absl::StatusOr<SocketLine> line = SocketLine::Find(text);
  const absl::Status probe =
      line.ok() ? ProbeSocket(line->path) : line.status();
  // LOCK may be a copy, or of a job that has ended: the locks say whether a job
  // runs here.
  const auto servers =
      GroupLock::HolderOf(JoinPath(model_dir, kServersLockFile));
  if (!servers.ok() && !absl::IsNotFound(servers.status())) {
    return servers.status();
  }
  if (!servers.ok() || !servers->has_value()) {
    return NoJob(model_dir, holder, probe);
  }
  if (text.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the job that holds ", model_dir, " (", **servers,
        ") is coordinated by parameter server 0 on another host, or has just "
        "begun: give the command there, or try again", kFromElsewhere));
  }
  if (!line.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "the job that holds ", model_dir, " (", holder,
        ") has no socket for this command. If the job has just begun, try "
        "again; otherwise its log says why, and a job of several processes is "
        "reached with --ps_hosts and --token_file"));
  }
  if (!probe.ok()) return Unreachable(probe, *line, model_dir, holder);
  return line->path;
}

void RemoveSocketOfKilledJob(const FileSystem& files,
                             const std::string& model_dir) {
  const auto text = ReadLock(files, JoinPath(model_dir, kLockFile));
  if (text.ok()) LocalSaves::RemoveDead(*text);
}

}  // namespace shoal
