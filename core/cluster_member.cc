#include "core/cluster_member.h"

#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/backoff.h"
#include "base/may_pass.h"
#include "base/random_bits.h"
#include "base/status_macros.h"
#include "core/job_loss.h"
#include "core/member_session.h"
#include "core/patient_time.h"

namespace shoal {
namespace {

// Time limit of one attempt to register. The deadlines of the options limit all
// attempts together.
constexpr absl::Duration kRegisterTimeout = absl::Seconds(5);

// True if the process may be let in when it asks again. ALREADY_EXISTS: the
// coordinator has not yet seen that our last life ended. CANCELLED: its server
// went down during the call.
bool MayJoinLater(const absl::Status& status) {
  return MayPass(status) || absl::IsAlreadyExists(status) ||
         absl::IsCancelled(status);
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
    // Without a life a Register call is out: its answer ends the membership.
    if (life_ != nullptr) SayBye({});
  }

  Executor* strand() const { return strand_; }

 private:
  // One registration. A callback of an old registration finds that its life is
  // not life_.
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
    // When the coordinator was last heard or the connection broke, in patient
    // time.
    absl::Time heard;
    const std::shared_ptr<MemberSession> session =
        std::make_shared<MemberSession>();
    uint64_t taken = 0;  // messages of the session
    // Number of the newest connection; callbacks of older ones are ignored.
    uint64_t connection = 0;
    // While no connection carries the session: why the last one broke, the
    // number of attempts since, and the new connection that waits for
    // SessionResumed.
    std::optional<absl::Status> broken;
    int attempt = 0;
    std::shared_ptr<ClusterSession> opening;
    uint64_t next_heartbeat = 1;
    // Send times of the heartbeats that are not acknowledged yet. The last one
    // is number next_heartbeat - 1.
    std::deque<absl::Time> beats;
  };

  void BeginRegistering(absl::Duration deadline);
  void TryRegister();
  void OnRegistered(absl::StatusOr<RegisterReply> reply);
  void Join(const RegisterReply& reply);
  void Connect(const std::shared_ptr<OneLife>& life, bool resume);
  void OnResumed(const std::shared_ptr<OneLife>& life, uint64_t taken);
  void OnConnectionEnd(const std::shared_ptr<OneLife>& life,
                       absl::Status status);
  void Beat(std::shared_ptr<OneLife> life);
  void SendHeartbeat(OneLife* life);
  void OnAck(OneLife* life, uint64_t number);
  void OnMessage(const std::shared_ptr<OneLife>& life,
                 CoordinatorMessage message);
  // The life is over.
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
  bool joined_ = false;  // there was a life
  std::optional<MemberEnd> end_;  // the outcome, set when Bye is sent
  absl::Time give_up_;
  int attempt_ = 0;
  const uint64_t process_ = RandomBits();
  uint64_t registrations_ = 0;  // sent so far
  absl::Time asked_;            // when the newest one was sent
  std::shared_ptr<OneLife> life_;
};

void ClusterMember::Impl::BeginRegistering(absl::Duration deadline) {
  give_up_ = strand_->Now() + deadline;
  attempt_ = 0;
  TryRegister();
}

void ClusterMember::Impl::TryRegister() {
  RegisterRequest request = options_.registration;
  request.process = process_;
  request.attempt = ++registrations_;
  asked_ = strand_->Now();
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
  } else if (!MayJoinLater(reply.status()) || strand_->Now() >= give_up_) {
    const bool lost = RefusedByLostJob(reply.status()) ||
                      (joined_ && MayJoinLater(reply.status()));
    // It has the settings of the job, so the refusal is about its return.
    const bool left_behind =
        joined_ && absl::IsFailedPrecondition(reply.status());
    Finish({Annotate(reply.status(), "cannot join the job"), "",
            /*job_over=*/false, lost, left_behind});
  } else {
    if (attempt_ % 8 == 4) {
      // The worker in the process of a rank says it for the PS there.
      const RegisterRequest& own = options_.registration;
      logger_->Log(own.role == Role::kPs && own.address.empty()
                       ? LogLevel::kDebug
                       : LogLevel::kInfo,
                   absl::StrCat("waiting for the coordinator: ",
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
  joined_ = true;
  logger_->Info(absl::StrCat("registered with the coordinator as ",
                             ToString(life->life)));
  Connect(life, /*resume=*/false);
  if (leaving_) {
    SayBye({});
    return;
  }
  handlers_.on_joined(reply, life->session);
  if (handlers_.on_acknowledged) handlers_.on_acknowledged(asked_);
  Beat(std::move(life));
}

void ClusterMember::Impl::Connect(const std::shared_ptr<OneLife>& life,
                                  bool resume) {
  SessionOpening opening;
  opening.life = life->life;
  opening.resume = resume;
  opening.taken = life->taken;
  if (resume && handlers_.marks) opening.marks = handlers_.marks();
  const uint64_t number = ++life->connection;
  SessionHandler handler;
  handler.on_message = [self = shared_from_this(), life,
                        number](CoordinatorMessage message) {
    self->strand_->Post(
        [self, life, number, message = std::move(message)]() mutable {
          if (self->life_ != life || life->connection != number) return;
          self->OnMessage(life, std::move(message));
        });
  };
  handler.on_end = [self = shared_from_this(), life,
                    number](absl::Status status) {
    self->strand_->Post([self, life, number, status = std::move(status)] {
      if (self->life_ != life || life->connection != number) return;
      self->OnConnectionEnd(life, status);
    });
  };
  std::shared_ptr<ClusterSession> connection =
      cluster_->OpenSession(std::move(opening), std::move(handler));
  if (resume) {
    life->opening = std::move(connection);  // until SessionResumed
  } else {
    // Nothing was sent before, so nothing can be missing.
    life->session->Carry(std::move(connection), 0).IgnoreError();
  }
}

void ClusterMember::Impl::OnResumed(const std::shared_ptr<OneLife>& life,
                                    uint64_t taken) {
  // Not asked for; a coordinator of ours does not send this.
  if (life->opening == nullptr) return;
  const absl::Status carried =
      life->session->Carry(std::exchange(life->opening, nullptr), taken);
  if (!carried.ok()) {
    OnSessionEnd(life, carried);
    return;
  }
  life->broken.reset();
  logger_->Info(
      absl::StrCat("connected to the coordinator again; registration ",
                   ToString(life->life), " is still valid"));
  if (!end_.has_value()) SendHeartbeat(life.get());
}

void ClusterMember::Impl::OnConnectionEnd(const std::shared_ptr<OneLife>& life,
                                          absl::Status status) {
  if (end_.has_value() || !absl::IsUnavailable(status)) {
    OnSessionEnd(life, std::move(status));
    return;
  }
  if (!life->broken.has_value()) {
    // From now on the connection has silent_after to come back.
    life->time.Advance(strand_->Now());
    life->heard = life->time.now();
    life->attempt = 0;
    life->session->Break();
    logger_->Warn(absl::StrCat("the connection to the coordinator broke: ",
                               status.message(), "; connecting again"));
  }
  life->broken = std::move(status);
  life->opening = nullptr;
  strand_->PostAfter(
      BackoffDelay(BackoffOptions{}, life->attempt++,
                   options_.registration.index),
      [self = shared_from_this(), life, number = life->connection] {
        if (self->life_ != life || life->connection != number) return;
        self->Connect(life, /*resume=*/true);
      });
}

void ClusterMember::Impl::Beat(std::shared_ptr<OneLife> life) {
  if (life_ != life || end_.has_value()) return;
  life->time.Advance(strand_->Now());
  const absl::Duration silence = life->time.now() - life->heard;
  if (silence > life->silent_after) {
    const absl::Status why = life->broken.value_or(absl::OkStatus());
    OnSessionEnd(
        life, absl::DeadlineExceededError(
                  why.ok()
                      ? absl::StrCat("the coordinator has been silent for ",
                                     absl::FormatDuration(silence))
                      : absl::StrCat("no connection to the coordinator for ",
                                     absl::FormatDuration(silence), ": ",
                                     why.message())));
    return;
  }
  if (!life->broken.has_value()) SendHeartbeat(life.get());
  const absl::Duration interval = life->heartbeat_interval;
  strand_->PostAfter(
      interval, [self = shared_from_this(), life = std::move(life)]() mutable {
        self->Beat(std::move(life));
      });
}

void ClusterMember::Impl::SendHeartbeat(OneLife* life) {
  Heartbeat heartbeat = handlers_.heartbeat();
  heartbeat.number = life->next_heartbeat++;
  heartbeat.taken = life->taken;
  life->beats.push_back(strand_->Now());
  life->session->Send(std::move(heartbeat));
}

void ClusterMember::Impl::OnAck(OneLife* life, uint64_t number) {
  const uint64_t first = life->next_heartbeat - life->beats.size();
  // Acknowledged before, or never sent; a coordinator of ours does not do this.
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
  if (const auto* resumed = std::get_if<SessionResumed>(&message)) {
    OnResumed(life, resumed->taken);
    return;
  }
  ++life->taken;
  if (auto* job_end = std::get_if<JobEnd>(&message)) {
    if (end_.has_value()) return;
    const bool lost = LostProcess(job_end->status);
    SayBye({std::move(job_end->status), std::move(job_end->summary),
            /*job_over=*/true, lost});
  } else if (end_.has_value()) {
    return;
  } else if (const auto* ack = std::get_if<HeartbeatAck>(&message)) {
    life->session->Acknowledge(ack->taken);
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
    Finish({Annotate(status, "lost the coordinator"), "", /*job_over=*/false,
            /*lost=*/true, /*left_behind=*/false});
  } else {
    logger_->Warn(absl::StrCat("registration ", ToString(life->life),
                               " is over: ", status.message(),
                               "; joining again"));
    BeginRegistering(options_.reconnect_deadline);
  }
}

void ClusterMember::Impl::EndLife() {
  if (life_ == nullptr) return;
  // Also breaks the cycle of ownership between connection and handler.
  life_->session->Close();
  life_->opening = nullptr;
  life_ = nullptr;
  handlers_.on_left();
}

void ClusterMember::Impl::SayBye(MemberEnd end) {
  end_ = std::move(end);
  // Work since the newest heartbeat counts, too.
  Heartbeat last = handlers_.heartbeat();
  last.number = life_->next_heartbeat;
  last.taken = life_->taken;
  const Bye bye{last.usage};
  life_->session->Send(std::move(last));
  life_->session->Send(bye);
  // If Bye is not heard, the outcome is the same.
  strand_->PostAfter(options_.shutdown_deadline, [self = shared_from_this()] {
    if (self->finished_) return;
    self->EndLife();
    self->Finish(*std::exchange(self->end_, std::nullopt));
  });
}

void ClusterMember::Impl::Finish(MemberEnd end) {
  if (finished_) return;
  finished_ = true;
  // The handlers usually own the owner of this member, so release them.
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
