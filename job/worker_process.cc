#include "job/worker_process.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "core/rank_board.h"
#include "job/answer_signal.h"
#include "job/await_names.h"
#include "job/job_token.h"
#include "job/options_from_flags.h"
#include "job/process_metrics.h"
#include "job/process_outcome.h"
#include "job/server_clients.h"
#include "job/stop_text.h"
#include "job/to_main.h"
#include "job/training_mode.h"
#include "job/worker_part.h"
#include "job/worker_setup.h"
#include "report/export_metrics.h"
#include "rpc/client_loop.h"
#include "rpc/cluster_client.h"

namespace shoal {
namespace {

// All parts of a worker process.
class WorkerProcess final : public JobProcess {
 public:
  WorkerProcess(const JobFlags& flags, JobPlan plan, std::string token,
                MainWait* wait)
      : flags_(flags),
        plan_(std::move(plan)),
        token_(std::move(token)),
        wait_(wait),
        logger_(LoggerOptionsFromFlags(
            flags, ProcessName(Role::kWorker, flags.cluster.task_index))),
        files_(NewPosixFileSystem()),
        end_(wait) {}

  ~WorkerProcess() override;

  absl::Status Start() override;
  ExitCode WaitForEnd() override;

 private:
  std::string name() const {
    return ProcessName(Role::kWorker, flags_.cluster.task_index);
  }
  // What follows a signal that asks the process to stop.
  std::string StopWords() const;
  void OnSignal(const MainWait::Event& event);

  const JobFlags flags_;
  const JobPlan plan_;
  const std::string token_;
  MainWait* const wait_;
  Logger logger_;
  const std::unique_ptr<FileSystem> files_;
  std::unique_ptr<WorkerSetup> setup_;
  ToMain<MemberEnd> end_;
  Telemetry telemetry_;
  const WorkerTelemetry worker_telemetry_ =
      WorkerTelemetry::Create(&telemetry_);

  RankBoard board_;  // the train strand writes there
  PayloadCounters payload_;
  RealClock clock_;
  ClientLoop client_loop_;
  ThreadExecutor control_{{"control", 1}, &clock_};
  ThreadExecutor train_{{"train", 1}, &clock_};
  ThreadExecutor probes_{{"probe", 1}, &clock_};
  std::unique_ptr<ClusterClient> cluster_;
  std::unique_ptr<WorkerPart> part_;
  std::unique_ptr<MetricsServer> metrics_;
};

WorkerProcess::~WorkerProcess() {
  if (part_ != nullptr) part_->DropLoop();
  // Tasks that are still queued refer to the clients and the model.
  train_.Shutdown();
  probes_.Shutdown();
  control_.Shutdown();
}

absl::Status WorkerProcess::Start() {
  ExportProcess(&telemetry_, name(), plan_.job);
  ExportWorkerBytes(&telemetry_, &payload_);
  SHOAL_ASSIGN_OR_RETURN(metrics_, StartMetricsServer(flags_, &telemetry_));
  SHOAL_ASSIGN_OR_RETURN(setup_,
                         WorkerSetup::Create(flags_, files_.get(), &logger_));
  ClusterClientOptions cluster;
  cluster.channel = CoordinatorChannelFromFlags(flags_, token_);
  SHOAL_RETURN_IF_ERROR(cluster.Validate());
  SHOAL_RETURN_IF_ERROR(AwaitNames(NeededAddresses(flags_),
                                   flags_.deadlines.start_timeout, wait_,
                                   &logger_));
  cluster_ = std::make_unique<ClusterClient>(std::move(cluster), &client_loop_,
                                             &control_, &probes_);
  WorkerLoopDependencies deps;
  deps.cluster = cluster_.get();
  deps.logger = &logger_;
  deps.train = &train_;
  deps.control = &control_;
  deps.connect = [this](const ClusterView&, const Life&) {
    return ConnectToServers(flags_, plan_, token_, &client_loop_, &train_,
                            &payload_, worker_telemetry_.retries);
  };
  deps.bytes = &payload_;
  deps.usage = CurrentResourceUsage;
  deps.telemetry = &worker_telemetry_;
  deps.board = &board_;
  SHOAL_ASSIGN_OR_RETURN(
      part_, WorkerPart::Create(plan_, flags_.cluster.task_index,
                                setup_->TakeOptions(), std::move(deps),
                                files_.get()));
  logger_.Info(setup_->Describe(*part_));
  part_->Start([this](MemberEnd end) { end_.Tell(std::move(end)); });
  return absl::OkStatus();
}

std::string WorkerProcess::StopWords() const {
  if (flags_.Saves()) return StopText(flags_);
  return KindOf(flags_.training.mode).steps
             ? "the job ends, as the other workers need this one"
             : "the worker finishes its batches in progress and leaves";
}

void WorkerProcess::OnSignal(const MainWait::Event& event) {
  const std::optional<absl::Status> reason = AnswerSignal(
      event, name(), StopWords(), [] { return std::string(); }, &logger_);
  if (!reason.has_value()) return;
  part_->Stop(*reason, flags_.Saves() ? flags_.checkpoints.stop_timeout
                                      : absl::ZeroDuration());
}

ExitCode WorkerProcess::WaitForEnd() {
  while (!end_.told()) OnSignal(wait_->Wait(absl::Hours(1)));
  wait_->QuitOnInterrupt();
  const bool signalled = wait_->first_signal() != 0;
  return ReportOutcome(ProcessOutcome::OfMember(*end_.Get()), flags_, signalled,
                       &logger_);
}

}  // namespace

std::unique_ptr<JobProcess> NewWorkerProcess(const JobFlags& flags,
                                             JobPlan plan, std::string token,
                                             MainWait* wait) {
  return std::make_unique<WorkerProcess>(flags, std::move(plan),
                                         std::move(token), wait);
}

}  // namespace shoal
