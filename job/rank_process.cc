#include "job/rank_process.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "core/rank_board.h"
#include "job/await_end.h"
#include "job/await_names.h"
#include "job/joined_end.h"
#include "job/make_link.h"
#include "job/model_directory.h"
#include "job/options_from_flags.h"
#include "job/own_replica.h"
#include "job/process_metrics.h"
#include "job/process_server.h"
#include "job/ps_part.h"
#include "job/rank_ring.h"
#include "job/server_clients.h"
#include "job/step_room.h"
#include "job/to_main.h"
#include "job/worker_part.h"
#include "job/worker_setup.h"
#include "report/export_metrics.h"
#include "rpc/address.h"
#include "rpc/client_loop.h"
#include "rpc/own_host.h"
#include "rpc/retrying_parameter_service.h"
#include "rpc/server.h"

namespace shoal {
namespace {

// Time in which a coordinator that is alive answers.
constexpr absl::Duration kAnswerTime = absl::Seconds(1);

// The threads of a rank.
struct Strands {
  explicit Strands(const Clock* clock)
      : control({"control", 1}, clock),
        train({"train", 1}, clock),
        completions({"completions", 1}, clock),
        background({"checkpoints", 1}, clock) {}

  ThreadExecutor control;
  // Of the worker, and of the PS's answers: they go to this worker alone.
  ThreadExecutor train;
  // Of the coordinator's answers.
  ThreadExecutor completions;
  ThreadExecutor background;
};

// The members of the job in this process.
struct Members {
  std::unique_ptr<PsPart> ps;
  std::unique_ptr<WorkerPart> worker;
  JoinedEnd end{2};  // used on the control strand only, as the next one
  bool worker_ended = false;
};

// All parts of a rank.
class RankProcess final : public JobProcess {
 public:
  RankProcess(const JobFlags& flags, JobPlan plan, std::string token,
              MainWait* wait)
      : flags_(flags),
        plan_(std::move(plan)),
        token_(std::move(token)),
        wait_(wait),
        logger_(LoggerOptionsFromFlags(
            flags, ProcessName(Role::kWorker, flags.cluster.task_index))),
        end_(wait) {}

  ~RankProcess() override;

  absl::Status Start() override;
  ExitCode WaitForEnd() override;

 private:
  int rank() const { return flags_.cluster.task_index; }
  std::string name() const { return ProcessName(Role::kWorker, rank()); }
  absl::StatusOr<std::unique_ptr<JobLink>> OpenLink();
  absl::Status Serve();
  absl::Status OpenRing();
  void MakePs();
  absl::Status MakeWorker();
  absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> Connect(
      const ClusterView& view, const Life& own);
  // A member has ended, on the control strand. The coordinator does not know of
  // a member's own error, and the other member would wait for the end of the
  // job, so it is stopped.
  void OnPsEnd(MemberEnd end);
  void OnWorkerEnd(MemberEnd end);
  void Join(MemberEnd end);

  const JobFlags flags_;
  const JobPlan plan_;
  const std::string token_;
  MainWait* const wait_;
  Logger logger_;
  const std::unique_ptr<FileSystem> files_ = NewPosixFileSystem();
  std::unique_ptr<WorkerSetup> setup_;
  ToMain<MemberEnd> end_;
  Telemetry telemetry_;
  const WorkerTelemetry worker_telemetry_ =
      WorkerTelemetry::Create(&telemetry_);

  PayloadCounters payload_;
  RankBoard board_;  // the ring's thread and the strands write there
  RealClock clock_;
  std::optional<ClientLoop> client_loop_;  // of a job with servers
  Strands strands_{&clock_};
  std::unique_ptr<JobLink> link_;
  OwnReplica replica_{&strands_.train};
  // Used on the control strand once the members have started.
  std::unique_ptr<RankRing> ring_;
  std::unique_ptr<Collective> collective_;  // until the exchange takes it
  Members members_;
  std::unique_ptr<RpcServer> server_;  // null unless rank 0
  std::unique_ptr<MetricsServer> metrics_;
};

RankProcess::~RankProcess() {
  // The readers of metrics look at the members that end next.
  metrics_ = nullptr;
  if (members_.worker != nullptr) members_.worker->DropLoop();
  if (members_.ps != nullptr) members_.ps->DropLoop();
  // The coordinator answers the server's calls on its executors, which still
  // run.
  server_ = nullptr;
  if (link_ != nullptr) link_->CloseRequests();
  // Tasks that are still queued refer to the clients, the shard and the model.
  strands_.train.Shutdown();
  strands_.background.Shutdown();
  strands_.control.Shutdown();
  if (link_ != nullptr) link_->Shutdown();
  strands_.completions.Shutdown();
}

absl::Status RankProcess::Start() {
  SHOAL_RETURN_IF_ERROR(CheckRanks(flags_));
  ExportProcess(&telemetry_, name(), plan_.job);
  ExportWorkerBytes(&telemetry_, &payload_);
  SHOAL_ASSIGN_OR_RETURN(metrics_, StartMetricsServer(flags_, &telemetry_));
  SHOAL_ASSIGN_OR_RETURN(setup_,
                         WorkerSetup::Create(flags_, files_.get(), &logger_));
  // Before the coordinator's time to gather the processes begins.
  SHOAL_RETURN_IF_ERROR(AwaitNames(NeededAddresses(flags_),
                                   flags_.deadlines.start_timeout, wait_,
                                   &logger_));
  SHOAL_RETURN_IF_ERROR(OpenRing());
  SHOAL_ASSIGN_OR_RETURN(link_, OpenLink());
  if (link_->served() != nullptr) SHOAL_RETURN_IF_ERROR(Serve());
  // From here on other processes may know of the job.
  SHOAL_RETURN_IF_ERROR(link_->Begin());
  MakePs();
  SHOAL_RETURN_IF_ERROR(MakeWorker());
  logger_.Info(absl::StrCat(setup_->Describe(*members_.worker), ", rank ",
                            rank(), " of ", flags_.cluster.workers,
                            ", ring address ", ring_->address()));
  members_.ps->Start(
      [this](const PsPart& ps) { replica_.Attach(ps.service(), ps.shard()); },
      [this](MemberEnd end) { OnPsEnd(std::move(end)); });
  members_.worker->Start(
      [this](MemberEnd end) { OnWorkerEnd(std::move(end)); });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<JobLink>> RankProcess::OpenLink() {
  JobLinkDependencies deps;
  deps.clock = &clock_;
  deps.wait = wait_;
  deps.files = files_.get();
  deps.logger = &logger_;
  deps.telemetry = &telemetry_;
  deps.control = &strands_.control;
  deps.completions = &strands_.completions;
  deps.disk = &strands_.background;
  return MakeLink(flags_, plan_, token_, deps);
}

absl::Status RankProcess::Serve() {
  const RpcServerOptions options = ServerOptionsFromFlags(
      flags_, flags_.CoordinatorAddress(), token_, &logger_);
  SHOAL_RETURN_IF_ERROR(options.Validate());
  SHOAL_ASSIGN_OR_RETURN(
      server_, StartServer(options, /*has_listen=*/false, link_->served(),
                           &strands_.completions, &logger_));
  return absl::OkStatus();
}

absl::Status RankProcess::OpenRing() {
  TcpRingOptions options;
  options.job = plan_.job;
  options.reduction = flags_.modes.reduction;
  options.token = token_;
  options.connect_timeout = flags_.deadlines.start_timeout;
  // A rank that is lost meanwhile is known sooner.
  options.reconnect_timeout = 2 * flags_.deadlines.silent_after;
  options.board = &board_;
  options.payload = &payload_;
  options.on_refused = [this](const std::string& line) { logger_.Warn(line); };
  // The others reach a rank on the coordinator's host by the name by which they
  // reach the coordinator.
  const std::string coordinator = flags_.CoordinatorAddress();
  SHOAL_ASSIGN_OR_RETURN(const Address address, ParseAddress(coordinator));
  std::string host = address.HostText();
  if (!flags_.Leads()) {
    SHOAL_ASSIGN_OR_RETURN(const std::string own, OwnHostTowards(coordinator));
    SHOAL_ASSIGN_OR_RETURN(const Address towards,
                           ParseAddress(absl::StrCat(own, ":0")));
    if (!towards.IsLoopback()) host = own;
  }
  SHOAL_ASSIGN_OR_RETURN(ring_, RankRing::Open(host, std::move(options)));
  return absl::OkStatus();
}

void RankProcess::MakePs() {
  PsLoopOptions options = PsLoopOptionsFromFlags(flags_);
  options.directory_patience = DirectoryPatience(flags_);
  // The leading process sends the checkpoint to ranks that do not have it.
  if (!flags_.Leads() && flags_.Saves()) {
    options.checkpoints.fetch_as = absl::StrCat("rank-", rank());
  }
  PsLoopDependencies deps;
  deps.cluster = link_->cluster();
  deps.logger = &logger_;
  deps.control = &strands_.control;
  deps.completions = &strands_.train;
  deps.background = &strands_.background;
  deps.files = files_.get();
  deps.usage = [] { return ResourceUsage{}; };  // the worker tells it
  deps.take_directory = link_->take_directory();
  members_.ps = std::make_unique<PsPart>(
      plan_, plan_.ps.MemberFor(plan_.ps.replicated, rank()), /*address=*/"",
      std::move(options), std::move(deps), &telemetry_);
}

absl::Status RankProcess::MakeWorker() {
  if (plan_.ps.num_servers() > 0) client_loop_.emplace();
  WorkerPartOptions options = setup_->TakeOptions();
  options.loop.member.registration.ring_address = ring_->address();
  options.take_collective = [this] { return std::move(collective_); };
  options.marked = [this] { return replica_.Marked(); };
  options.rank_name = [this](int rank) { return ring_->NameOf(rank); };
  WorkerLoopDependencies deps;
  deps.cluster = link_->cluster();
  deps.logger = &logger_;
  deps.train = &strands_.train;
  deps.control = &strands_.control;
  deps.connect = [this](const ClusterView& view, const Life& own) {
    return Connect(view, own);
  };
  deps.next_ring = [this] { return ring_->NextAddress(); };
  deps.board = &board_;
  // In the process that leads, the coordinator names lost ranks.
  if (!flags_.Leads()) {
    deps.rank_name = [this](int rank) { return ring_->NameOf(rank); };
  }
  deps.usage = CurrentResourceUsage;
  deps.bytes = &payload_;
  deps.telemetry = &worker_telemetry_;
  SHOAL_ASSIGN_OR_RETURN(
      members_.worker, WorkerPart::Create(plan_, rank(), std::move(options),
                                          std::move(deps), files_.get()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>>
RankProcess::Connect(const ClusterView& view, const Life& own) {
  SHOAL_ASSIGN_OR_RETURN(collective_, ring_->Join(view, own, &strands_.train));
  std::vector<std::shared_ptr<ParameterService>> shards;
  if (client_loop_.has_value()) {
    SHOAL_ASSIGN_OR_RETURN(
        shards, ConnectToServers(flags_, plan_, token_, &*client_loop_,
                                 &strands_.train, &payload_,
                                 worker_telemetry_.retries));
  }
  // The replicated shard is the last one.
  shards.push_back(std::make_shared<RetryingParameterService>(
      replica_.Connect(), RetryOptions{}, rank(), &strands_.train,
      worker_telemetry_.retries));
  return shards;
}

void RankProcess::OnPsEnd(MemberEnd end) {
  if (!end.status.ok() && !end.job_over) {
    // If the PS has lost the coordinator, the worker has too, and asks to join
    // again. The answer may say that the job goes on without this process.
    strands_.control.PostAfter(
        end.lost ? kAnswerTime : absl::ZeroDuration(),
        [this, status = end.status] {
          if (!members_.worker_ended) members_.worker->Stop(status);
        });
  }
  Join(std::move(end));
}

void RankProcess::OnWorkerEnd(MemberEnd end) {
  members_.worker_ended = true;
  if (!end.status.ok() && !end.job_over) members_.ps->Stop(end.status);
  Join(std::move(end));
}

void RankProcess::Join(MemberEnd end) {
  std::optional<MemberEnd> joined = members_.end.Add(std::move(end));
  if (joined.has_value()) end_.Tell(*std::move(joined));
}

ExitCode RankProcess::WaitForEnd() {
  StartedProcess self;
  self.name = name();
  self.flags = &flags_;
  self.wait = wait_;
  self.logger = &logger_;
  self.link = link_.get();
  self.part_end = &end_;
  self.disk = &strands_.background;
  // The others cannot go on without this rank, so its PS ends the job.
  return AwaitEnd(self, [this](absl::Status reason, absl::Duration deadline) {
    members_.ps->Stop(std::move(reason), deadline);
  });
}

}  // namespace

std::unique_ptr<JobProcess> NewRankProcess(const JobFlags& flags, JobPlan plan,
                                           std::string token, MainWait* wait) {
  return std::make_unique<RankProcess>(flags, std::move(plan),
                                       std::move(token), wait);
}

}  // namespace shoal
