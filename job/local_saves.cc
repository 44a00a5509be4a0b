#include "job/local_saves.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "rpc/socket_probe.h"

namespace shoal {
namespace {

constexpr absl::string_view kDirectoryPrefix = "shoal-";
constexpr absl::string_view kSocketName = "save";
constexpr time_t kNewSeconds = 10;
constexpr size_t kMostEntries = 10000;  // that are looked at for dead sockets
constexpr absl::string_view kLinePrefix = "save socket on ";

// Makes a directory of mode 0700 below `parent`.
absl::StatusOr<std::string> MakeDirectory(const std::string& parent) {
  std::string directory =
      absl::StrCat(parent, "/", kDirectoryPrefix, "XXXXXX");
  if (mkdtemp(directory.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot make a directory in ", parent, ": ",
                     std::strerror(errno)));
  }
  return directory;
}

void RemoveBoth(const std::string& directory) {
  unlink(absl::StrCat(directory, "/", kSocketName).c_str());
  rmdir(directory.c_str());
}

// Removes `directory` if the socket in it is that of a job of this user that
// was killed, and so could not remove it, and if the socket is `seconds` old.
void RemoveIfDead(const std::string& directory, time_t seconds) {
  const std::string path = JoinPath(directory, kSocketName);
  struct stat file = {};
  if (absl::StartsWith(Basename(directory), kDirectoryPrefix) &&
      lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode) &&
      file.st_uid == geteuid() && time(nullptr) - file.st_mtime >= seconds &&
      absl::IsUnavailable(ProbeSocket(path))) {
    RemoveBoth(directory);
  }
}

// Removes dead sockets below `parent`. A socket is bound a moment before it
// listens, and looks dead until then, so a new one is let be.
void SweepDead(const std::string& parent) {
  std::error_code error;
  size_t looked_at = 0;
  for (std::filesystem::directory_iterator it(parent, error), end;
       !error && it != end && looked_at < kMostEntries;
       it.increment(error), ++looked_at) {
    RemoveIfDead(it->path().string(), kNewSeconds);
  }
}

}  // namespace

std::string SocketLine::ToString() const {
  return absl::StrCat(kLinePrefix, host, ": ", path);
}

absl::StatusOr<SocketLine> SocketLine::Find(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, kLinePrefix)) continue;
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (parts.size() == 2) return SocketLine{parts[0], parts[1]};
  }
  return absl::NotFoundError("no line names a socket");
}

absl::StatusOr<std::unique_ptr<LocalSaves>> LocalSaves::Make(
    const std::string& job, OutputLock* lock, ClusterService* cluster,
    Executor* executor) {
  std::error_code ignored;
  const std::string temporary =
      std::filesystem::temp_directory_path(ignored).string();
  std::unique_ptr<LocalSaves> saves;
  absl::Status failure;
  // A directory that TMPDIR names may be too deep for a socket.
  for (const std::string& parent : {temporary, std::string("/tmp")}) {
    if (parent.empty()) continue;
    SweepDead(parent);
    auto directory = MakeDirectory(CleanPath(parent));
    if (!directory.ok()) {
      failure = directory.status();
      continue;
    }
    saves.reset(new LocalSaves(*std::move(directory)));
    const std::string path = absl::StrCat(saves->directory_, "/", kSocketName);
    auto socket = SaveSocket::Listen(path, job, cluster, executor);
    if (!socket.ok()) {
      failure = socket.status();
      continue;
    }
    saves->socket_ = *std::move(socket);
    SHOAL_RETURN_IF_ERROR(
        lock->AddLine(SocketLine{HostName(), path}.ToString()));
    return saves;
  }
  return failure;
}

std::unique_ptr<LocalSaves> LocalSaves::Open(const std::string& job,
                                             OutputLock* lock,
                                             ClusterService* cluster,
                                             Executor* executor,
                                             Logger* logger) {
  if (lock == nullptr || !lock->of_model_directory()) return nullptr;
  RemoveDead(lock->left_before());
  auto saves = Make(job, lock, cluster, executor);
  if (saves.ok()) return *std::move(saves);
  logger->Warn(absl::StrCat("`shoal ckpt save MODEL_DIR` will not reach this "
                            "job: ", saves.status().message()));
  return nullptr;
}

// Others may have written in LOCK: nothing but a dead socket of this user with
// such a name is removed.
void LocalSaves::RemoveDead(absl::string_view lock_text) {
  const auto line = SocketLine::Find(lock_text);
  if (line.ok()) RemoveIfDead(std::string(Dirname(line->path)), 0);
}

void LocalSaves::RemoveFiles() const { RemoveBoth(directory_); }

LocalSaves::~LocalSaves() {
  socket_ = nullptr;
  RemoveFiles();
}

}  // namespace shoal
