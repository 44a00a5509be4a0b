#include "core/cluster_member.h"

#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/backoff.h"
#include "base/status_macros.h"
#include "core/patient_time.h"

namespace shoal {
namespace {

// Of one attempt to register; the deadlines bound the attempts together.
constexpr absl::Duration kRegisterTimeout = absl::Seconds(5);

bool MayPass(const absl::Status& status) {
  // ALREADY_EXISTS: the coordinator has not yet seen our last life end.
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsAlreadyExists(status);
}

}  // namespace

// Everything runs on the strand.
class ClusterMember::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(ClusterMemberOptions options, ClusterService* cluster, Executor* strand,
       Logger* logger)
      : options_(std::move(options)),
        cluster_(cluster),
        strand_(strand),
        logger_(logger) {}

  void Start(ClusterMemberHandlers handlers) {
    handlers_ = std::move(handlers);
    BeginRegistering(options_.start_deadline);
  }

  void Leave() {
    if (finished_ || end_.has_value()) return;
    leaving_ = true;
    // Without a life the answer to Register, which is out, ends it.
    if (life_ != nullptr) SayBye({});
  }

  Executor* strand() const { return strand_; }

 private:
  // One registration. Callbacks of an old one find that it is not life_.
  struct OneLife {
    OneLife(const RegisterReply& reply, absl::Time now)
        : life(reply.life),
          heartbeat_interval(reply.heartbeat_interval),
          silent_after(reply.silent_after),
          time(now, reply.heartbeat_interval),
          heard(now) {}

    const Life life;
    const absl::Duration heartbeat_interval;
    const absl::Duration silent_after;
    PatientTime time;
    absl::Time heard;  // last word of the coordinator, in patient time
    std::shared_ptr<ClusterSession> session;
    uint64_t next_heartbeat = 1;
    // When the heartbeats that are not acknowledged yet were sent; the last is
    // number next_heartbeat - 1.
    std::deque<absl::Time> beats;
  };

  void BeginRegistering(absl::Duration deadline);
  void TryRegister();
  void OnRegistered(absl::StatusOr<RegisterReply> reply);
  void Join(const RegisterReply& reply);
  void Beat(std::shared_ptr<OneLife> life);
  void SendHeartbeat(OneLife* life);
  void OnAck(OneLife* life, uint64_t number);
  void OnMessage(const std::shared_ptr<OneLife>& life,
                 CoordinatorMessage message);
  void OnSessionEnd(const std::shared_ptr<OneLife>& life, absl::Status status);
  void EndLife();
  void SayBye(MemberEnd end);
  void Finish(MemberEnd end);

  const ClusterMemberOptions options_;
  ClusterService* const cluster_;
  Executor* const strand_;
  Logger* const logger_;
  ClusterMemberHandlers handlers_;
  bool finished_ = false;
  bool leaving_ = false;
  std::optional<MemberEnd> end_;  // set: Bye was said, this is the outcome
  absl::Time give_up_;
  int attempt_ = 0;
  absl::Time asked_;  // when the newest Register was sent
  std::shared_ptr<OneLife> life_;
};

void ClusterMember::Impl::BeginRegistering(absl::Duration deadline) {
  give_up_ = strand_->Now() + deadline;
  attempt_ = 0;
  TryRegister();
}

void ClusterMember::Impl::TryRegister() {
  RegisterRequest request = options_.registration;
  request.sent = asked_ = strand_->Now();
  cluster_->Register(
      std::move(request), kRegisterTimeout,
      [self = shared_from_this()](absl::StatusOr<RegisterReply> reply) {
        self->strand_->Post([self, reply = std::move(reply)]() mutable {
          self->OnRegistered(std::move(reply));
        });
      });
}

void ClusterMember::Impl::OnRegistered(absl::StatusOr<RegisterReply> reply) {
  if (reply.ok()) {
    Join(*reply);
  } else if (leaving_) {
    Finish({});
  } else if (!MayPass(reply.status()) || strand_->Now() >= give_up_) {
    Finish({Annotate(reply.status(), "cannot join the job"), ""});
  } else {
    if (attempt_ % 8 == 4) {
      logger_->Info(absl::StrCat("waiting for the coordinator: ",
                                 reply.status().message()));
    }
    strand_->PostAfter(
        BackoffDelay(BackoffOptions{}, attempt_++, options_.registration.index),
        [self = shared_from_this()] {
          if (self->leaving_) {
            self->Finish({});
          } else {
            self->TryRegister();
          }
        });
  }
}

void ClusterMember::Impl::Join(const RegisterReply& reply) {
  auto life = std::make_shared<OneLife>(reply, strand_->Now());
  life_ = life;
  logger_->Info(absl::StrCat("registered as life ", ToString(life->life)));

  SessionHandler handler;
  handler.on_message = [self = shared_from_this(),
                        life](CoordinatorMessage message) {
    self->strand_->Post([self, life, message = std::move(message)]() mutable {
      if (self->life_ == life) self->OnMessage(life, std::move(message));
    });
  };
  handler.on_end = [self = shared_from_this(), life](absl::Status status) {
    self->strand_->Post([self, life, status = std::move(status)] {
      if (self->life_ == life) self->OnSessionEnd(life, status);
    });
  };
  life->session = cluster_->OpenSession(reply.life, std::move(handler));
  if (leaving_) {
    SayBye({});
    return;
  }
  handlers_.on_joined(reply, life->session);
  if (handlers_.on_acknowledged) handlers_.on_acknowledged(asked_);
  Beat(std::move(life));
}

void ClusterMember::Impl::Beat(std::shared_ptr<OneLife> life) {
  if (life_ != life || end_.has_value()) return;
  life->time.Advance(strand_->Now());
  const absl::Duration silence = life->time.now() - life->heard;
  if (silence > life->silent_after) {
    OnSessionEnd(life, absl::DeadlineExceededError(
                           absl::StrCat("the coordinator has been silent for ",
                                        absl::FormatDuration(silence))));
    return;
  }
  SendHeartbeat(life.get());
  const absl::Duration interval = life->heartbeat_interval;
  strand_->PostAfter(
      interval, [self = shared_from_this(), life = std::move(life)]() mutable {
        self->Beat(std::move(life));
      });
}

void ClusterMember::Impl::SendHeartbeat(OneLife* life) {
  Heartbeat heartbeat = handlers_.heartbeat();
  heartbeat.number = life->next_heartbeat++;
  life->beats.push_back(strand_->Now());
  life->session->Send(std::move(heartbeat));
}

void ClusterMember::Impl::OnAck(OneLife* life, uint64_t number) {
  const uint64_t first = life->next_heartbeat - life->beats.size();
  // Acknowledged before, or never sent: not by a coordinator of ours.
  if (number < first || number >= life->next_heartbeat) return;
  const auto acknowledged =
      life->beats.begin() + static_cast<ptrdiff_t>(number - first);
  const absl::Time sent = *acknowledged;
  life->beats.erase(life->beats.begin(), acknowledged + 1);
  if (handlers_.on_acknowledged) handlers_.on_acknowledged(sent);
}

void ClusterMember::Impl::OnMessage(const std::shared_ptr<OneLife>& life,
                                    CoordinatorMessage message) {
  life->time.Advance(strand_->Now());
  life->heard = life->time.now();
  if (auto* job_end = std::get_if<JobEnd>(&message)) {
    if (end_.has_value()) return;
    SayBye({std::move(job_end->status), std::move(job_end->summary),
            /*job_over=*/true});
  } else if (end_.has_value()) {
    return;
  } else if (const auto* ack = std::get_if<HeartbeatAck>(&message)) {
    OnAck(life.get(), ack->number);
  } else {
    handlers_.on_message(std::move(message));
  }
}

void ClusterMember::Impl::OnSessionEnd(const std::shared_ptr<OneLife>& life,
                                       absl::Status status) {
  EndLife();
  if (end_.has_value()) {
    Finish(*std::exchange(end_, std::nullopt));
  } else if (!options_.rejoin) {
    Finish({Annotate(status, "lost the coordinator"), ""});
  } else {
    logger_->Warn(absl::StrCat("life ", ToString(life->life), " is over: ",
                               status.message(), "; joining again"));
    BeginRegistering(options_.reconnect_deadline);
  }
}

void ClusterMember::Impl::EndLife() {
  if (life_ == nullptr) return;
  // Also breaks the circle of the session's handler and the session.
  life_->session = nullptr;
  life_ = nullptr;
  handlers_.on_left();
}

void ClusterMember::Impl::SayBye(MemberEnd end) {
  end_ = std::move(end);
  // What was done since the newest heartbeat counts, too.
  Heartbeat last = handlers_.heartbeat();
  last.number = life_->next_heartbeat;
  const Bye bye{last.usage};
  life_->session->Send(std::move(last));
  life_->session->Send(bye);
  // Unheard, the last word changes nothing about the outcome.
  strand_->PostAfter(options_.shutdown_deadline, [self = shared_from_this()] {
    if (self->finished_) return;
    self->EndLife();
    self->Finish(*std::exchange(self->end_, std::nullopt));
  });
}

void ClusterMember::Impl::Finish(MemberEnd end) {
  if (finished_) return;
  finished_ = true;
  // The handlers usually own what owns this member: let go of them.
  ClusterMemberHandlers handlers = std::move(handlers_);
  std::move(handlers.on_end)(std::move(end));
}

ClusterMember::ClusterMember(ClusterMemberOptions options,
                             ClusterService* cluster, Executor* strand,
                             Logger* logger)
    : impl_(std::make_shared<Impl>(std::move(options), cluster, strand,
                                   logger)) {}

ClusterMember::~ClusterMember() = default;

void ClusterMember::Start(ClusterMemberHandlers handlers) {
  impl_->strand()->Post(
      [impl = impl_, handlers = std::move(handlers)]() mutable {
        impl->Start(std::move(handlers));
      });
}

void ClusterMember::Leave() {
  impl_->strand()->Post([impl = impl_] { impl->Leave(); });
}

}  // namespace shoal
