// shoal ckpt save: asks a running job to save a checkpoint now.

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "job/exit_code.h"
#include "job/job_token.h"
#include "job/main_wait.h"
#include "job/running_job.h"
#include "launch/flag_set.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"
#include "rpc/token.h"

namespace shoal {
namespace {

constexpr char kCommand[] = "shoal ckpt save";

// Carries the answer from the client's strand to the main thread.
class Answer {
 public:
  explicit Answer(MainWait* wait) : wait_(wait) {}

  void Set(absl::StatusOr<SavedCheckpoint> saved) {
    MutexLock lock(&mu_);
    saved_ = std::move(saved);
    wait_->Notify();
  }
  std::optional<absl::StatusOr<SavedCheckpoint>> Get() const {
    MutexLock lock(&mu_);
    return saved_;
  }

 private:
  MainWait* const wait_;
  mutable Mutex mu_;
  std::optional<absl::StatusOr<SavedCheckpoint>> saved_ ABSL_GUARDED_BY(mu_);
};

struct SaveFlags {
  std::string model_dir;  // not a flag; empty: the job is named by ps_hosts
  std::string ps_hosts;
  std::string token_file;
  std::string job;
  absl::Duration timeout = absl::Minutes(5);
};

FlagSet SaveFlagSet(SaveFlags* flags) {
  FlagSet set("shoal ckpt save MODEL_DIR",
              "Asks a running job to save a checkpoint now. Prints the path of "
              "the checkpoint when it is complete, or why it failed. MODEL_DIR "
              "is the --model_dir of a job whose coordinator (`shoal train` or "
              "parameter server 0) runs on this host, as the same user. A job "
              "on another host is named by --ps_hosts and --token_file "
              "instead.");
  set.Group("Job on another host");
  set.Add({"ps_hosts", &flags->ps_hosts,
           "The job's --ps_hosts; the first entry is enough."});
  set.Add({"token_file", &flags->token_file,
           "The job's --token_file, or a copy of it."});
  set.Add({"job", &flags->job, "The job's --job."});
  set.Group("Wait");
  set.Add({"timeout", &flags->timeout, "Time to wait for the checkpoint.",
           DurationRange{absl::Milliseconds(1), absl::Hours(24)}});
  return set;
}

// Takes the model directory out of the arguments: a word that is neither a flag
// nor the value of one.
absl::Status TakeModelDir(Args* args, SaveFlags* flags) {
  Args rest;
  bool value = false;  // the next word is the value of a flag
  for (const std::string& arg : *args) {
    const bool flag = absl::StartsWith(arg, "-");
    if (flag || value) {
      rest.push_back(arg);
    } else if (flags->model_dir.empty()) {
      flags->model_dir = arg;
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "give only one directory: '", arg, "' is a second one"));
    }
    value = flag && !absl::StrContains(arg, '=') && arg != "--help" &&
            arg != "-h";
  }
  *args = std::move(rest);
  return absl::OkStatus();
}

absl::Status CheckOneJob(const SaveFlags& flags) {
  const bool remote = !flags.ps_hosts.empty();
  if (flags.model_dir.empty() && !remote) {
    return absl::InvalidArgumentError(
        "name the job: by its model directory if it runs on this host, or by "
        "--ps_hosts and --token_file");
  }
  if (!flags.model_dir.empty() &&
      (remote || !flags.token_file.empty() || !flags.job.empty())) {
    return absl::InvalidArgumentError(
        "a model directory names the job already: leave --ps_hosts, "
        "--token_file and --job out");
  }
  return absl::OkStatus();
}

// The address and the token of the job, from the flags.
absl::StatusOr<ClusterClientOptions> ClientOptions(const SaveFlags& flags) {
  ClusterClientOptions options;
  if (!flags.model_dir.empty()) {
    SHOAL_ASSIGN_OR_RETURN(
        options.channel.socket,
        SocketOfJob(*NewPosixFileSystem(), flags.model_dir));
    options.channel.peer = "the job's coordinator";
    return options;
  }
  if (!flags.token_file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(options.channel.token,
                           ReadTokenFile(flags.token_file));
  }
  const std::vector<std::string> hosts = absl::StrSplit(flags.ps_hosts, ',');
  options.channel.address = hosts[0];
  options.channel.peer = "ps 0";
  SHOAL_RETURN_IF_ERROR(options.Validate());
  return options;
}

absl::StatusOr<SavedCheckpoint> Save(const SaveFlags& flags,
                                     ClusterClientOptions options) {
  SaveCheckpointRequest request;
  request.job = flags.job;

  RealClock clock;
  MainWait wait;
  Answer answer(&wait);
  ThreadExecutor control({"control", 1}, &clock);
  ClientLoop loop;
  // This client opens no session, so it needs no second strand for probes.
  ClusterClient client(std::move(options), &loop, &control, &control);
  client.SaveCheckpoint(std::move(request), flags.timeout,
                        [&answer](absl::StatusOr<SavedCheckpoint> saved) {
                          answer.Set(std::move(saved));
                        });
  for (;;) {
    if (auto saved = answer.Get()) return *std::move(saved);
    // The call has the deadline.
    if (wait.Wait(absl::Hours(1)).signal != 0) _exit(kExitStopped);
  }
}

}  // namespace

int CkptSaveCommand(const Args& args) {
  SaveFlags flags;
  FlagSet set = SaveFlagSet(&flags);
  Args words = args;
  const absl::Status taken = TakeModelDir(&words, &flags);
  if (!taken.ok()) return Complain(kCommand, taken, kExitUsage);
  if (const auto exit = ParseOrExit(&set, words)) return *exit;
  const absl::Status named = CheckOneJob(flags);
  if (!named.ok()) return Complain(kCommand, named, kExitUsage);
  auto options = ClientOptions(flags);
  if (!options.ok()) {
    // The directory is right, but its job is gone.
    const bool none = absl::IsUnavailable(options.status());
    return Complain(kCommand, options.status(),
                    none ? kExitFailed : kExitUsage);
  }
  const absl::StatusOr<SavedCheckpoint> saved =
      Save(flags, *std::move(options));
  if (!saved.ok()) return Complain(kCommand, saved.status(), kExitFailed);
  return PrintResult(kCommand, saved->path + "\n");
}

}  // namespace shoal
