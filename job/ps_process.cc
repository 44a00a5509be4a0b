#include "job/ps_process.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "job/await_end.h"
#include "job/await_names.h"
#include "job/make_link.h"
#include "job/model_directory.h"
#include "job/options_from_flags.h"
#include "job/process_metrics.h"
#include "job/process_server.h"
#include "job/ps_part.h"
#include "job/step_room.h"
#include "job/to_main.h"
#include "job/training_mode.h"
#include "report/export_metrics.h"
#include "rpc/server.h"

namespace shoal {
namespace {

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
  absl::StatusOr<std::unique_ptr<JobLink>> OpenLink();
  absl::StatusOr<RpcServerOptions> ServerOptions();
  absl::Status Serve(const RpcServerOptions& options);
  PsLoopDependencies PartDependencies();
  std::string name() const {
    return ProcessName(Role::kPs, flags_.cluster.task_index);
  }

  const JobFlags flags_;
  const JobPlan plan_;
  const std::string token_;
  const std::vector<std::string> hosts_;
  MainWait* const wait_;
  Logger logger_;
  const std::unique_ptr<FileSystem> files_;
  ToMain<MemberEnd> member_end_;
  Telemetry telemetry_;
  PayloadCounters payload_;

  RealClock clock_;
  ThreadExecutor control_{{"control", 1}, &clock_};
  ThreadExecutor completions_{{"completions", 1}, &clock_};
  ThreadExecutor background_{{"checkpoints", 1}, &clock_};
  std::unique_ptr<JobLink> link_;
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
  if (link_ != nullptr) link_->CloseRequests();
  // Tasks that are still queued refer to the clients and the shard.
  background_.Shutdown();
  control_.Shutdown();
  if (link_ != nullptr) link_->Shutdown();
  completions_.Shutdown();
}

absl::Status PsProcess::Start() {
  ExportProcess(&telemetry_, name(), plan_.job);
  SHOAL_ASSIGN_OR_RETURN(metrics_, StartMetricsServer(flags_, &telemetry_));
  SHOAL_ASSIGN_OR_RETURN(const RpcServerOptions server, ServerOptions());
  // Before the coordinator's time to gather the processes begins.
  SHOAL_RETURN_IF_ERROR(AwaitNames(NeededAddresses(flags_),
                                   flags_.deadlines.start_timeout, wait_,
                                   &logger_));
  SHOAL_ASSIGN_OR_RETURN(link_, OpenLink());
  SHOAL_RETURN_IF_ERROR(Serve(server));
  // From here on other processes may know of the job.
  SHOAL_RETURN_IF_ERROR(link_->Begin());

  PsLoopOptions options = PsLoopOptionsFromFlags(flags_);
  options.directory_patience = DirectoryPatience(flags_);
  options.steps = KindOf(flags_.training.mode).steps;
  part_ = std::make_unique<PsPart>(
      plan_, flags_.cluster.task_index, hosts_[flags_.cluster.task_index],
      std::move(options), PartDependencies(), &telemetry_);
  part_->Start(
      [this](const PsPart& part) {
        server_->AttachParameterService(part.service().get());
      },
      [this](MemberEnd end) { member_end_.Tell(std::move(end)); });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<JobLink>> PsProcess::OpenLink() {
  JobLinkDependencies deps;
  deps.clock = &clock_;
  deps.wait = wait_;
  deps.files = files_.get();
  deps.logger = &logger_;
  deps.telemetry = &telemetry_;
  deps.control = &control_;
  deps.completions = &completions_;
  deps.disk = &background_;
  return MakeLink(flags_, plan_, token_, deps);
}

PsLoopDependencies PsProcess::PartDependencies() {
  PsLoopDependencies deps;
  deps.cluster = link_->cluster();
  deps.logger = &logger_;
  deps.control = &control_;
  deps.completions = &completions_;
  deps.background = &background_;
  deps.files = files_.get();
  deps.usage = CurrentResourceUsage;
  deps.bytes = &payload_;
  deps.take_directory = link_->take_directory();
  return deps;
}

absl::StatusOr<RpcServerOptions> PsProcess::ServerOptions() {
  RpcServerOptions options = ServerOptionsFromFlags(
      flags_,
      flags_.cluster.listen.empty() ? hosts_[flags_.cluster.task_index]
                                    : flags_.cluster.listen,
      token_, &logger_);
  options.payload = &payload_;
  if (KindOf(flags_.training.mode).steps) {
    SHOAL_RETURN_IF_ERROR(CheckRanks(flags_));
    SetRoomForSteps(flags_, plan_, &options);
  }
  SHOAL_RETURN_IF_ERROR(options.Validate());
  return options;
}

absl::Status PsProcess::Serve(const RpcServerOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(
      server_, StartServer(options, /*has_listen=*/true, link_->served(),
                           &completions_, &logger_));
  logger_.Info(
      absl::StrCat("shard ", flags_.cluster.task_index, " of ",
                   flags_.cluster.ps, ", listening on ", server_->address(),
                   plan_.job.empty() ? "" : absl::StrCat(", job ", plan_.job)));
  return absl::OkStatus();
}

ExitCode PsProcess::WaitForEnd() {
  StartedProcess self;
  self.name = name();
  self.flags = &flags_;
  self.wait = wait_;
  self.logger = &logger_;
  self.link = link_.get();
  self.part_end = &member_end_;
  self.disk = &background_;
  return AwaitEnd(self, [this](absl::Status reason, absl::Duration deadline) {
    part_->Stop(std::move(reason), deadline);
  });
}

}  // namespace

std::unique_ptr<JobProcess> NewPsProcess(const JobFlags& flags, JobPlan plan,
                                         std::string token, MainWait* wait) {
  return std::make_unique<PsProcess>(flags, std::move(plan), std::move(token),
                                     wait);
}

}  // namespace shoal
