#include "worker/train/worker_loop.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/ps_members.h"
#include "worker/train/progress_meter.h"
#include "worker/train/time_meter.h"

namespace shoal {

// Everything runs on the control strand, except the trainer, which runs on the
// train strand.
class WorkerLoop::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(WorkerLoopOptions options, WorkerLoopDependencies deps)
      : options_(std::move(options)),
        deps_(std::move(deps)),
        member_(options_.member, deps_.cluster, deps_.control, deps_.logger) {}

  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);
  void Stop(absl::Status reason, absl::Duration save_deadline);

  Executor* control() const { return deps_.control; }

 private:
  // The state of one life.
  struct OneLife {
    OneLife(const ScoreMetrics* metrics, const WorkerTelemetry* telemetry,
            uint64_t warmup_steps)
        : progress(metrics), time(telemetry, warmup_steps) {}

    Life life;
    std::shared_ptr<ClusterSession> session;
    // The clients of the newest view. Their destruction cancels the trainer's
    // calls.
    std::vector<std::shared_ptr<ParameterService>> shards;
    std::vector<Life> shard_lives;
    std::vector<int> members;  // the servers of the shards, by shard
    std::shared_ptr<LeaseTrainer> trainer;
    // The newest NewGeneration; the trainer is one of that generation unless it
    // is being retired.
    uint64_t generation = 1;
    bool retiring = false;
    std::shared_ptr<StepMemory> newest;  // for the next trainer's exchange
    // For the log: the ranks of the newest view, and where the worker stood
    // when it heard of the present generation.
    std::map<Life, std::string> rank_names;
    std::string stood;
    uint64_t hold = 0;  // number of the Hold; 0: not held
    ProgressMeter progress;
    TimeMeter time;
    PayloadBytes bytes_before;  // of the process, when the life began
  };

  // The payload since the life began, for a heartbeat.
  PayloadBytes NewBytes();
  void OnMessage(CoordinatorMessage message);
  absl::Status OnView(const ClusterView& view);
  void OnNewGeneration(uint64_t number);
  void OnRetired(const std::shared_ptr<OneLife>& life,
                 absl::StatusOr<std::shared_ptr<StepMemory>> newest);
  void SendReady();
  // The life has a trainer that gets leases and holds.
  bool Trains() const { return life_->trainer != nullptr && !life_->retiring; }
  // The number of the server that is this worker's replica, if it has one.
  int PlaceIn(const ClusterView& view) const;
  std::shared_ptr<LeaseTrainer> MakeTrainer();
  // For the log: where the worker stands when the ranks change, and the ranks
  // that the view does not have any more.
  void NoteStanding();
  void TellLostRanks(const ClusterView& view);
  void OnLease(Lease lease);
  void OnPace(const Pace& pace);
  void OnHold(uint64_t number);
  // Tells the coordinator when the trainer has no batch in flight. REQUIRES:
  // the life is held and has a trainer.
  void HoldTrainer();
  void OnResume();
  void EndTraining(const std::shared_ptr<OneLife>& life);
  void EndLife();
  // Sends the coordinator the worker's request to stop the job, if it has one.
  // REQUIRES: the worker has a life.
  void AskToStop();
  void LeaveAfterBatches();

  const WorkerLoopOptions options_;
  WorkerLoopDependencies deps_;
  ClusterMember member_;
  bool joined_ = false;    // there was a life
  bool stopping_ = false;  // the worker leaves
  PayloadBytes bytes_told_;  // of the process, in the newest heartbeat
  // Why the worker asks the coordinator to stop the job; OK: it does not ask.
  absl::Status stop_reason_;
  std::shared_ptr<OneLife> life_;
};

void WorkerLoop::Impl::Start(absl::AnyInvocable<void(MemberEnd) &&> done) {
  ClusterMemberHandlers handlers;
  handlers.on_joined = [self = shared_from_this()](
                           const RegisterReply& reply,
                           std::shared_ptr<ClusterSession> session) {
    self->life_ = std::make_shared<OneLife>(
        &self->deps_.model->objective().metrics(), self->deps_.telemetry,
        self->options_.warmup_steps);
    self->life_->bytes_before = self->bytes_told_;
    self->life_->life = reply.life;
    self->life_->session = std::move(session);
    self->joined_ = true;
    // The request of an earlier life may not have arrived.
    self->AskToStop();
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
      heartbeat.time = self->life_->time.Read(self->deps_.control->Now());
      heartbeat.bytes = self->NewBytes();
    }
    if (self->deps_.board != nullptr) {
      heartbeat.standing = self->deps_.board->Read(self->deps_.control->Now());
    }
    return heartbeat;
  };
  handlers.on_end = std::move(done);
  member_.Start(std::move(handlers));
}

PayloadBytes WorkerLoop::Impl::NewBytes() {
  if (deps_.bytes == nullptr) return {};
  bytes_told_ = deps_.bytes->Read();
  const auto since = [](const ByteFlow& before, const ByteFlow& now) {
    return ByteFlow{now.sent - before.sent, now.received - before.received};
  };
  const PayloadBytes& before = life_->bytes_before;
  return {since(before.pull, bytes_told_.pull),
          since(before.push, bytes_told_.push),
          since(before.ring, bytes_told_.ring)};
}

void WorkerLoop::Impl::OnMessage(CoordinatorMessage message) {
  if (auto* view = std::get_if<ClusterView>(&message)) {
    const absl::Status status = OnView(*view);
    if (!status.ok()) life_->session->Send(Failure{status});
  } else if (auto* grant = std::get_if<LeaseGrant>(&message)) {
    OnLease(std::move(grant->lease));
  } else if (const auto* hold = std::get_if<Hold>(&message)) {
    OnHold(hold->number);
  } else if (std::holds_alternative<Resume>(message)) {
    OnResume();
  } else if (const auto* pace = std::get_if<Pace>(&message)) {
    OnPace(*pace);
  } else if (const auto* next = std::get_if<NewGeneration>(&message)) {
    OnNewGeneration(next->number);
  }
}

void WorkerLoop::Impl::OnNewGeneration(uint64_t number) {
  if (number <= life_->generation) return;
  life_->generation = number;
  NoteStanding();
  if (life_->retiring) return;  // it is answered with the newest number
  if (life_->trainer == nullptr) {
    SendReady();
    return;
  }
  life_->retiring = true;
  deps_.train->Post([self = shared_from_this(), life = life_,
                     trainer = life_->trainer] {
    trainer->Retire(
        [self, life](absl::StatusOr<std::shared_ptr<StepMemory>> newest) {
          self->deps_.control->Post(
              [self, life, newest = std::move(newest)]() mutable {
                self->OnRetired(life, std::move(newest));
              });
        });
  });
}

// The trainer forgets where it stood when it is retired.
void WorkerLoop::Impl::NoteStanding() {
  if (deps_.rank_name == nullptr || deps_.board == nullptr ||
      life_->trainer == nullptr || life_->retiring) {
    return;
  }
  const RankStanding standing = deps_.board->Read(deps_.control->Now());
  life_->stood = StandingText(standing, standing.waits_for < 0
                                            ? ""
                                            : deps_.rank_name(
                                                  standing.waits_for));
}

void WorkerLoop::Impl::TellLostRanks(const ClusterView& view) {
  if (deps_.rank_name == nullptr) return;
  std::map<Life, std::string> names;
  for (size_t rank = 0; rank < view.ranks.size(); ++rank) {
    names[view.ranks[rank].life] = deps_.rank_name(static_cast<int>(rank));
  }
  std::vector<std::string> lost;
  for (const auto& [life, name] : life_->rank_names) {
    if (names.count(life) == 0) lost.push_back(name);
  }
  life_->rank_names = std::move(names);
  const std::string stood = std::exchange(life_->stood, "");
  if (lost.empty()) return;
  std::sort(lost.begin(), lost.end());
  deps_.logger->Warn(absl::StrCat(
      absl::StrJoin(lost, " and "), lost.size() == 1 ? " is" : " are",
      " lost, and the job goes on with ", view.ranks.size(),
      view.ranks.size() == 1 ? " worker" : " workers",
      stood.empty() ? ""
                    : absl::StrCat("; before that this worker ", stood)));
}

void WorkerLoop::Impl::OnRetired(
    const std::shared_ptr<OneLife>& life,
    absl::StatusOr<std::shared_ptr<StepMemory>> newest) {
  if (life != life_) return;
  life->retiring = false;
  EndTraining(life);
  if (!newest.ok()) {
    life->session->Send(Failure{newest.status()});
    return;
  }
  life->newest = *std::move(newest);
  SendReady();
}

void WorkerLoop::Impl::SendReady() {
  GenerationReady ready;
  ready.number = life_->generation;
  if (deps_.next_ring != nullptr) {
    absl::StatusOr<std::string> address = deps_.next_ring();
    if (!address.ok()) {
      life_->session->Send(Failure{address.status()});
      return;
    }
    ready.ring_address = *std::move(address);
  }
  life_->session->Send(std::move(ready));
}

void WorkerLoop::Impl::OnLease(Lease lease) {
  if (!Trains()) return;
  deps_.train->Post(
      [trainer = life_->trainer, lease = std::move(lease)]() mutable {
        trainer->AddLease(std::move(lease));
      });
}

void WorkerLoop::Impl::OnPace(const Pace& pace) {
  if (!Trains()) return;
  deps_.train->Post(
      [trainer = life_->trainer, pace] { trainer->SetPace(pace); });
}

void WorkerLoop::Impl::OnHold(uint64_t number) {
  life_->hold = number;
  if (!Trains()) {
    life_->session->Send(Held{number, {}});
    return;
  }
  HoldTrainer();
}

void WorkerLoop::Impl::HoldTrainer() {
  deps_.train->Post([trainer = life_->trainer, session = life_->session,
                     number = life_->hold]() mutable {
    trainer->Hold(number, [session = std::move(session), number] {
      session->Send(Held{number, {}});
    });
  });
}

void WorkerLoop::Impl::OnResume() {
  life_->hold = 0;
  if (!Trains()) return;
  deps_.train->Post([trainer = life_->trainer] { trainer->Resume(); });
}

absl::Status WorkerLoop::Impl::OnView(const ClusterView& view) {
  // A view of an earlier generation may be on its way behind a NewGeneration.
  if (stopping_ || view.generation < life_->generation) return absl::OkStatus();
  const PsMembers ps{.count = static_cast<int>(view.ps.size()),
                     .replicated = options_.map.replicated};
  const int rank = PlaceIn(view);
  if (view.map_version != options_.map.version || !ps.valid() ||
      ps.num_shards() != options_.map.num_shards || !ps.Serves(rank)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the coordinator has map version ", view.map_version,
                     " over ", view.ps.size(),
                     " PSs, but this worker has version ", options_.map.version,
                     " over ", options_.map.num_shards));
  }
  auto shards = deps_.connect(view, life_->life);
  if (!shards.ok()) return shards.status();
  TellLostRanks(view);

  // A second view within one generation means that a shard has a new life.
  EndTraining(life_);
  life_->generation = view.generation;
  life_->shards = *std::move(shards);
  life_->shard_lives.clear();
  life_->members.clear();
  for (int shard = 0; shard < options_.map.num_shards; ++shard) {
    const int member = ps.MemberFor(shard, rank);
    life_->shard_lives.push_back(view.ps[member].life);
    life_->members.push_back(member);
  }
  life_->trainer = MakeTrainer();
  // The trainer before this one may not have answered.
  if (life_->hold != 0) HoldTrainer();
  deps_.train->Post([trainer = life_->trainer] { trainer->Start(); });
  return absl::OkStatus();
}

int WorkerLoop::Impl::PlaceIn(const ClusterView& view) const {
  const int index = options_.member.registration.index;
  const auto replicas = static_cast<int64_t>(view.ps.size()) -
                        std::max(options_.map.replicated, 0);
  // The view may name the servers of lost ranks or not.
  if (static_cast<int64_t>(view.ranks.size()) != replicas) return index;
  for (size_t rank = 0; rank < view.ranks.size(); ++rank) {
    if (view.ranks[rank].life == life_->life) return static_cast<int>(rank);
  }
  return index;
}

std::shared_ptr<LeaseTrainer> WorkerLoop::Impl::MakeTrainer() {
  ShardedClientOptions client;
  client.job = options_.member.registration.job;
  client.worker = life_->life;
  client.map = options_.map;
  client.shard_lives = life_->shard_lives;
  client.members = life_->members;
  for (const TableSpec& table : deps_.model->spec().tables) {
    client.row_dims.push_back(table.row_dim());
  }
  client.dense_size = deps_.model->spec().dense_size();
  client.pull_timeout = options_.pull_timeout;
  client.push_timeout = options_.push_timeout;
  // The trainer does not own the clients: it may be destroyed with its last
  // call, on a thread of the clients, where they cannot be destroyed.
  std::vector<std::shared_ptr<ParameterService>> shards;
  for (const std::shared_ptr<ParameterService>& shard : life_->shards) {
    shards.emplace_back(std::shared_ptr<void>(), shard.get());
  }
  LeaseTrainerDependencies deps;
  deps.model = deps_.model;
  deps.progress = &life_->progress;
  deps.time = &life_->time;
  deps.logger = deps_.logger;
  deps.strand = deps_.train;
  deps.open_source = &deps_.open_source;
  deps.telemetry = deps_.telemetry;
  deps.board = deps_.board;
  auto sharded = std::make_unique<ShardedClient>(
      std::move(client), std::move(shards), deps_.train);
  auto exchange = deps_.make_exchange(
      sharded.get(),
      {life_->generation, std::exchange(life_->newest, nullptr)});
  return std::make_shared<LeaseTrainer>(
      options_.trainer, deps, std::move(sharded), std::move(exchange),
      [session = life_->session,
       progress = &life_->progress](ProcessMessage message) {
        if (auto* done = std::get_if<LeaseDone>(&message)) {
          done->progress = progress->Sums();
        }
        session->Send(std::move(message));
      });
}

void WorkerLoop::Impl::EndTraining(const std::shared_ptr<OneLife>& life) {
  if (life->trainer == nullptr) return;
  // Keeps the life, because the trainer uses its progress meter until then.
  deps_.train->Post([life, trainer = std::exchange(life->trainer, nullptr),
                     shards = std::exchange(life->shards, {})]() mutable {
    trainer->Abandon();
    // The trainer makes no further call.
    shards.clear();
  });
}

void WorkerLoop::Impl::EndLife() {
  const std::shared_ptr<OneLife> life = std::exchange(life_, nullptr);
  if (life != nullptr) EndTraining(life);
}

void WorkerLoop::Impl::Stop(absl::Status reason,
                            absl::Duration save_deadline) {
  if (stopping_ || !stop_reason_.ok()) return;
  if (save_deadline <= absl::ZeroDuration() || !joined_) {
    LeaveAfterBatches();
    return;
  }
  stop_reason_ = std::move(reason);
  if (life_ != nullptr) AskToStop();  // otherwise when it has the next life
  deps_.control->PostAfter(
      save_deadline + options_.member.shutdown_deadline,
      [self = shared_from_this()] { self->LeaveAfterBatches(); });
}

void WorkerLoop::Impl::AskToStop() {
  if (!stop_reason_.ok()) life_->session->Send(StopRequest{stop_reason_});
}

void WorkerLoop::Impl::LeaveAfterBatches() {
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

void WorkerLoop::Stop(absl::Status reason, absl::Duration save_deadline) {
  impl_->control()->Post(
      [impl = impl_, reason = std::move(reason), save_deadline]() mutable {
        impl->Stop(std::move(reason), save_deadline);
      });
}

}  // namespace shoal
