// shoal-worker: one worker process.

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "cmd/data_sources.h"
#include "cmd/exit_code.h"
#include "cmd/export_metrics.h"
#include "cmd/job_token.h"
#include "cmd/main_wait.h"
#include "cmd/memory_forecast.h"
#include "cmd/options_from_flags.h"
#include "cmd/parse_command_line.h"
#include "cmd/process_setup.h"
#include "cmd/version.h"
#include "launch/job_flag_set.h"
#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"
#include "rpc/parameter_client.h"
#include "rpc/retrying_parameter_service.h"
#include "worker/data/open_batch_source.h"
#include "worker/train/worker_loop.h"

namespace shoal {
namespace {

// All that a worker process is composed of.
class WorkerProcess {
 public:
  WorkerProcess(const JobFlags& flags, JobPlan plan, std::string token,
                MainWait* wait)
      : flags_(flags),
        plan_(std::move(plan)),
        token_(std::move(token)),
        wait_(wait),
        logger_({ProcessName(Role::kWorker, flags.cluster.task_index),
                 *ParseLogLevel(flags.output.log_level)}),
        files_(NewPosixFileSystem()) {}

  ~WorkerProcess();

  absl::Status Start();
  ExitCode WaitForEnd();

 private:
  absl::Status ListFiles(WorkerLoopOptions* options);
  absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> Connect();
  absl::StatusOr<std::unique_ptr<BatchSource>> OpenSource(const Lease& lease);
  std::optional<MemberEnd> end() const {
    MutexLock lock(&mu_);
    return end_;
  }

  const JobFlags flags_;
  const JobPlan plan_;
  const std::string token_;
  MainWait* const wait_;
  Logger logger_;
  const std::unique_ptr<FileSystem> files_;
  std::unique_ptr<Quarantine> quarantine_;
  DataSources sources_;
  mutable Mutex mu_;
  std::optional<MemberEnd> end_ ABSL_GUARDED_BY(mu_);
  Telemetry telemetry_;
  const WorkerTelemetry worker_telemetry_ =
      WorkerTelemetry::Create(&telemetry_);

  RealClock clock_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
  ClientLoop client_loop_;
  ThreadExecutor control_{{"control", 1}, &clock_};
  ThreadExecutor train_{{"train", 1}, &clock_};
  ThreadExecutor probes_{{"probe", 1}, &clock_};
  std::unique_ptr<ClusterClient> cluster_;
  std::unique_ptr<WorkerLoop> loop_;
  std::unique_ptr<MetricsServer> metrics_;
};

WorkerProcess::~WorkerProcess() {
  loop_ = nullptr;
  // What is still queued refers to the clients and the model.
  train_.Shutdown();
  probes_.Shutdown();
  control_.Shutdown();
}

absl::Status WorkerProcess::ListFiles(WorkerLoopOptions* options) {
  // Whether all of the job's files are empty the coordinator says: each host
  // may have its own.
  SHOAL_ASSIGN_OR_RETURN(sources_, SourcesFromFlags(*files_, flags_));
  RegisterRequest& registration = options->member.registration;
  for (const LocalSource& source : sources_.train) {
    registration.train_sources.push_back(source.info);
  }
  for (const LocalSource& source : sources_.eval) {
    registration.eval_sources.push_back(source.info);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>>
WorkerProcess::Connect() {
  std::vector<std::shared_ptr<ParameterService>> shards;
  for (int i = 0; i < flags_.cluster.ps; ++i) {
    ParameterClientOptions options;
    options.channel = ChannelOptionsFromFlags(flags_, token_, i);
    options.chunk_bytes =
        std::min<uint64_t>(options.chunk_bytes,
                           flags_.limits.max_message_bytes - kMessageOverhead);
    SHOAL_RETURN_IF_ERROR(options.Validate());
    shards.push_back(std::make_shared<RetryingParameterService>(
        std::make_unique<ParameterClient>(std::move(options), &client_loop_,
                                          &train_),
        RetryOptions{}, flags_.cluster.task_index, &train_,
        worker_telemetry_.retries));
  }
  return shards;
}

absl::StatusOr<std::unique_ptr<BatchSource>> WorkerProcess::OpenSource(
    const Lease& lease) {
  const std::vector<LocalSource>& sources =
      lease.purpose == LeasePurpose::kTrain ? sources_.train : sources_.eval;
  if (lease.piece.source >= sources.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the coordinator leased source ", lease.piece.source,
                     " of ", sources.size()));
  }
  return OpenBatchSource(files_.get(), sources[lease.piece.source], lease,
                         PieceReaderOptionsFromFlags(flags_, quarantine_.get()),
                         /*prefetch=*/true, &train_);
}

absl::Status WorkerProcess::Start() {
  ExportProcess(&telemetry_,
                ProcessName(Role::kWorker, flags_.cluster.task_index),
                plan_.job);
  SHOAL_ASSIGN_OR_RETURN(metrics_, StartMetricsServer(flags_, &telemetry_));
  WorkerLoopOptions options =
      WorkerLoopOptionsFromFlags(flags_, plan_, flags_.cluster.task_index);
  SHOAL_RETURN_IF_ERROR(ListFiles(&options));
  SHOAL_ASSIGN_OR_RETURN(
      quarantine_, QuarantineFromFlags(flags_, files_.get(),
                                       flags_.cluster.task_index, &logger_));
  SHOAL_ASSIGN_OR_RETURN(backend_, CreateBackend(flags_.training.backend));
  SHOAL_ASSIGN_OR_RETURN(model_, CreateModel(plan_.model, backend_.get()));
  const std::string label =
      plan_.job.empty() ? "" : absl::StrCat("job ", plan_.job, ", ");
  logger_.Info(absl::StrCat(label, sources_.train.size(),
                            " files to train on, ", sources_.eval.size(),
                            " to evaluate on, backend ",
                            backend_->description()));
  ClusterClientOptions cluster;
  cluster.channel = ChannelOptionsFromFlags(flags_, token_, 0);
  SHOAL_RETURN_IF_ERROR(cluster.Validate());
  cluster_ = std::make_unique<ClusterClient>(std::move(cluster), &client_loop_,
                                             &control_, &probes_);
  WorkerLoopDependencies deps;
  deps.cluster = cluster_.get();
  deps.model = model_.get();
  deps.logger = &logger_;
  deps.train = &train_;
  deps.control = &control_;
  deps.open_source = [this](const Lease& lease) { return OpenSource(lease); };
  deps.connect = [this](const ClusterView&) { return Connect(); };
  deps.usage = CurrentResourceUsage;
  deps.telemetry = &worker_telemetry_;
  loop_ = std::make_unique<WorkerLoop>(std::move(options), std::move(deps));
  loop_->Start([this](MemberEnd end) {
    MutexLock lock(&mu_);
    end_ = std::move(end);
    wait_->Notify();
  });
  return absl::OkStatus();
}

ExitCode WorkerProcess::WaitForEnd() {
  bool signalled = false;
  while (!end().has_value()) {
    const int signal = wait_->Wait(absl::Hours(1));
    if (signal == 0) continue;
    if (signalled) _exit(kExitStopped);
    signalled = true;
    logger_.Warn(absl::StrCat("SIG", sigabbrev_np(signal),
                              ": finishing what is in flight"));
    loop_->Stop();
  }
  const absl::Status status = end()->status;
  if (end()->job_over && absl::IsCancelled(status)) {
    logger_.Warn(absl::StrCat("the job was stopped: ", status.message()));
    return kExitStopped;
  }
  if (!status.ok()) {
    logger_.Error(absl::StrCat("the job failed: ", status.message()));
    return signalled ? kExitStopped : kExitFailed;
  }
  logger_.Info(signalled ? "left the job" : "the job is done");
  return signalled ? kExitStopped : kExitOk;
}

int Main(const std::vector<std::string>& args) {
  if (PrintVersion(args, "shoal-worker")) return kExitOk;
  MainWait wait;
  JobFlags flags(Command::kWorker);
  FlagSet set = JobFlagSet(&flags);
  if (const auto exit = ParseJobOrExit(&flags, &set, args)) return *exit;
  const absl::StatusOr<std::string> token = JobToken(flags);
  if (!token.ok()) return Complain(set.command(), token.status(), kExitUsage);
  if (flags.cluster.token_file == "-") {
    wait.WatchInput(STDIN_FILENO,
                    flags.deadlines.shutdown_timeout + absl::Seconds(2));
  }
  absl::StatusOr<JobPlan> plan = PlanJob(flags);
  if (!plan.ok()) return Complain(set.command(), plan.status(), kExitUsage);
  const absl::Status fits =
      ForecastAndCheck(flags, *plan, *NewPosixFileSystem());
  if (!fits.ok()) return Complain(set.command(), fits, kExitUsage);
  WorkerProcess process(flags, *std::move(plan), *token, &wait);
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
