#include "tests/sim/job_ps.h"

#include <string>
#include <utility>

#include "job/coordinator_part.h"
#include "job/model_directory.h"
#include "job/start_number.h"

namespace shoal {

JobPs::JobPs(const JobEnvironment& environment, int index,
             SimulatedProcess* process, FileSystem* files,
             absl::AnyInvocable<void(End) &&> on_end)
    : environment_(environment),
      index_(index),
      process_(process),
      on_end_(std::move(on_end)) {
  const std::string address = JobEnvironment::AddressOf(index);
  SimulatedServer* const server =
      environment_.network->Listen(address, process_);
  ClusterService* cluster = index == 0 ? Lead(files) : Follow();
  server->cluster = coordinator_.get();
  watch_ = std::make_unique<ViewWatch>(cluster);
  cluster = watch_.get();
  if (environment_.bugs.unsealed_saves) {
    unsealing_ = std::make_unique<UnsealingService>(
        cluster, [this] { return part_->shard().get(); });
    cluster = unsealing_.get();
  }
  PsLoopOptions options;
  options.checkpoints.model_dir = kProbeModelDir;
  PsLoopDependencies deps;
  deps.cluster = cluster;
  deps.files = files;
  deps.logger = environment_.logger;
  deps.control = process_->Strand("control");
  deps.completions = process_->Strand("completions");
  deps.background = process_->Strand("checkpoints");
  deps.usage = [] { return ResourceUsage{}; };
  part_ = std::make_unique<PsPart>(environment_.job->Plan(), index, address,
                                   std::move(options), std::move(deps),
                                   /*telemetry=*/nullptr);
  part_->Start(
      [this, server](const PsPart& part) { Serve(server, part.shard()); },
      [this](MemberEnd end) {
        member_end_ = std::move(end);
        EndIfOver();
      });
}

ClusterService* JobPs::Lead(FileSystem* files) {
  const ProbeJob& job = *environment_.job;
  SimulatedExecutor* const strand = process_->Strand("coordinator");
  CoordinatorOptions options = job.Coordinator();
  if (environment_.ssp_bound.has_value()) {
    options.ssp = SspClocksOptions{
        .bound = *environment_.ssp_bound,
        .depth = static_cast<uint32_t>(environment_.pipeline_depth)};
  }
  StartNumber last = 0;
  if (environment_.save_steps != 0) {
    JobFlags flags = job.ModelDirectoryFlags();
    flags.checkpoints.save_checkpoint_steps =
        static_cast<int64_t>(environment_.save_steps);
    // A job that finds no whole checkpoint, or a bad one, says so when it ends.
    const absl::Status planned = PlanCheckpoints(*files, flags, job.Plan(),
                                                 environment_.logger, &options);
    if (!planned.ok()) {
      environment_.complaints->push_back(
          absl::StrCat(process_->id(), " cannot begin: ", planned.ToString()));
    }
    // By the simulated clock, so that one seed gives one run.
    options.checkpoints.first_attempt =
        static_cast<uint64_t>(absl::ToUnixMicros(strand->Now()));
    if (options.checkpoints.resume != nullptr) {
      last = options.checkpoints.resume->start;
    }
  }
  options.start =
      environment_.bugs.one_start_number
          ? 1
          : MakeStartNumber(strand->Now(),
                            environment_.draw.Word("start", process_->id()),
                            last);
  CoordinatorWork work;
  work.strand = process_->Strand("work");
  work.write_manifest =
      ManifestWriter(files, job.ModelDirectoryFlags(),
                     process_->Strand("checkpoints"), environment_.logger);
  work.probe =
      [network = environment_.network, probe = process_->Strand("probe")](
          std::string address, absl::AnyInvocable<void(bool refused) &&> done) {
        probe->Post([network, address = std::move(address),
                     done = std::move(done)]() mutable {
          std::move(done)(network->Refuses(address));
        });
      };
  coordinator_ =
      ComposeCoordinator(job.Plan(), std::move(options), std::move(work),
                         strand, environment_.logger, /*telemetry=*/nullptr);
  coordinator_->OnFinished([this](const JobReport& report) {
    report_ = report;
    if (on_report_ != nullptr) on_report_(report);
    EndIfOver();
  });
  return coordinator_.get();
}

ClusterService* JobPs::Follow() {
  sessions_ = std::make_unique<SimulatedSessions>(
      environment_.network, process_, process_->Strand("control"),
      JobEnvironment::AddressOf(0));
  if (!environment_.bugs.mortal_sessions) return sessions_.get();
  mortal_ = std::make_unique<MortalSessions>(sessions_.get());
  return mortal_.get();
}

void JobPs::Serve(SimulatedServer* server,
                  const std::shared_ptr<ParameterShard>& shard) {
  if (environment_.bugs.serves_unseen) {
    shard->ServeUntil(process_->Strand("control")->Now() + absl::Seconds(5));
  }
  server->parameters = shard;
  server->on_push = [this](const std::string& origin, const PushRequest& push,
                           const absl::StatusOr<PushReply>& reply) {
    if (!reply.ok() || reply->repeat) return;
    const std::string& job = index_ == 0 ? process_->id() : sessions_->job();
    if (origin == job) return;
    environment_.complaints->push_back(
        absl::StrCat(process_->id(), ", of the job of ", job,
                     ", took a push of ", ToString(push.batches),
                     " of the job of ", origin,
                     watch_->seen() ? "" : ", before its first view"));
  };
}

void JobPs::EndIfOver() {
  if (!member_end_.has_value() || (index_ == 0 && !report_.has_value())) return;
  if (on_end_ == nullptr) return;
  std::exchange(on_end_, nullptr)({*member_end_, report_});
}

}  // namespace shoal
