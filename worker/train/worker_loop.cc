#include "worker/train/worker_loop.h"

#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/train/progress_meter.h"

namespace shoal {

// Everything runs on the control strand, the trainer alone on the train strand.
class WorkerLoop::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(WorkerLoopOptions options, WorkerLoopDependencies deps)
      : options_(std::move(options)),
        deps_(std::move(deps)),
        member_(options_.member, deps_.cluster, deps_.control, deps_.logger) {}

  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);
  void Stop();

  Executor* control() const { return deps_.control; }

 private:
  // What exists for one life; the trainer's calls in flight may outlive it.
  struct OneLife {
    Life life;
    std::shared_ptr<ClusterSession> session;
    std::shared_ptr<LeaseTrainer> trainer;
    ProgressMeter progress;
  };

  void OnMessage(CoordinatorMessage message);
  absl::Status OnView(const ClusterView& view);
  void EndLife();

  const WorkerLoopOptions options_;
  WorkerLoopDependencies deps_;
  ClusterMember member_;
  bool stopping_ = false;
  std::shared_ptr<OneLife> life_;
};

void WorkerLoop::Impl::Start(absl::AnyInvocable<void(MemberEnd) &&> done) {
  ClusterMemberHandlers handlers;
  handlers.on_joined = [self = shared_from_this()](
                           const RegisterReply& reply,
                           std::shared_ptr<ClusterSession> session) {
    self->life_ = std::make_shared<OneLife>();
    self->life_->life = reply.life;
    self->life_->session = std::move(session);
  };
  handlers.on_message = [self = shared_from_this()](CoordinatorMessage m) {
    self->OnMessage(std::move(m));
  };
  handlers.on_left = [self = shared_from_this()] { self->EndLife(); };
  handlers.heartbeat = [self = shared_from_this()] {
    Heartbeat heartbeat;
    heartbeat.usage = self->deps_.usage();
    if (self->life_ != nullptr) {
      heartbeat.progress = self->life_->progress.Snapshot();
    }
    return heartbeat;
  };
  handlers.on_end = std::move(done);
  member_.Start(std::move(handlers));
}

void WorkerLoop::Impl::OnMessage(CoordinatorMessage message) {
  if (auto* view = std::get_if<ClusterView>(&message)) {
    const absl::Status status = OnView(*view);
    if (!status.ok()) life_->session->Send(Failure{status});
  } else if (auto* grant = std::get_if<LeaseGrant>(&message)) {
    if (life_->trainer == nullptr) return;
    deps_.train->Post(
        [trainer = life_->trainer, lease = std::move(grant->lease)]() mutable {
          trainer->AddLease(std::move(lease));
        });
  }
}

absl::Status WorkerLoop::Impl::OnView(const ClusterView& view) {
  if (stopping_) return absl::OkStatus();
  if (view.map_version != options_.map.version ||
      static_cast<int>(view.ps.size()) != options_.map.num_shards) {
    return absl::FailedPreconditionError(
        absl::StrCat("the coordinator has map version ", view.map_version,
                     " over ", view.ps.size(), " PSs, this worker version ",
                     options_.map.version, " over ", options_.map.num_shards));
  }
  auto shards = deps_.connect(view);
  if (!shards.ok()) return shards.status();

  ShardedClientOptions client;
  client.job = options_.member.registration.job;
  client.worker = life_->life;
  client.map = options_.map;
  for (const PsInfo& ps : view.ps) client.shard_lives.push_back(ps.life);
  client.row_dim = deps_.model->spec().tables[0].row_dim();
  client.dense_size = deps_.model->spec().dense_size();
  client.pull_timeout = options_.pull_timeout;
  client.push_timeout = options_.push_timeout;
  LeaseTrainerDependencies deps;
  deps.model = deps_.model;
  deps.progress = &life_->progress;
  deps.logger = deps_.logger;
  deps.strand = deps_.train;
  deps.open_source = &deps_.open_source;
  // A second view within one life means that a shard has a new one.
  std::shared_ptr<LeaseTrainer> before = life_->trainer;
  life_->trainer = std::make_shared<LeaseTrainer>(
      options_.trainer, deps,
      std::make_unique<ShardedClient>(std::move(client), *std::move(shards),
                                      deps_.train),
      [session = life_->session](ProcessMessage message) {
        session->Send(std::move(message));
      });
  deps_.train->Post([before, trainer = life_->trainer] {
    if (before != nullptr) before->Abandon();
    trainer->Start();
  });
  return absl::OkStatus();
}

void WorkerLoop::Impl::EndLife() {
  std::shared_ptr<OneLife> life = std::move(life_);
  life_ = nullptr;
  if (life == nullptr || life->trainer == nullptr) return;
  // Keeps the life, whose progress meter the trainer uses until then.
  deps_.train->Post([life] { life->trainer->Abandon(); });
}

void WorkerLoop::Impl::Stop() {
  if (stopping_) return;
  stopping_ = true;
  if (life_ == nullptr || life_->trainer == nullptr) {
    member_.Leave();
    return;
  }
  deps_.control->PostAfter(
      options_.member.shutdown_deadline,
      [self = shared_from_this()] { self->member_.Leave(); });
  deps_.train->Post([self = shared_from_this(), trainer = life_->trainer] {
    trainer->Drain([self] { self->member_.Leave(); });
  });
}

WorkerLoop::WorkerLoop(WorkerLoopOptions options, WorkerLoopDependencies deps)
    : impl_(std::make_shared<Impl>(std::move(options), std::move(deps))) {}

WorkerLoop::~WorkerLoop() = default;

void WorkerLoop::Start(absl::AnyInvocable<void(MemberEnd) &&> done) {
  impl_->control()->Post([impl = impl_, done = std::move(done)]() mutable {
    impl->Start(std::move(done));
  });
}

void WorkerLoop::Stop() {
  impl_->control()->Post([impl = impl_] { impl->Stop(); });
}

}  // namespace shoal
