#include "tests/sim/job_worker.h"

#include <utility>

#include "models/backend/create_backend.h"
#include "rpc/retrying_parameter_service.h"
#include "tests/harness/simulated_calls.h"
#include "worker/data/open_batch_source.h"

namespace shoal {

JobWorker::JobWorker(const JobEnvironment& environment, int index,
                     SimulatedProcess* process, const FileSystem* files,
                     absl::AnyInvocable<void(MemberEnd) &&> on_end)
    : environment_(environment), index_(index), process_(process) {
  SimulatedExecutor* const control = process_->Strand("control");
  SimulatedExecutor* const train = process_->Strand("train");
  sessions_ = std::make_unique<SimulatedSessions>(
      environment_.network, process_, control, JobEnvironment::AddressOf(0));
  ClusterService* cluster = sessions_.get();
  if (environment_.bugs.mortal_sessions) {
    mortal_ = std::make_unique<MortalSessions>(cluster);
    cluster = mortal_.get();
  }
  backend_ = *CreateBackend("reference");
  model_ = *CreateModel(environment_.job->model, backend_.get());
  WorkerLoopOptions options;
  options.member.registration.job = kProbeJob;
  options.member.registration.role = Role::kWorker;
  options.member.registration.index = index;
  options.member.registration.train_sources = {
      ProbeSources(*files, LeasePurpose::kTrain)[0].info};
  options.member.registration.eval_sources = {
      ProbeSources(*files, LeasePurpose::kEvaluate)[0].info};
  options.map = environment_.job->map;
  options.trainer.field_size = kProbeFields;
  options.trainer.pipeline_depth = environment_.pipeline_depth;
  options.trainer.scores.max_scores = 17;
  options.pull_timeout = absl::Seconds(2);
  options.push_timeout = absl::Seconds(2);
  WorkerLoopDependencies deps;
  deps.cluster = cluster;
  deps.model = model_.get();
  deps.logger = environment_.logger;
  deps.train = train;
  deps.control = control;
  deps.open_source = [this, files, train](const Lease& lease) {
    return OpenBatchSource(files, ProbeSources(*files, lease.purpose)[0], lease,
                           environment_.job->reader, /*prefetch=*/false, train);
  };
  deps.connect = [this](const ClusterView&)
      -> absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> {
    return Connect();
  };
  deps.usage = [] { return ResourceUsage{}; };
  loop_ = std::make_unique<WorkerLoop>(std::move(options), std::move(deps));
  loop_->Start(std::move(on_end));
}

std::vector<std::shared_ptr<ParameterService>> JobWorker::Connect() {
  RetryOptions retry;
  // Longer than every part of a push may take.
  retry.attempt_timeout = absl::Milliseconds(800);
  std::vector<std::shared_ptr<ParameterService>> services;
  for (int k = 0; k < environment_.job->options.ps; ++k) {
    services.push_back(std::make_shared<RetryingParameterService>(
        std::make_unique<SimulatedCalls>(
            environment_.network, process_->Strand("train"), *process_,
            JobEnvironment::AddressOf(k), sessions_->job()),
        retry, index_, process_->Strand("train")));
  }
  return services;
}

}  // namespace shoal
