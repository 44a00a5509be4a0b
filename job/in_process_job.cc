#include "job/in_process_job.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "core/canary.h"
#include "job/process_metrics.h"
#include "models/backend/create_backend.h"
#include "report/export_metrics.h"
#include "rpc/metered_parameter_service.h"
#include "worker/data/open_batch_source.h"

namespace shoal {

// State belongs to the control strand once the job has started.
class InProcessJob::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(InProcessJobOptions options, InProcessJobDependencies deps)
      : options_(std::move(options)), deps_(std::move(deps)) {}

  absl::Status Build();
  void Start(absl::AnyInvocable<void(JobReport) &&> done);

  Coordinator* coordinator() const { return coordinator_.get(); }
  const std::vector<std::shared_ptr<ParameterShard>>& shards() const {
    return shards_;
  }
  const ShardMap& map() const { return map_; }
  const ModelSpec& spec() const { return spec_; }

 private:
  struct Worker {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<Model> model;
    std::unique_ptr<WorkerLoop> loop;
  };

  void BuildPs(int index);
  absl::Status BuildWorker(int index);
  void OnMemberEnd(const MemberEnd& end);
  void OnePartEnded();

  InProcessJobOptions options_;
  InProcessJobDependencies deps_;
  ModelSpec spec_;
  ShardMap map_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<PsLoop>> ps_;
  std::vector<std::shared_ptr<ParameterShard>> shards_;
  // By shard, what workers call; the shards themselves without telemetry.
  std::vector<std::shared_ptr<ParameterService>> services_;
  std::optional<WorkerTelemetry> worker_telemetry_;
  std::vector<Worker> workers_;
  int parts_running_ = 0;
  JobReport report_;
  absl::AnyInvocable<void(JobReport) &&> done_;
};

absl::Status InProcessJob::Impl::Build() {
  SHOAL_ASSIGN_OR_RETURN(spec_, MakeModelSpec(options_.model));
  if (options_.canary) AddCanary(&spec_);
  SHOAL_ASSIGN_OR_RETURN(map_,
                         BuildShardMap(spec_, options_.partition, options_.ps));
  CoordinatorOptions& coordinator = options_.coordinator;
  coordinator.job = "in-process";
  coordinator.num_ps = options_.ps;
  coordinator.num_workers = options_.workers;
  coordinator.seed = options_.model.seed;
  options_.reader.feature_size = options_.model.feature_size;
  options_.reader.field_size = options_.model.field_size;
  options_.reader.seed = options_.model.seed;
  coordinator.checkpoints.model = spec_;
  coordinator.checkpoints.map = map_;
  coordinator_ = Coordinator::Create(coordinator, deps_.control, deps_.logger,
                                     std::move(deps_.work));
  if (deps_.telemetry != nullptr) {
    worker_telemetry_ = WorkerTelemetry::Create(deps_.telemetry);
    ExportJob(deps_.telemetry, [this] { return coordinator_->Report(); });
  }
  shards_.resize(options_.ps);
  services_.resize(options_.ps);
  for (int k = 0; k < options_.ps; ++k) BuildPs(k);
  for (int i = 0; i < options_.workers; ++i) {
    SHOAL_RETURN_IF_ERROR(BuildWorker(i));
  }
  return absl::OkStatus();
}

void InProcessJob::Impl::BuildPs(int index) {
  PsLoopOptions options = options_.ps_loop;
  options.member.registration.job = options_.coordinator.job;
  options.member.registration.role = Role::kPs;
  options.member.registration.index = index;
  options.member.registration.config = options_.coordinator.config;
  options.member.registration.address = absl::StrCat("in-process:", index);
  options.member.rejoin = false;
  options.shard.job = options_.coordinator.job;
  options.shard.model = spec_;
  options.shard.map = map_;
  options.shard.shard = index;
  PsLoopDependencies deps;
  deps.cluster = coordinator_.get();
  deps.logger = deps_.logger;
  deps.control = deps_.control;
  deps.completions = deps_.completions;
  deps.background = deps_.background;
  deps.files = deps_.file_system;
  deps.serve = [this, index](std::shared_ptr<ParameterShard> shard) {
    services_[index] = shard;
    if (deps_.telemetry != nullptr) {
      ExportShard(deps_.telemetry, index, shard);
      services_[index] = std::make_shared<MeteredParameterService>(
          shard.get(), deps_.telemetry,
          MetricLabels{{"shard", absl::StrCat(index)}}, deps_.completions);
    }
    shards_[index] = std::move(shard);
  };
  // The worker of a process that holds several parts counts it all.
  deps.usage = [] { return ResourceUsage{}; };
  ps_.push_back(std::make_unique<PsLoop>(std::move(options), std::move(deps)));
}

absl::Status InProcessJob::Impl::BuildWorker(int index) {
  Worker worker;
  SHOAL_ASSIGN_OR_RETURN(worker.backend, CreateBackend(options_.backend));
  SHOAL_ASSIGN_OR_RETURN(worker.model,
                         CreateModel(options_.model, worker.backend.get()));
  WorkerLoopOptions options = options_.worker_loop;
  options.member.registration.job = options_.coordinator.job;
  options.member.registration.role = Role::kWorker;
  options.member.registration.index = index;
  options.member.registration.config = options_.coordinator.config;
  for (const LocalSource& source : options_.train) {
    options.member.registration.train_sources.push_back(source.info);
  }
  for (const LocalSource& source : options_.eval) {
    options.member.registration.eval_sources.push_back(source.info);
  }
  options.map = map_;
  options.trainer.field_size = options_.model.field_size;
  WorkerLoopDependencies deps;
  deps.cluster = coordinator_.get();
  deps.model = worker.model.get();
  deps.logger = deps_.logger;
  deps.train = deps_.train[index];
  deps.control = deps_.control;
  deps.open_source = [this, index](const Lease& lease) {
    const std::vector<LocalSource>& files =
        lease.purpose == LeasePurpose::kTrain ? options_.train : options_.eval;
    return OpenBatchSource(deps_.file_system, files[lease.piece.source], lease,
                           options_.reader, options_.prefetch,
                           deps_.train[index]);
  };
  deps.connect = [this, index](const ClusterView&)
      -> absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> {
    std::vector<std::shared_ptr<ParameterService>> services;
    for (int k = 0; k < options_.ps; ++k) {
      std::shared_ptr<ParameterService> service = services_[k];
      if (deps_.wrap_service != nullptr) {
        service = deps_.wrap_service(index, k, std::move(service));
      }
      services.push_back(std::move(service));
    }
    return services;
  };
  deps.usage = [index] {
    return index == 0 ? CurrentResourceUsage() : ResourceUsage{};
  };
  if (worker_telemetry_.has_value()) deps.telemetry = &*worker_telemetry_;
  worker.loop =
      std::make_unique<WorkerLoop>(std::move(options), std::move(deps));
  workers_.push_back(std::move(worker));
  return absl::OkStatus();
}

void InProcessJob::Impl::Start(absl::AnyInvocable<void(JobReport) &&> done) {
  done_ = std::move(done);
  parts_running_ = 1 + options_.ps + options_.workers;
  coordinator_->OnFinished([self = shared_from_this()](const JobReport& r) {
    self->report_ = r;
    self->OnePartEnded();
  });
  for (const std::unique_ptr<PsLoop>& ps : ps_) {
    ps->Start(
        [self = shared_from_this()](MemberEnd end) { self->OnMemberEnd(end); });
  }
  for (const Worker& worker : workers_) {
    worker.loop->Start(
        [self = shared_from_this()](MemberEnd end) { self->OnMemberEnd(end); });
  }
}

void InProcessJob::Impl::OnMemberEnd(const MemberEnd& end) {
  // Of a job that is over already this changes nothing.
  if (!end.status.ok()) coordinator_->Stop(end.status);
  OnePartEnded();
}

void InProcessJob::Impl::OnePartEnded() {
  if (--parts_running_ == 0) std::move(done_)(std::move(report_));
}

absl::StatusOr<std::unique_ptr<InProcessJob>> InProcessJob::Create(
    InProcessJobOptions options, InProcessJobDependencies deps) {
  auto impl = std::make_shared<Impl>(std::move(options), std::move(deps));
  SHOAL_RETURN_IF_ERROR(impl->Build());
  return std::unique_ptr<InProcessJob>(new InProcessJob(std::move(impl)));
}

InProcessJob::InProcessJob(std::shared_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

InProcessJob::~InProcessJob() = default;

void InProcessJob::Start(absl::AnyInvocable<void(JobReport) &&> done) {
  impl_->Start(std::move(done));
}

void InProcessJob::Stop(absl::Status reason) {
  impl_->coordinator()->Stop(std::move(reason));
}

void InProcessJob::SaveAndStop(absl::Status reason) {
  impl_->coordinator()->SaveAndStop(std::move(reason));
}

ClusterService* InProcessJob::cluster() { return impl_->coordinator(); }

JobReport InProcessJob::Report() const {
  return impl_->coordinator()->Report();
}

const std::vector<std::shared_ptr<ParameterShard>>& InProcessJob::shards()
    const {
  return impl_->shards();
}

const ShardMap& InProcessJob::map() const { return impl_->map(); }

const ModelSpec& InProcessJob::model_spec() const { return impl_->spec(); }

}  // namespace shoal
