#include "job/in_process_job.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/resource_usage.h"
#include "base/status_macros.h"
#include "job/coordinator_part.h"
#include "job/job_plan.h"
#include "job/ps_part.h"
#include "job/worker_part.h"
#include "worker/collective/local_collective.h"

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
  const ShardMap& map() const { return plan_.map; }
  const ModelSpec& spec() const { return plan_.spec; }

 private:
  void MakeRing();
  void BuildPs(int index);
  absl::Status BuildWorker(int index);
  std::vector<std::shared_ptr<ParameterService>> Connect(int worker);
  void OnMemberEnd(const MemberEnd& end);
  void OnePartEnded();

  InProcessJobOptions options_;
  InProcessJobDependencies deps_;
  JobPlan plan_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<PsPart>> ps_;
  std::vector<std::shared_ptr<ParameterShard>> shards_;
  std::optional<WorkerTelemetry> worker_telemetry_;
  std::vector<std::unique_ptr<WorkerPart>> workers_;
  // By worker, each until the worker takes its own; empty: there is no ring.
  std::vector<std::unique_ptr<Collective>> collectives_;
  int parts_running_ = 0;
  JobReport report_;
  absl::AnyInvocable<void(JobReport) &&> done_;
};

absl::Status InProcessJob::Impl::Build() {
  if (options_.mode->ring) MakeRing();
  SHOAL_ASSIGN_OR_RETURN(
      plan_, MakeJobPlan({kJob, options_.coordinator.config,
                          options_.model, options_.canary, options_.partition,
                          options_.mode->servers ? options_.ps : 0,
                          options_.mode->ring ? options_.workers : 0,
                          options_.compute.replay != nullptr}));
  CoordinatorOptions& coordinator = options_.coordinator;
  coordinator.ps = plan_.ps;
  coordinator.ring = false;  // its ranks need no ports
  coordinator.num_workers = options_.workers;
  coordinator.seed = options_.model.seed;
  options_.reader.feature_size = options_.model.feature_size;
  options_.reader.field_size = options_.model.field_size;
  options_.reader.seed = options_.model.seed;
  options_.ps_loop.steps = options_.mode->steps;
  if (deps_.telemetry != nullptr) {
    worker_telemetry_ = WorkerTelemetry::Create(deps_.telemetry);
    ExportWorkerBytes(deps_.telemetry, nullptr);
  }
  coordinator_ =
      ComposeCoordinator(plan_, coordinator, std::move(deps_.work),
                         deps_.control, deps_.logger, deps_.telemetry);
  shards_.resize(plan_.ps.count);
  for (int k = 0; k < plan_.ps.count; ++k) BuildPs(k);
  for (int i = 0; i < options_.workers; ++i) {
    SHOAL_RETURN_IF_ERROR(BuildWorker(i));
  }
  return absl::OkStatus();
}

void InProcessJob::Impl::MakeRing() {
  LocalCollectiveOptions ring;
  ring.reduction = options_.ring.reduction;
  collectives_ = MakeLocalCollectives(ring, deps_.train);
}

void InProcessJob::Impl::BuildPs(int index) {
  PsLoopDependencies deps;
  deps.cluster = coordinator_.get();
  deps.logger = deps_.logger;
  deps.control = deps_.control;
  deps.completions = deps_.completions;
  deps.background = deps_.background;
  deps.files = deps_.file_system;
  // Worker 0 reports the usage of the whole process.
  deps.usage = [] { return ResourceUsage{}; };
  // The copies of ranks have no address (core/member_name.h).
  const bool copy = plan_.ps.ShardOf(index) == plan_.ps.replicated;
  ps_.push_back(std::make_unique<PsPart>(
      plan_, index, copy ? "" : absl::StrCat("in-process:", index),
      options_.ps_loop, std::move(deps), deps_.telemetry));
}

absl::Status InProcessJob::Impl::BuildWorker(int index) {
  WorkerPartOptions options;
  options.backend = options_.backend;
  options.mode = options_.mode;
  options.reader = options_.reader;
  options.loop = options_.worker_loop;
  options.sources = {options_.train, options_.eval};
  options.prefetch = options_.prefetch;
  options.ring = options_.ring;
  options.compute = options_.compute;
  if (options_.mode->ring) {
    options.take_collective = [this, index] {
      return std::move(collectives_[index]);
    };
  }
  WorkerLoopDependencies deps;
  deps.cluster = coordinator_.get();
  deps.logger = deps_.logger;
  deps.train = deps_.train[index];
  deps.control = deps_.control;
  deps.connect = [this, index](const ClusterView&, const Life&) {
    return Connect(index);
  };
  deps.usage = [index] {
    return index == 0 ? CurrentResourceUsage() : ResourceUsage{};
  };
  if (worker_telemetry_.has_value()) deps.telemetry = &*worker_telemetry_;
  SHOAL_ASSIGN_OR_RETURN(
      std::unique_ptr<WorkerPart> worker,
      WorkerPart::Create(plan_, index, std::move(options), std::move(deps),
                         deps_.file_system));
  workers_.push_back(std::move(worker));
  return absl::OkStatus();
}

std::vector<std::shared_ptr<ParameterService>> InProcessJob::Impl::Connect(
    int worker) {
  std::vector<std::shared_ptr<ParameterService>> services;
  for (int shard = 0; shard < plan_.map.num_shards; ++shard) {
    std::shared_ptr<ParameterService> service =
        ps_[plan_.ps.MemberFor(shard, worker)]->service();
    if (deps_.wrap_service != nullptr) {
      service = deps_.wrap_service(worker, shard, std::move(service));
    }
    services.push_back(std::move(service));
  }
  return services;
}

void InProcessJob::Impl::Start(absl::AnyInvocable<void(JobReport) &&> done) {
  done_ = std::move(done);
  parts_running_ = 1 + plan_.ps.count + options_.workers;
  coordinator_->OnFinished([self = shared_from_this()](const JobReport& r) {
    self->report_ = r;
    self->OnePartEnded();
  });
  for (int k = 0; k < plan_.ps.count; ++k) {
    ps_[k]->Start(
        [this, k](const PsPart& ps) { shards_[k] = ps.shard(); },
        [self = shared_from_this()](MemberEnd end) { self->OnMemberEnd(end); });
  }
  for (const std::unique_ptr<WorkerPart>& worker : workers_) {
    worker->Start(
        [self = shared_from_this()](MemberEnd end) { self->OnMemberEnd(end); });
  }
}

void InProcessJob::Impl::OnMemberEnd(const MemberEnd& end) {
  // If the job is over already, Stop changes nothing.
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
