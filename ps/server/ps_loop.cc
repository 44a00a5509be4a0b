#include "ps/server/ps_loop.h"

#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ps/shard/step_shard.h"

namespace shoal {
namespace {

// Timeout of the shard's calls for its own statistics, which are local.
constexpr absl::Duration kStatsTimeout = absl::Seconds(60);

// Interval between two tries to lock a model directory that another job holds.
constexpr absl::Duration kDirectoryPause = absl::Milliseconds(100);

}  // namespace

class PsLoop::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(PsLoopOptions options, PsLoopDependencies deps)
      : options_(std::move(options)),
        deps_(std::move(deps)),
        member_(options_.member, deps_.cluster, deps_.control, deps_.logger),
        keeper_(std::make_shared<ShardKeeper>(options_.checkpoints, deps_.files,
                                              deps_.control, background(),
                                              deps_.logger)) {}

  void Start(absl::AnyInvocable<void(MemberEnd) &&> done) {
    ClusterMemberHandlers handlers;
    handlers.on_joined = [self = shared_from_this()](
                             const RegisterReply& reply,
                             std::shared_ptr<ClusterSession> session) {
      self->OnJoined(reply, std::move(session));
    };
    handlers.on_message = [self = shared_from_this()](CoordinatorMessage m) {
      self->OnMessage(std::move(m));
    };
    handlers.on_acknowledged = [self = shared_from_this()](absl::Time sent) {
      self->lease_from_ = sent;
      self->RenewLease();
    };
    handlers.on_left = [self = shared_from_this()] { self->OnLeft(); };
    handlers.heartbeat = [self = shared_from_this()] {
      Heartbeat heartbeat;
      heartbeat.usage = self->deps_.usage();
      if (self->shard_ != nullptr) {
        heartbeat.staleness = self->shard_->Staleness();
      }
      if (self->deps_.bytes != nullptr) {
        heartbeat.bytes = self->deps_.bytes->Read();
      }
      return heartbeat;
    };
    handlers.marks = [self = shared_from_this()] {
      return self->shard_ == nullptr ? MarkTotals{}
                                     : self->shard_->TotalMarks();
    };
    handlers.on_end = std::move(done);
    member_.Start(std::move(handlers));
  }

  void Stop(absl::Status reason, absl::Duration save_deadline);

  Executor* control() const { return deps_.control; }

 private:
  Executor* background() const {
    return deps_.background != nullptr ? deps_.background : deps_.completions;
  }
  void OnJoined(const RegisterReply& reply,
                std::shared_ptr<ClusterSession> session);
  void TakeDirectory(RegisterReply reply, absl::Time give_up);
  void OnDirectory(RegisterReply reply, absl::Time give_up,
                   const absl::Status& taken);
  void MakeShard(const RegisterReply& reply);
  void LoadShard(LoadFrom from, ParameterShardOptions options);
  void Serve(std::shared_ptr<ParameterShard> shard);
  void OnMessage(CoordinatorMessage message);
  // True if the message is about steps or generations.
  bool OnStepMessage(const CoordinatorMessage& message);
  // The ranks of a job without steps have changed.
  void EndLeases(const GenerationBegan& message);
  void SendStepReports();
  void RenewLease();
  void OnLeft();
  void SendMarks();
  void SendMarksOften();
  void SendReport();

  const PsLoopOptions options_;
  PsLoopDependencies deps_;
  ClusterMember member_;
  Life life_;
  std::shared_ptr<ClusterSession> session_;  // null: the process has no life
  std::shared_ptr<ParameterShard> shard_;
  std::shared_ptr<StepShard> steps_;  // null: the job has no steps
  bool in_view_ = false;  // a ClusterView has named the life
  absl::Time lease_from_ = absl::InfinitePast();  // of the present life
  bool told_of_directory_ = false;
  const std::shared_ptr<ShardKeeper> keeper_;
  uint64_t repeats_sent_ = 0;
};

void PsLoop::Impl::OnJoined(const RegisterReply& reply,
                            std::shared_ptr<ClusterSession> session) {
  life_ = reply.life;
  lease_from_ = absl::InfinitePast();
  session_ = std::move(session);
  keeper_->Join([session = session_](ProcessMessage message) {
    session->Send(std::move(message));
  });
  if (deps_.take_directory == nullptr) {
    MakeShard(reply);
  } else {
    TakeDirectory(reply, deps_.control->Now() + options_.directory_patience);
  }
}

void PsLoop::Impl::TakeDirectory(RegisterReply reply, absl::Time give_up) {
  // This may wait for the disk, so it must not run on the strand of the
  // heartbeats.
  background()->Post([self = shared_from_this(), session = session_,
                      reply = std::move(reply), give_up]() mutable {
    const absl::Status taken = self->deps_.take_directory(reply.life.start);
    self->deps_.control->Post([self, session = std::move(session),
                               reply = std::move(reply), give_up,
                               taken]() mutable {
      if (self->session_ != session) return;
      self->OnDirectory(std::move(reply), give_up, taken);
    });
  });
}

void PsLoop::Impl::OnDirectory(RegisterReply reply, absl::Time give_up,
                               const absl::Status& taken) {
  if (taken.ok()) {
    MakeShard(reply);
    return;
  }
  const absl::Duration left = give_up - deps_.control->Now();
  if (!absl::IsFailedPrecondition(taken) || left <= absl::ZeroDuration()) {
    session_->Send(Failure{taken});
    return;
  }
  if (!std::exchange(told_of_directory_, true)) {
    deps_.logger->Warn(absl::StrCat(
        taken.message(), "; waiting ", absl::FormatDuration(left),
        " at most for that job to end; if it does not end, stop it or choose "
        "another --model_dir"));
  }
  deps_.control->PostAfter(kDirectoryPause,
                           [self = shared_from_this(), session = session_,
                            reply = std::move(reply), give_up]() mutable {
                             if (self->session_ != session) return;
                             self->TakeDirectory(std::move(reply), give_up);
                           });
}

void PsLoop::Impl::MakeShard(const RegisterReply& reply) {
  ParameterShardOptions options = options_.shard;
  options.life = life_;
  if (reply.load.has_value()) {
    LoadShard(*reply.load, std::move(options));
    return;
  }
  if (!reply.initialise) {
    session_->Send(Failure{absl::FailedPreconditionError(
        "the shard's state was lost with its last process, and there is no "
        "checkpoint to load it from")});
    return;
  }
  absl::StatusOr<std::unique_ptr<ParameterShard>> shard =
      ParameterShard::Create(std::move(options), deps_.completions);
  if (!shard.ok()) {
    session_->Send(Failure{shard.status()});
    return;
  }
  Serve(*std::move(shard));
}

void PsLoop::Impl::LoadShard(LoadFrom from, ParameterShardOptions options) {
  deps_.logger->Info(absl::StrCat("loading the shard from ", from.directory));
  keeper_->Load(std::move(from), std::move(options), deps_.completions,
                [self = shared_from_this(), session = session_](
                    absl::StatusOr<std::shared_ptr<ParameterShard>> shard) {
                  if (self->session_ != session) return;
                  if (!shard.ok()) {
                    session->Send(Failure{shard.status()});
                    return;
                  }
                  const ShardLoaded loaded{(*shard)->TotalMarks()};
                  self->Serve(*std::move(shard));
                  session->Send(loaded);
                });
}

void PsLoop::Impl::Serve(std::shared_ptr<ParameterShard> shard) {
  shard_ = std::move(shard);
  keeper_->Start(shard_, [weak = weak_from_this()](ProcessMessage message) {
    const auto self = weak.lock();
    if (self == nullptr || self->session_ == nullptr) return;
    self->SendMarks();
    self->session_->Send(std::move(message));
  });
  if (options_.steps) {
    steps_ = std::make_shared<StepShard>(
        StepGatherOptions{.reports = options_.shard.shard == 0},
        options_.shard.model, shard_, deps_.completions,
        [weak = weak_from_this(), control = deps_.control] {
          control->Post([weak] {
            if (const auto self = weak.lock()) self->SendStepReports();
          });
        });
    deps_.serve(shard_, steps_);
  } else {
    deps_.serve(shard_, shard_);
  }
  RenewLease();  // the view may have come before the shard
  SendMarksOften();
}

void PsLoop::Impl::OnMessage(CoordinatorMessage message) {
  if (const auto* part = std::get_if<ManifestPart>(&message)) {
    keeper_->On(*part);
    return;
  }
  if (auto* file = std::get_if<FilePart>(&message)) {
    keeper_->On(std::move(*file));
    return;
  }
  if (std::holds_alternative<ClusterView>(message)) {
    keeper_->ForgetMarkRuns();
    in_view_ = true;
    RenewLease();
    return;
  }
  if (shard_ == nullptr) {
    if (const auto* hold = std::get_if<Hold>(&message)) {
      session_->Send(ShardSaved{
          hold->number,
          absl::FailedPreconditionError(
              "the server has not made or loaded its shard yet"),
          ""});
    }
    return;
  }
  if (OnStepMessage(message)) return;
  if (std::holds_alternative<ReportShard>(message)) {
    // The job may end with the report.
    keeper_->AfterManifests([self = shared_from_this()] {
      if (self->session_ != nullptr) self->SendReport();
    });
  } else if (const auto* hold = std::get_if<Hold>(&message)) {
    keeper_->On(*hold);
  } else if (const auto* resume = std::get_if<Resume>(&message)) {
    keeper_->On(*resume);
  } else if (const auto* save = std::get_if<SaveShard>(&message)) {
    keeper_->On(*save);
  } else if (const auto* is_void = std::get_if<CheckpointVoid>(&message)) {
    keeper_->On(*is_void);
  } else if (const auto* done = std::get_if<CheckpointDone>(&message)) {
    keeper_->On(*done);
  } else if (const auto* request = std::get_if<MarkRunsRequest>(&message)) {
    keeper_->On(*request);
  }
}

bool PsLoop::Impl::OnStepMessage(const CoordinatorMessage& message) {
  const auto* const closed = std::get_if<StepClosed>(&message);
  const bool released = std::holds_alternative<StepsReleased>(message);
  const auto* const ended = std::get_if<NewGeneration>(&message);
  const auto* const began = std::get_if<GenerationBegan>(&message);
  if (closed == nullptr && !released && ended == nullptr && began == nullptr) {
    return false;
  }
  if (steps_ == nullptr && began != nullptr) {
    EndLeases(*began);
    return true;
  }
  absl::Status taken;
  if (steps_ == nullptr) {
    taken = absl::FailedPreconditionError(
        "the coordinator closes steps, but this server has none");
  } else if (closed != nullptr) {
    taken = steps_->Close(*closed);
  } else if (released) {
    steps_->Release();
  } else if (ended != nullptr) {
    steps_->EndGeneration(*ended);
  } else {
    taken = steps_->BeginGeneration(*began);
  }
  if (!taken.ok()) session_->Send(Failure{taken});
  return true;
}

void PsLoop::Impl::EndLeases(const GenerationBegan& message) {
  shard_->EndLeases(
      message.leases,
      [self = shared_from_this(), session = session_,
       number = message.number]() mutable {
        self->deps_.control->Post([self, session = std::move(session), number] {
          if (self->session_ != session) return;
          // The coordinator deals anew by the marks that it has then.
          self->SendMarks();
          session->Send(GenerationReady{.number = number});
        });
      });
}

void PsLoop::Impl::SendStepReports() {
  if (session_ == nullptr) return;
  for (StepReport& report : steps_->TakeReports()) {
    // The coordinator deals anew by the marks that it has then.
    if (std::holds_alternative<GenerationReady>(report)) SendMarks();
    std::visit([this](auto& message) { session_->Send(std::move(message)); },
               report);
  }
}

void PsLoop::Impl::RenewLease() {
  // Before the first view no worker of this start knows the shard's life.
  if (shard_ == nullptr || !in_view_) return;
  shard_->ServeUntil(lease_from_ + options_.ps_lease);
}

void PsLoop::Impl::OnLeft() {
  session_ = nullptr;
  keeper_->Stop();
  if (shard_ == nullptr) return;
  shard_->ServeUntil(absl::InfinitePast());
  // Calls that nobody will end would hold up the end of the server.
  if (steps_ != nullptr) steps_->End();
}

void PsLoop::Impl::SendMarks() {
  MarkDelta delta = shard_->TakeMarks();
  if (delta.marks.empty() && delta.repeats_refused == repeats_sent_) return;
  repeats_sent_ = delta.repeats_refused;
  if (deps_.logger->Enabled(LogLevel::kDebug)) {
    for (const Mark& mark : delta.marks) {
      deps_.logger->Debug(
          absl::StrCat(mark.repeat ? "refused a repeat of " : "marked ",
                       ToString(mark.batch)));
    }
  }
  for (MarkDelta& part : SplitMarks(std::move(delta))) {
    session_->Send(std::move(part));
  }
}

void PsLoop::Impl::SendMarksOften() {
  if (session_ == nullptr) return;
  SendMarks();
  deps_.control->PostAfter(options_.mark_interval, [self = shared_from_this()] {
    self->SendMarksOften();
  });
}

void PsLoop::Impl::SendReport() {
  StatsRequest request;
  request.identity.job = options_.shard.job;
  request.identity.worker = life_;  // the shard asks itself
  request.identity.shard = life_;
  request.identity.map_version = options_.shard.map.version;
  auto on_stats = [self =
                       shared_from_this()](absl::StatusOr<StatsReply> stats) {
    self->deps_.control->Post([self, stats = std::move(stats)]() mutable {
      if (self->session_ == nullptr) return;
      self->SendMarks();
      if (stats.ok()) {
        self->session_->Send(ShardReport{*std::move(stats)});
      } else {
        self->session_->Send(Failure{stats.status()});
      }
    });
  };
  // It reads every row, for seconds; the control strand has heartbeats to send.
  deps_.completions->Post([shard = shard_, request = std::move(request),
                           on_stats = std::move(on_stats)]() mutable {
    shard->Stats(std::move(request), kStatsTimeout, std::move(on_stats));
  });
}

void PsLoop::Impl::Stop(absl::Status reason, absl::Duration save_deadline) {
  if (session_ == nullptr) {
    member_.Leave();
    return;
  }
  if (save_deadline > absl::ZeroDuration()) {
    session_->Send(StopRequest{std::move(reason)});
  } else {
    session_->Send(Failure{std::move(reason)});
  }
  deps_.control->PostAfter(
      save_deadline + options_.member.shutdown_deadline,
      [self = shared_from_this()] { self->member_.Leave(); });
}

PsLoop::PsLoop(PsLoopOptions options, PsLoopDependencies deps)
    : impl_(std::make_shared<Impl>(std::move(options), std::move(deps))) {}

PsLoop::~PsLoop() = default;

void PsLoop::Start(absl::AnyInvocable<void(MemberEnd) &&> done) {
  impl_->control()->Post([impl = impl_, done = std::move(done)]() mutable {
    impl->Start(std::move(done));
  });
}

void PsLoop::Stop(absl::Status reason, absl::Duration save_deadline) {
  impl_->control()->Post(
      [impl = impl_, reason = std::move(reason), save_deadline]() mutable {
        impl->Stop(std::move(reason), save_deadline);
      });
}

}  // namespace shoal
