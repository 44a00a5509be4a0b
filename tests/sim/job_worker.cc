#include "tests/sim/job_worker.h"

#include <utility>

#include "rpc/retrying_parameter_service.h"
#include "tests/harness/simulated_calls.h"

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
  WorkerPartOptions options;
  options.backend = "reference";
  options.reader = environment_.job->reader;
  options.sources = {ProbeSources(*files, LeasePurpose::kTrain),
                     ProbeSources(*files, LeasePurpose::kEvaluate)};
  options.prefetch = false;
  options.loop.trainer.pipeline_depth = environment_.pipeline_depth;
  options.loop.trainer.scores.max_scores = 17;
  options.loop.pull_timeout = absl::Seconds(2);
  options.loop.push_timeout = absl::Seconds(2);
  WorkerLoopDependencies deps;
  deps.cluster = cluster;
  deps.logger = environment_.logger;
  deps.train = train;
  deps.control = control;
  deps.connect = [this](const ClusterView&, const Life&)
      -> absl::StatusOr<std::vector<std::shared_ptr<ParameterService>>> {
    return Connect();
  };
  deps.usage = [] { return ResourceUsage{}; };
  part_ = *WorkerPart::Create(environment_.job->Plan(), index,
                              std::move(options), std::move(deps), files);
  part_->Start(std::move(on_end));
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
