// shoal ckpt save: asks a running job to save a checkpoint now.

#include <unistd.h>

#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "job/exit_code.h"
#include "job/job_token.h"
#include "job/main_wait.h"
#include "launch/flag_set.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"
#include "rpc/token.h"

namespace shoal {
namespace {

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
  std::string ps_hosts;
  std::string token_file;
  std::string job;
  absl::Duration timeout = absl::Minutes(5);
};

FlagSet SaveFlagSet(SaveFlags* flags) {
  FlagSet set("shoal ckpt save",
              "Asks a running job to save a checkpoint now. Prints the path of "
              "the checkpoint when it is complete, or why it failed.");
  set.Group("Job");
  set.Add({"ps_hosts",
           &flags->ps_hosts,
           "The job's --ps_hosts; the first entry is enough.",
           {},
           "the first entry is the address of the job"});
  set.Add({"token_file", &flags->token_file,
           "The job's --token_file, or a copy of it."});
  set.Add({"job", &flags->job, "The job's --job."});
  set.Add({"timeout", &flags->timeout, "Time to wait for the checkpoint.",
           DurationRange{absl::Milliseconds(1), absl::Hours(24)}});
  return set;
}

// The address and the token of the job, from the flags.
absl::StatusOr<ClusterClientOptions> ClientOptions(const SaveFlags& flags) {
  ClusterClientOptions options;
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
  if (const auto exit = ParseOrExit(&set, args)) return *exit;
  auto options = ClientOptions(flags);
  if (!options.ok()) {
    return Complain(set.command(), options.status(), kExitUsage);
  }
  const absl::StatusOr<SavedCheckpoint> saved =
      Save(flags, *std::move(options));
  if (!saved.ok()) return Complain(set.command(), saved.status(), kExitFailed);
  std::cout << saved->path << std::endl;
  return kExitOk;
}

}  // namespace shoal
