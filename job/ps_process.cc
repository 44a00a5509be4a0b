#include "job/ps_process.h"

#include <string.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/group_lock.h"
#include "base/logger.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "coordinator/coordinator.h"
#include "core/job_loss.h"
#include "job/await_names.h"
#include "job/coordinator_part.h"
#include "job/job_token.h"
#include "job/leave_hung_disk.h"
#include "job/local_saves.h"
#include "job/loopback_advice.h"
#include "job/lost_exit.h"
#include "job/model_directory.h"
#include "job/options_from_flags.h"
#include "job/process_metrics.h"
#include "job/ps_part.h"
#include "job/quit_at_once.h"
#include "job/report_options.h"
#include "job/step_room.h"
#include "job/stop_text.h"
#include "job/to_main.h"
#include "job/training_mode.h"
#include "report/export_metrics.h"
#include "report/job_reporter.h"
#include "report/resume_text.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"
#include "rpc/port_probe.h"
#include "rpc/server.h"

namespace shoal {
namespace {

// Timeout of a probe of one address of a server's port.
constexpr absl::Duration kProbeTimeout = absl::Seconds(1);

// Parts of task 0 in addition to its PS.
struct Leader {
  Leader(const Clock* clock, MainWait* wait, JobReporterOptions options,
         const FileSystem* files)
      : report(wait),
        reporter(std::move(options), files),
        strand({"coordinator", 1}, clock),
        work({"work", 1}, clock) {}

  ToMain<JobReport> report;
  JobReporter reporter;
  Lead lead;
  ThreadExecutor strand;
  ThreadExecutor work;
  std::unique_ptr<Coordinator> coordinator;
  std::unique_ptr<LocalSaves> local_saves;
};

// Parts of any other task in addition to its PS.
struct Follower {
  ClientLoop client_loop;
  std::unique_ptr<ClusterClient> cluster;
  // The lock of the model directory; used on the `checkpoints` strand only.
  std::unique_ptr<GroupLock> lock;
  StartNumber locked_for = 0;
};

// All parts of a PS process.
class PsProcess final : public JobProcess {
 public:
  PsProcess(const JobFlags& flags, JobPlan plan, std::string token,
            MainWait* wait)
      : flags_(flags),
        plan_(std::move(plan)),
        token_(std::move(token)),
        hosts_(absl::StrSplit(flags.cluster.ps_hosts, ',')),
        wait_(wait),
        logger_(LoggerOptionsFromFlags(
            flags, ProcessName(Role::kPs, flags.cluster.task_index))),
        files_(NewPosixFileSystem()),
        member_end_(wait) {}

  ~PsProcess() override;

  absl::Status Start() override;
  ExitCode WaitForEnd() override;

 private:
  bool leads() const { return flags_.cluster.task_index == 0; }
  absl::StatusOr<ClusterService*> LeadJob();
  absl::StatusOr<ClusterService*> FollowJob();
  absl::StatusOr<RpcServerOptions> ServerOptions();
  absl::Status StartServer(const RpcServerOptions& options);
  PsLoopDependencies PartDependencies(ClusterService* cluster);
  void Probe(std::string address,
             absl::AnyInvocable<void(bool refused) &&> done);
  absl::Status TakeDirectory(StartNumber start);
  void OnSignal(const MainWait::Event& event);
  // True if the process's part in the job is over; in task 0, if the whole job
  // is over too.
  bool Ended() const {
    return member_end_.told() && (!leads() || leader_->report.told());
  }
  ExitCode Verdict();

  const JobFlags flags_;
  const JobPlan plan_;
  const std::string token_;
  const std::vector<std::string> hosts_;
  MainWait* const wait_;
  Logger logger_;
  const std::unique_ptr<FileSystem> files_;
  ToMain<MemberEnd> member_end_;
  Telemetry telemetry_;

  RealClock clock_;
  ThreadExecutor control_{{"control", 1}, &clock_};
  ThreadExecutor completions_{{"completions", 1}, &clock_};
  ThreadExecutor background_{{"checkpoints", 1}, &clock_};
  ThreadExecutor probes_{{"probe", 1}, &clock_};
  std::unique_ptr<Leader> leader_;      // null unless task 0
  std::unique_ptr<Follower> follower_;  // null in task 0
  std::unique_ptr<PsPart> part_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<MetricsServer> metrics_;
};

PsProcess::~PsProcess() {
  // The readers of metrics look at the members that end next.
  metrics_ = nullptr;
  if (part_ != nullptr) part_->DropLoop();
  // The services answer the server's calls on their executors, which still run.
  server_ = nullptr;
  if (leader_ != nullptr) leader_->local_saves = nullptr;
  // Tasks that are still queued refer to the clients and the shard.
  background_.Shutdown();
  control_.Shutdown();
  if (leader_ != nullptr) leader_->work.Shutdown();
  probes_.Shutdown();
  if (leader_ != nullptr) leader_->strand.Shutdown();
  completions_.Shutdown();
}

absl::Status PsProcess::Start() {
  ExportProcess(&telemetry_, ProcessName(Role::kPs, flags_.cluster.task_index),
                plan_.job);
  SHOAL_ASSIGN_OR_RETURN(metrics_, StartMetricsServer(flags_, &telemetry_));
  SHOAL_ASSIGN_OR_RETURN(const RpcServerOptions server, ServerOptions());
  // Before the coordinator's time to gather the processes begins.
  SHOAL_RETURN_IF_ERROR(AwaitNames(NeededAddresses(flags_),
                                   flags_.deadlines.start_timeout, wait_,
                                   &logger_));
  SHOAL_ASSIGN_OR_RETURN(ClusterService* const cluster,
                         leads() ? LeadJob() : FollowJob());
  SHOAL_RETURN_IF_ERROR(StartServer(server));
  // From here on other processes may know of the job.
  if (leads()) {
    if (leader_->lead.lock != nullptr) leader_->lead.lock->Keep();
    leader_->local_saves =
        LocalSaves::Open(plan_.job, leader_->lead.lock.get(),
                         leader_->coordinator.get(), &completions_, &logger_);
    SHOAL_RETURN_IF_ERROR(leader_->reporter.Start(clock_.Now()));
  }

  PsLoopOptions options = PsLoopOptionsFromFlags(flags_);
  options.directory_patience = DirectoryPatience(flags_);
  options.steps = KindOf(flags_.training.mode).steps;
  part_ = std::make_unique<PsPart>(
      plan_, flags_.cluster.task_index, hosts_[flags_.cluster.task_index],
      std::move(options), PartDependencies(cluster), &telemetry_);
  part_->Start(
      [this](const PsPart& part) {
        server_->AttachParameterService(part.service().get());
      },
      [this](MemberEnd end) { member_end_.Tell(std::move(end)); });
  return absl::OkStatus();
}

absl::StatusOr<ClusterService*> PsProcess::LeadJob() {
  leader_ = std::make_unique<Leader>(
      &clock_, wait_, JobReporterOptionsFromFlags(flags_, files_.get()),
      files_.get());
  SHOAL_ASSIGN_OR_RETURN(leader_->lead, TakeLead(files_.get(), flags_, plan_,
                                                 &logger_, clock_.Now()));
  CoordinatorWork work = WorkOfLead(leader_->lead, flags_, files_.get(),
                                    &leader_->work, &background_, &logger_);
  work.probe = [this](std::string address,
                      absl::AnyInvocable<void(bool refused) &&> done) {
    Probe(std::move(address), std::move(done));
  };
  leader_->coordinator =
      ComposeCoordinator(plan_, leader_->lead.options, std::move(work),
                         &leader_->strand, &logger_, &telemetry_);
  leader_->coordinator->OnFinished(
      [this](const JobReport& report) { leader_->report.Tell(report); });
  return leader_->coordinator.get();
}

absl::StatusOr<ClusterService*> PsProcess::FollowJob() {
  follower_ = std::make_unique<Follower>();
  ClusterClientOptions options;
  options.channel = ChannelOptionsFromFlags(flags_, token_, 0);
  SHOAL_RETURN_IF_ERROR(options.Validate());
  follower_->cluster = std::make_unique<ClusterClient>(
      std::move(options), &follower_->client_loop, &control_, &probes_);
  return follower_->cluster.get();
}

PsLoopDependencies PsProcess::PartDependencies(ClusterService* cluster) {
  PsLoopDependencies deps;
  deps.cluster = cluster;
  deps.logger = &logger_;
  deps.control = &control_;
  deps.completions = &completions_;
  deps.background = &background_;
  deps.files = files_.get();
  deps.usage = CurrentResourceUsage;
  if (!leads()) {
    deps.take_directory = [this](StartNumber start) {
      return TakeDirectory(start);
    };
  }
  return deps;
}

void PsProcess::Probe(std::string address,
                      absl::AnyInvocable<void(bool refused) &&> done) {
  probes_.Post([address = std::move(address),
                done = std::move(done)]() mutable {
    std::move(done)(ProbePort(address, kProbeTimeout) == PortState::kRefused);
  });
}

absl::Status PsProcess::TakeDirectory(StartNumber start) {
  if (follower_->locked_for == start) return absl::OkStatus();
  follower_->lock = nullptr;  // the lock of a job that this process has left
  SHOAL_ASSIGN_OR_RETURN(follower_->lock,
                         LockWithServers(*files_, flags_, start));
  follower_->locked_for = start;
  return absl::OkStatus();
}

absl::StatusOr<RpcServerOptions> PsProcess::ServerOptions() {
  RpcServerOptions options = RpcServerOptionsFromFlags(flags_);
  options.listen = flags_.cluster.listen.empty()
                       ? hosts_[flags_.cluster.task_index]
                       : flags_.cluster.listen;
  options.token = token_;
  if (KindOf(flags_.training.mode).steps) {
    SHOAL_RETURN_IF_ERROR(CheckRanks(flags_));
    SetRoomForSteps(flags_, plan_, &options);
  }
  options.on_refused = [this](const std::string& line) { logger_.Warn(line); };
  SHOAL_RETURN_IF_ERROR(options.Validate());
  return options;
}

absl::Status PsProcess::StartServer(const RpcServerOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(
      server_,
      RpcServer::Start(options, leads() ? leader_->coordinator.get() : nullptr,
                       &completions_));
  logger_.Info(
      absl::StrCat("shard ", flags_.cluster.task_index, " of ",
                   flags_.cluster.ps, ", listening on ", server_->address(),
                   plan_.job.empty() ? "" : absl::StrCat(", job ", plan_.job)));
  const std::string advice = LoopbackAdvice(options.listen);
  if (!advice.empty()) logger_.Warn(advice);
  return absl::OkStatus();
}

ExitCode PsProcess::WaitForEnd() {
  const absl::Duration pause =
      leads() ? leader_->reporter.interval() : absl::Hours(1);
  while (!Ended()) {
    OnSignal(wait_->Wait(pause));
    if (!leads() || leader_->report.told()) continue;
    const auto member_end = member_end_.Get();
    if (member_end.has_value() && !member_end->status.ok()) {
      leader_->coordinator->Stop(member_end->status);
    }
    leader_->reporter.Progress(leader_->coordinator->Report(), clock_.Now());
  }
  wait_->QuitOnInterrupt();
  absl::Status written;
  if (leads()) {
    leader_->local_saves = nullptr;
    written = leader_->reporter.End(*leader_->report.Get(), clock_.Now(),
                                    wait_->first_signal());
  }
  if (!written.ok()) logger_.Error(written.message());
  ExitCode code = Verdict();
  if (code == kExitOk && !written.ok()) code = kExitFailed;
  LeaveHungDisk(&background_, flags_.deadlines.shutdown_timeout, code,
                &logger_);
  return code;
}

void PsProcess::OnSignal(const MainWait::Event& event) {
  if (event.action == StopSignals::Action::kNone) return;
  if (event.action == StopSignals::Action::kQuit) {
    QuitAtOnce(
        [this] {
          if (!leads()) return std::string();
          if (leader_->local_saves != nullptr) {
            leader_->local_saves->RemoveFiles();
          }
          return ResumeText(leader_->coordinator->Report());
        },
        &logger_);
  }
  const bool stop = event.action == StopSignals::Action::kStop;
  const std::string signal = absl::StrCat("SIG", sigabbrev_np(event.signal));
  if (!event.passed_on) {
    logger_.Warn(
        absl::StrCat(signal, ": ", stop ? StopText(flags_) : RemindText()));
  }
  if (!stop) return;
  const absl::Status reason = absl::CancelledError(
      absl::StrCat(ProcessName(Role::kPs, flags_.cluster.task_index),
                   " was stopped by ", signal));
  // The work must not be lost: SIGTERM means that the machine is needed for
  // something else, SIGHUP that the terminal or the launcher is gone, and
  // SIGINT is soon pressed.
  const bool save = flags_.Saves();
  if (leads()) {
    save ? leader_->coordinator->SaveAndStop(reason)
         : leader_->coordinator->Stop(reason);
  } else {
    part_->Stop(reason,
                save ? flags_.checkpoints.stop_timeout : absl::ZeroDuration());
  }
}

ExitCode PsProcess::Verdict() {
  const bool over = leads() || member_end_.Get()->job_over;
  const absl::Status status =
      leads() ? leader_->report.Get()->status : member_end_.Get()->status;
  const std::string resume = leads() ? ResumeText(*leader_->report.Get()) : "";
  const std::string last_words =
      resume.empty() ? "" : absl::StrCat("; ", resume);
  // The end of the job is told by the launcher, if there is one.
  const bool told = over && flags_.output.Launched();
  if (status.ok()) {
    const bool left = wait_->first_signal() != 0 && !leads();
    logger_.Log(told ? LogLevel::kDebug : LogLevel::kInfo,
                left ? "left the job"
                     : absl::StrCat("the job is done", last_words));
    return left ? kExitStopped : kExitOk;
  }
  if (over && absl::IsCancelled(status)) {
    logger_.Log(told ? LogLevel::kDebug : LogLevel::kWarn,
                absl::StrCat("the job was stopped: ", status.message(),
                             last_words));
    return kExitStopped;
  }
  logger_.Log(told ? LogLevel::kDebug : LogLevel::kError,
              absl::StrCat("the job failed: ", status.message(), last_words));
  // The job of a leader that got a signal has failed too if it did not end as
  // it was asked to: it is not saved.
  if (wait_->first_signal() != 0) return leads() ? kExitFailed : kExitStopped;
  const bool lost = leads() ? LostProcess(status) : member_end_.Get()->lost;
  return lost ? LostExit(flags_) : kExitFailed;
}

}  // namespace

std::unique_ptr<JobProcess> NewPsProcess(const JobFlags& flags, JobPlan plan,
                                         std::string token, MainWait* wait) {
  return std::make_unique<PsProcess>(flags, std::move(plan), std::move(token),
                                     wait);
}

}  // namespace shoal
