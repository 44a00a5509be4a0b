#include "job/worker_part.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "job/options_from_flags.h"
#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "worker/data/open_batch_source.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<WorkerPart>> WorkerPart::Create(
    const JobPlan& plan, int index, WorkerPartOptions options,
    WorkerLoopDependencies deps, const FileSystem* files) {
  WorkerLoopOptions loop = std::move(options.loop);
  options.reader.num_labels = MetricsOf(plan).num_labels();
  loop.trainer.scores.num_labels = options.reader.num_labels;
  const std::string backend = options.backend;
  const std::string host = options.host;
  const TrainingModeKind* const mode = options.mode;
  loop.trainer.loss = mode->loss;
  // In a copy, a row that is not trained in the end would exist in one replica
  // only.
  loop.trainer.pulls_create_rows = mode->servers;
  ExchangeSetup setup;
  setup.strand = deps.train;
  setup.logger = deps.logger;
  setup.clips = loop.trainer.clip_norm > 0;
  setup.ring = options.ring;
  setup.marked = std::move(options.marked);
  setup.rank_name = std::move(options.rank_name);
  setup.renews = deps.next_ring != nullptr;
  setup.board = deps.board;
  auto take_collective = std::move(options.take_collective);
  WorkerComputeOptions compute = std::move(options.compute);
  std::unique_ptr<WorkerPart> part(
      new WorkerPart(std::move(options), files, deps.train));
  SHOAL_ASSIGN_OR_RETURN(part->backend_, CreateBackend(backend));
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Model> model,
                         CreateModel(plan.model, part->backend_.get()));
  SHOAL_ASSIGN_OR_RETURN(
      part->compute_,
      WorkerCompute::Create(std::move(compute), plan, index, std::move(model),
                            files, deps.logger));
  if (mode->ring && setup.clips && index == 0) {
    deps.logger->Info(
        "with --clip_norm the workers add up their gradients after the "
        "computation, and not during it");
  }
  setup.model = &part->compute_->model()->spec();
  deps.make_exchange = [mode, setup = std::move(setup),
                        take = std::move(take_collective)](
                           ShardedClient* shards, ExchangeStart start) mutable {
    ExchangeParts parts;
    parts.setup = setup;
    parts.shards = shards;
    if (take != nullptr) parts.collective = take();
    parts.start = std::move(start);
    return mode->make_exchange(std::move(parts));
  };
  RegisterRequest& registration = loop.member.registration;
  registration.job = plan.job;
  registration.config = plan.config;
  registration.role = Role::kWorker;
  registration.index = index;
  registration.host = host;
  loop.member.rejoin = true;
  for (const LocalSource& source : part->sources_.train) {
    registration.train_sources.push_back(source.info);
  }
  registration.ids = IdsOf(part->sources_);
  registration.train_row_bytes = MeanRowBytes(part->sources_.train);
  for (const LocalSource& source : part->sources_.eval) {
    registration.eval_sources.push_back(source.info);
  }
  loop.map = plan.map;
  loop.trainer.field_size = plan.model.field_size;
  deps.model = part->compute_->model();
  deps.open_source = [self = part.get()](const Lease& lease) {
    return self->OpenSource(lease);
  };
  part->loop_ = std::make_unique<WorkerLoop>(std::move(loop), std::move(deps));
  return part;
}

void WorkerPart::Start(absl::AnyInvocable<void(MemberEnd) &&> done) {
  loop_->Start([compute = compute_.get(),
                done = std::move(done)](MemberEnd end) mutable {
    compute->Finish();
    std::move(done)(std::move(end));
  });
}

void WorkerPart::Stop(absl::Status reason, absl::Duration save_deadline) {
  loop_->Stop(std::move(reason), save_deadline);
}

absl::StatusOr<std::unique_ptr<BatchSource>> WorkerPart::OpenSource(
    const Lease& lease) const {
  const std::vector<LocalSource>& sources =
      lease.purpose == LeasePurpose::kTrain ? sources_.train : sources_.eval;
  if (lease.piece.source >= sources.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the coordinator leased source ", lease.piece.source,
                     " of ", sources.size()));
  }
  return OpenBatchSource(files_, sources[lease.piece.source], lease, reader_,
                         prefetch_, train_);
}

}  // namespace shoal
