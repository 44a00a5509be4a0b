// shoal-ps: one parameter server process. Task 0 also hosts the coordinator.

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/group_lock.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "cluster/coordinator.h"
#include "cmd/exit_code.h"
#include "cmd/export_metrics.h"
#include "cmd/job_reporter.h"
#include "cmd/job_token.h"
#include "cmd/leave_hung_disk.h"
#include "cmd/main_wait.h"
#include "cmd/memory_forecast.h"
#include "cmd/model_directory.h"
#include "cmd/options_from_flags.h"
#include "cmd/parse_command_line.h"
#include "cmd/process_setup.h"
#include "cmd/start_number.h"
#include "cmd/version.h"
#include "launch/job_flag_set.h"
#include "ps/server/ps_loop.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"
#include "rpc/keepalive.h"
#include "rpc/metered_parameter_service.h"
#include "rpc/port_probe.h"
#include "rpc/server.h"

namespace shoal {
namespace {

// Of a look at a server's port, one address of it.
constexpr absl::Duration kProbeTimeout = absl::Seconds(1);

// What other threads tell the main one.
class Outcome {
 public:
  explicit Outcome(MainWait* wait) : wait_(wait) {}

  void SetMemberEnd(MemberEnd end) {
    MutexLock lock(&mu_);
    member_end_ = std::move(end);
    wait_->Notify();
  }
  void SetReport(const JobReport& report) {
    MutexLock lock(&mu_);
    report_ = report;
    wait_->Notify();
  }
  std::optional<MemberEnd> member_end() const {
    MutexLock lock(&mu_);
    return member_end_;
  }
  std::optional<JobReport> report() const {
    MutexLock lock(&mu_);
    return report_;
  }

 private:
  MainWait* const wait_;
  mutable Mutex mu_;
  std::optional<MemberEnd> member_end_ ABSL_GUARDED_BY(mu_);
  std::optional<JobReport> report_ ABSL_GUARDED_BY(mu_);
};

// All that a PS process is composed of.
class PsProcess {
 public:
  PsProcess(const JobFlags& flags, JobPlan plan, std::string token,
            MainWait* wait)
      : flags_(flags),
        plan_(std::move(plan)),
        token_(std::move(token)),
        hosts_(absl::StrSplit(flags.ps_hosts, ',')),
        wait_(wait),
        logger_({ProcessName(Role::kPs, flags.task_index),
                 *ParseLogLevel(flags.log_level)}),
        files_(NewPosixFileSystem()),
        outcome_(wait),
        reporter_(flags_, files_.get()) {}

  ~PsProcess();

  absl::Status Start();
  ExitCode WaitForEnd();

 private:
  bool leads() const { return flags_.task_index == 0; }
  absl::Status StartServer();
  absl::StatusOr<CoordinatorOptions> PlanToLead();
  absl::Status TakeDirectory(StartNumber start);
  void OnSignal(int signal);
  // The process's part is over; of task 0: the whole job's.
  bool Ended() const {
    return outcome_.member_end().has_value() &&
           (!leads() || outcome_.report().has_value());
  }
  ExitCode Verdict();

  const JobFlags flags_;
  const JobPlan plan_;
  const std::string token_;
  const std::vector<std::string> hosts_;
  MainWait* const wait_;
  Logger logger_;
  const std::unique_ptr<FileSystem> files_;
  Outcome outcome_;
  JobReporter reporter_;
  bool signalled_ = false;
  Telemetry telemetry_;

  RealClock clock_;
  ThreadExecutor control_{{"control", 1}, &clock_};
  ThreadExecutor completions_{{"completions", 1}, &clock_};
  ThreadExecutor background_{{"checkpoints", 1}, &clock_};
  ThreadExecutor probes_{{"probe", 1}, &clock_};
  std::unique_ptr<OutputLock> lock_;  // of task 0, on what the job writes
  // Of any other task, on its model directory; the `checkpoints` strand's.
  std::unique_ptr<GroupLock> servers_lock_;
  StartNumber locked_for_ = 0;
  std::unique_ptr<PredictionsFile> predictions_;
  std::unique_ptr<ThreadExecutor> coordinator_strand_;
  std::unique_ptr<ThreadExecutor> work_strand_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<ClientLoop> client_loop_;
  std::unique_ptr<ClusterClient> cluster_client_;
  std::shared_ptr<ParameterShard> shard_;
  std::unique_ptr<MeteredParameterService> metered_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<PsLoop> loop_;
  std::unique_ptr<MetricsServer> metrics_;
};

PsProcess::~PsProcess() {
  // Its readers look at what ends next.
  metrics_ = nullptr;
  loop_ = nullptr;
  // The services answer its calls by their executors, which still run.
  server_ = nullptr;
  // What is still queued refers to the clients and the shard.
  background_.Shutdown();
  control_.Shutdown();
  if (work_strand_ != nullptr) work_strand_->Shutdown();
  probes_.Shutdown();
  if (coordinator_strand_ != nullptr) coordinator_strand_->Shutdown();
  completions_.Shutdown();
}

absl::Status PsProcess::Start() {
  ExportProcess(&telemetry_, ProcessName(Role::kPs, flags_.task_index),
                plan_.job);
  SHOAL_ASSIGN_OR_RETURN(metrics_, StartMetricsServer(flags_, &telemetry_));
  ClusterService* cluster = nullptr;
  if (leads()) {
    coordinator_strand_ = std::make_unique<ThreadExecutor>(
        ThreadExecutorOptions{"coordinator", 1}, &clock_);
    work_strand_ = std::make_unique<ThreadExecutor>(
        ThreadExecutorOptions{"work", 1}, &clock_);
    SHOAL_ASSIGN_OR_RETURN(CoordinatorOptions options, PlanToLead());
    CoordinatorWork work =
        CoordinatorWorkOf(work_strand_.get(), predictions_.get());
    work.write_manifest =
        ManifestWriter(files_.get(), flags_, &background_, &logger_);
    work.probe = [this](std::string address,
                        absl::AnyInvocable<void(bool refused) &&> done) {
      probes_.Post(
          [address = std::move(address), done = std::move(done)]() mutable {
            std::move(done)(ProbePort(address, kProbeTimeout) ==
                            PortState::kRefused);
          });
    };
    coordinator_ =
        Coordinator::Create(std::move(options), coordinator_strand_.get(),
                            &logger_, std::move(work));
    coordinator_->OnFinished(
        [this](const JobReport& report) { outcome_.SetReport(report); });
    ExportJob(&telemetry_, [this] { return coordinator_->Report(); });
    cluster = coordinator_.get();
  } else {
    client_loop_ = std::make_unique<ClientLoop>();
    ClusterClientOptions options;
    options.channel = ChannelOptionsFromFlags(flags_, token_, 0);
    SHOAL_RETURN_IF_ERROR(options.Validate());
    cluster_client_ = std::make_unique<ClusterClient>(
        std::move(options), client_loop_.get(), &control_, &probes_);
    cluster = cluster_client_.get();
  }
  SHOAL_RETURN_IF_ERROR(StartServer());
  // From here on others may know of the job.
  if (lock_ != nullptr) lock_->Keep();
  if (leads()) SHOAL_RETURN_IF_ERROR(reporter_.Start(clock_.Now()));

  PsLoopOptions options =
      PsLoopOptionsFromFlags(flags_, plan_, flags_.task_index);
  options.member.registration.address = hosts_[flags_.task_index];
  options.directory_patience = DirectoryPatience(flags_);
  PsLoopDependencies deps;
  deps.cluster = cluster;
  deps.logger = &logger_;
  deps.control = &control_;
  deps.completions = &completions_;
  deps.background = &background_;
  deps.files = files_.get();
  deps.serve = [this](std::shared_ptr<ParameterShard> shard) {
    shard_ = std::move(shard);
    ExportShard(&telemetry_, flags_.task_index, shard_);
    metered_ = std::make_unique<MeteredParameterService>(
        shard_.get(), &telemetry_,
        MetricLabels{{"shard", absl::StrCat(flags_.task_index)}},
        &completions_);
    server_->AttachParameterService(metered_.get());
  };
  deps.usage = CurrentResourceUsage;
  if (!leads()) {
    deps.take_directory = [this](StartNumber start) {
      return TakeDirectory(start);
    };
  }
  loop_ = std::make_unique<PsLoop>(std::move(options), std::move(deps));
  loop_->Start(
      [this](MemberEnd end) { outcome_.SetMemberEnd(std::move(end)); });
  return absl::OkStatus();
}

absl::StatusOr<CoordinatorOptions> PsProcess::PlanToLead() {
  SHOAL_ASSIGN_OR_RETURN(lock_, LockOutput(*files_, flags_, &logger_));
  SHOAL_ASSIGN_OR_RETURN(predictions_,
                         PredictionsFileFromFlags(flags_, plan_, files_.get()));
  CoordinatorOptions options = CoordinatorOptionsFromFlags(flags_, plan_);
  SHOAL_RETURN_IF_ERROR(
      PlanCheckpoints(*files_, flags_, plan_, &logger_, &options));
  SHOAL_ASSIGN_OR_RETURN(
      options.start,
      DrawStartNumber(*files_, flags_, options.checkpoints, clock_.Now()));
  if (lock_ != nullptr) SHOAL_RETURN_IF_ERROR(lock_->Share(options.start));
  return options;
}

absl::Status PsProcess::TakeDirectory(StartNumber start) {
  if (locked_for_ == start) return absl::OkStatus();
  servers_lock_ = nullptr;  // of a job that this process has left
  SHOAL_ASSIGN_OR_RETURN(servers_lock_,
                         LockWithServers(*files_, flags_, start));
  locked_for_ = start;
  return absl::OkStatus();
}

absl::Status PsProcess::StartServer() {
  RpcServerOptions options;
  options.listen =
      flags_.listen.empty() ? hosts_[flags_.task_index] : flags_.listen;
  options.token = token_;
  options.SetMaxMessageBytes(static_cast<uint64_t>(flags_.max_message_bytes));
  const Keepalive keepalive = KeepaliveFor(flags_.silent_after);
  options.keepalive_time = keepalive.time;
  options.keepalive_timeout = keepalive.timeout;
  SHOAL_RETURN_IF_ERROR(options.Validate());
  SHOAL_ASSIGN_OR_RETURN(
      server_, RpcServer::Start(options, coordinator_.get(), &completions_));
  logger_.Info(
      absl::StrCat("shard ", flags_.task_index, " of ", flags_.ps,
                   ", listening on ", server_->address(),
                   plan_.job.empty() ? "" : absl::StrCat(", job ", plan_.job)));
  return absl::OkStatus();
}

ExitCode PsProcess::WaitForEnd() {
  while (!Ended()) {
    const int signal =
        wait_->Wait(leads() ? reporter_.interval() : absl::Hours(1));
    if (signal != 0) OnSignal(signal);
    if (!leads() || outcome_.report().has_value()) continue;
    const auto member_end = outcome_.member_end();
    if (member_end.has_value() && !member_end->status.ok()) {
      coordinator_->Stop(member_end->status);
    }
    reporter_.Progress(coordinator_->Report(), clock_.Now());
  }
  absl::Status written;
  if (leads()) written = reporter_.End(*outcome_.report(), clock_.Now());
  if (!written.ok()) logger_.Error(written.message());
  ExitCode code = Verdict();
  if (code == kExitOk && !written.ok()) code = kExitFailed;
  LeaveHungDisk(&background_, flags_.shutdown_timeout, code, &logger_);
  return code;
}

void PsProcess::OnSignal(int signal) {
  if (signalled_) _exit(kExitStopped);
  signalled_ = true;
  const absl::Status reason = absl::CancelledError(
      absl::StrCat(ProcessName(Role::kPs, flags_.task_index),
                   " was stopped by SIG", sigabbrev_np(signal)));
  logger_.Warn(absl::StrCat("SIG", sigabbrev_np(signal), ": stopping the job"));
  // SIGTERM: the machine is wanted back; SIGHUP: the terminal or the launcher
  // is gone. The work is not to be lost.
  const bool save = signal != SIGINT && flags_.Saves();
  if (leads()) {
    save ? coordinator_->SaveAndStop(reason) : coordinator_->Stop(reason);
  } else {
    loop_->Stop(reason, save ? flags_.stop_timeout : absl::ZeroDuration());
  }
}

ExitCode PsProcess::Verdict() {
  const bool over = leads() || outcome_.member_end()->job_over;
  const absl::Status status =
      leads() ? outcome_.report()->status : outcome_.member_end()->status;
  if (status.ok()) {
    const bool left = signalled_ && !leads();
    logger_.Info(left ? "left the job" : "the job is done");
    return left ? kExitStopped : kExitOk;
  }
  if (over && absl::IsCancelled(status)) {
    logger_.Warn(absl::StrCat("the job was stopped: ", status.message()));
    return kExitStopped;
  }
  logger_.Error(absl::StrCat("the job failed: ", status.message()));
  // Of a job that was to be saved first and could not be, the state is lost.
  const bool stopped = signalled_ && !(leads() && absl::IsAborted(status));
  return stopped ? kExitStopped : kExitFailed;
}

int Main(const std::vector<std::string>& args) {
  if (PrintVersion(args, "shoal-ps")) return kExitOk;
  MainWait wait;
  JobFlags flags(Command::kPs);
  FlagSet set = JobFlagSet(&flags);
  if (const auto exit = ParseJobOrExit(&flags, &set, args)) return *exit;
  const absl::StatusOr<std::string> token = JobToken(flags);
  if (!token.ok()) return Complain(set.command(), token.status(), kExitUsage);
  if (flags.token_file == "-") {
    wait.WatchInput(STDIN_FILENO, flags.shutdown_timeout + absl::Seconds(2) +
                                      (flags.Saves() ? flags.stop_timeout
                                                     : absl::ZeroDuration()));
  }
  absl::StatusOr<JobPlan> plan = PlanJob(flags);
  if (!plan.ok()) return Complain(set.command(), plan.status(), kExitUsage);
  const absl::Status fits =
      ForecastAndCheck(flags, *plan, *NewPosixFileSystem());
  if (!fits.ok()) return Complain(set.command(), fits, kExitUsage);
  PsProcess process(flags, *std::move(plan), *token, &wait);
  const absl::Status started = process.Start();
  if (!started.ok()) return Complain(set.command(), started, kExitUsage);
  return process.WaitForEnd();
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::SetUpProcess();
  return shoal::Main(std::vector<std::string>(argv + 1, argv + argc));
}
