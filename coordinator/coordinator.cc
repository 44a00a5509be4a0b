#include "coordinator/coordinator.h"

#include <atomic>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/mutex.h"
#include "coordinator/coordinator_state.h"
#include "coordinator/refusal_log.h"
#include "coordinator/session_table.h"
#include "core/message_memory.h"

namespace shoal {

// Events are posted to the strand, which alone changes state_; the lock is for
// Report, and is never held while a callback runs.
class Coordinator::Impl : public std::enable_shared_from_this<Impl> {
 public:
  using Connection = SessionTable::Connection;

  Impl(CoordinatorOptions options, Executor* executor, Logger* logger,
       CoordinatorWork work)
      : job_(options.job),
        executor_(executor),
        logger_(logger),
        work_(std::move(work)),
        heartbeat_interval_(options.heartbeat_interval),
        refusals_(options.ps),
        state_(std::move(options), executor->Now()) {}

  void Start() { TickLater(); }

  // Posts `event`, a function of the state and the time that returns actions.
  template <typename Event>
  void PostEvent(Event event) {
    executor_->Post([self = shared_from_this(), event = std::move(event)] {
      self->Handle(event);
    });
  }

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) {
    executor_->Post([self = shared_from_this(), request = std::move(request),
                     deadline = executor_->Now() + timeout,
                     done = std::move(done)]() mutable {
      absl::StatusOr<RegisterReply> reply =
          self->RegisterNow(request, deadline);
      if (!reply.ok()) self->LogRefusal(request, reply.status());
      std::move(done)(std::move(reply));
      self->Settle();
    });
  }

  void Open(SessionOpening opening, Connection connection) {
    const uint64_t session = next_session_.fetch_add(1);
    executor_->Post([self = shared_from_this(), session, opening,
                     connection = std::move(connection)] {
      if (opening.resume && self->ResumeNow(opening, connection)) return;
      self->sessions_.Open(session, connection);
      self->Handle([&](CoordinatorState& state, absl::Time now) {
        return state.OpenSession(session, opening.life, now);
      });
    });
  }

  void Deliver(Connection connection, ProcessMessage message) {
    if (connection->dead) return;
    const uint64_t bytes = MemoryOf(message);
    const uint64_t waiting = connection->queued_bytes.fetch_add(bytes);
    if (connection->queued.fetch_add(1) >= kMaxQueuedMessages ||
        (waiting > 0 && waiting + bytes > kMaxQueuedBytes)) {
      End(std::move(connection),
          absl::ResourceExhaustedError(absl::StrCat(
              "more than ", kMaxQueuedMessages, " messages or ",
              kMaxQueuedBytes, " bytes to the coordinator are queued")),
          &CoordinatorState::OnSessionEnd);
      return;
    }
    executor_->Post([self = shared_from_this(),
                     connection = std::move(connection), bytes,
                     message = std::move(message)]() mutable {
      connection->queued.fetch_sub(1);
      connection->queued_bytes.fetch_sub(bytes);
      const uint64_t session = self->sessions_.Take(*connection, message);
      if (session == 0) return;
      self->Handle([&](CoordinatorState& state, absl::Time now) {
        return state.OnMessage(session, std::move(message), now);
      });
    });
  }

  // The connection ends, by its transport or by us. `event` tells the state.
  using EndEvent = CoordinatorActions (CoordinatorState::*)(
      uint64_t session, const absl::Status& status, absl::Time now);
  void End(Connection connection, absl::Status why, EndEvent event) {
    if (connection->dead.exchange(true)) return;
    executor_->Post([self = shared_from_this(),
                     connection = std::move(connection), why = std::move(why),
                     event] {
      const uint64_t session = self->sessions_.Break(connection, why);
      if (session == 0) return;
      self->Handle([&](CoordinatorState& state, absl::Time now) {
        return (state.*event)(session, why, now);
      });
    });
  }

  void SaveCheckpoint(const SaveCheckpointRequest& request,
                      absl::Duration timeout, Done<SavedCheckpoint> done) {
    executor_->Post([self = shared_from_this(), job = request.job, timeout,
                     done = std::move(done)]() mutable {
      if (job != self->job_) {
        std::move(done)(absl::FailedPreconditionError(
            absl::StrCat("job differs: asked to save '", job,
                         "', the coordinator runs '", self->job_, "'")));
        return;
      }
      if (self->abandoned_ || self->finished_) {
        std::move(done)(absl::UnavailableError("the job is over"));
        return;
      }
      const uint64_t number = self->next_save_++;
      self->saves_.emplace(number, std::move(done));
      self->GiveUpSaveAfter(timeout, number);
      self->Handle([number](CoordinatorState& state, absl::Time now) {
        return state.RequestSave(number, now);
      });
    });
  }

  void OnFinished(absl::AnyInvocable<void(const JobReport&)> done) {
    executor_->Post(
        [self = shared_from_this(), done = std::move(done)]() mutable {
          self->on_finished_ = std::move(done);
          if (self->finished_) self->TellFinished();
        });
  }

  JobReport Report() const {
    MutexLock lock(&mu_);
    return state_.Report(executor_->Now());
  }

  // The coordinator's owner has destroyed it.
  void Abandon() {
    abandoned_ = true;
    executor_->Post([self = shared_from_this()] {
      self->on_finished_ = nullptr;
      self->work_.write_manifest = nullptr;
      self->work_.read_file = nullptr;
      for (auto& [number, done] : std::exchange(self->saves_, {})) {
        std::move(done)(absl::UnavailableError("the coordinator is gone"));
      }
      self->work_.probe = nullptr;
      self->sessions_.EndAll(absl::UnavailableError("the coordinator is gone"));
    });
  }

 private:
  // The caller that asked for a save waits no longer; the job goes on saving.
  void GiveUpSaveAfter(absl::Duration timeout, uint64_t number) {
    executor_->PostAfter(timeout, [weak = weak_from_this(), number] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      SaveReplyAction late{
          number, absl::DeadlineExceededError("the checkpoint is not saved "
                                              "yet; the job goes on saving "
                                              "it")};
      self->Do(late);
    });
  }

  absl::StatusOr<RegisterReply> RegisterNow(const RegisterRequest& request,
                                            absl::Time deadline) {
    if (abandoned_) return absl::UnavailableError("the coordinator is gone");
    if (executor_->Now() >= deadline) {
      return absl::DeadlineExceededError(
          "the coordinator was too busy to register the process in time");
    }
    MutexLock lock(&mu_);
    return state_.Register(request, executor_->Now());
  }

  void LogRefusal(const RegisterRequest& request, const absl::Status& why) {
    const std::string line = refusals_.Line(request, why);
    if (!line.empty() && logger_ != nullptr) logger_->Warn(line);
  }

  // False: this is the first connection of the session.
  bool ResumeNow(const SessionOpening& opening, const Connection& connection) {
    absl::StatusOr<uint64_t> session;
    {
      MutexLock lock(&mu_);
      session = state_.ResumeSession(opening, executor_->Now());
    }
    if (absl::IsNotFound(session.status())) {
      connection->handler.on_message(SessionResumed{0});
      return false;
    }
    absl::Status resumed = session.status();
    if (resumed.ok()) {
      resumed = sessions_.Resume(*session, opening.taken, connection);
      if (!resumed.ok()) {
        Handle([&](CoordinatorState& state, absl::Time now) {
          return state.OnSessionEnd(*session, resumed, now);
        });
      }
    }
    if (!resumed.ok()) sessions_.Break(connection, resumed);
    Settle();
    return true;
  }

  // Performs the actions of an event that returns none.
  void Settle() {
    Handle([](CoordinatorState& state, absl::Time now) {
      return state.Tick(now);
    });
  }

  template <typename Event>
  void Handle(Event event) {
    if (abandoned_) return;
    const absl::Time began = executor_->Now();
    CoordinatorActions actions;
    {
      MutexLock lock(&mu_);
      actions = event(state_, began);
    }
    for (CoordinatorAction& action : actions) {
      std::visit([this](auto& a) { this->Do(a); }, action);
    }
    const absl::Duration took = executor_->Now() - began;
    if (took < heartbeat_interval_ || logger_ == nullptr) return;
    logger_->Warn(absl::StrCat(
        "one event of the coordinator took ",
        absl::FormatDuration(absl::Trunc(took, absl::Milliseconds(1))),
        " and kept all processes waiting: was this process stopped, or is this "
        "host overloaded?"));
  }

  void Do(SendAction& action) {
    sessions_.Send(action.session, std::move(action.message));
  }
  void Do(EndSessionAction& action) {
    sessions_.End(action.session, action.status);
  }
  void Do(LogAction& action) {
    if (logger_ != nullptr) logger_->Log(action.level, action.line);
  }
  void Do(CommitAction& action) {
    auto committed = [self = shared_from_this(), number = action.number](
                         absl::StatusOr<ManifestText> manifest) {
      self->executor_->Post(
          [self, number, manifest = std::move(manifest)]() mutable {
            self->Handle([&](CoordinatorState& state, absl::Time now) {
              return state.OnCommitted(number, std::move(manifest), now);
            });
          });
    };
    if (work_.write_manifest == nullptr) {
      committed(absl::InternalError(
          "the coordinator was given no function that writes manifests"));
      return;
    }
    work_.write_manifest(std::move(action.directory),
                         std::move(action.manifest), std::move(committed));
  }
  void Do(ReadFileAction& action) {
    FilePart part{action.request.directory, action.request.file,
                  action.request.offset, "", absl::OkStatus()};
    auto read = [self = shared_from_this(), session = action.session,
                 part = std::move(part)](
                    absl::StatusOr<std::string> bytes) mutable {
      part.status = bytes.status();
      if (bytes.ok()) part.bytes = *std::move(bytes);
      self->executor_->Post([self, session, part = std::move(part)]() mutable {
        self->Handle([&](CoordinatorState& state, absl::Time now) {
          return state.OnFileRead(session, std::move(part), now);
        });
      });
    };
    if (work_.read_file == nullptr) {
      read(absl::FailedPreconditionError("this coordinator sends no files"));
      return;
    }
    work_.read_file(std::move(action.request), std::move(read));
  }
  void Do(ContinueAction&) {
    PostEvent([](CoordinatorState& state, absl::Time now) {
      return state.Continue(now);
    });
  }
  void Do(ProbeAction& action) {
    if (work_.probe == nullptr || !probing_.insert(action.session).second) {
      return;
    }
    work_.probe(action.address, [self = shared_from_this(),
                                 session = action.session](bool refused) {
      self->executor_->Post([self, session, refused] {
        self->probing_.erase(session);
        self->Handle([&](CoordinatorState& state, absl::Time now) {
          return state.OnProbed(session, refused, now);
        });
      });
    });
  }
  void Do(SaveReplyAction& action) {
    const auto it = saves_.find(action.request);
    if (it == saves_.end()) return;
    Done<SavedCheckpoint> done = std::move(it->second);
    saves_.erase(it);
    std::move(done)(std::move(action.saved));
  }
  void Do(ScoreAction& action) {
    WorkStrand()->Post([self = shared_from_this(),
                        evaluation = std::move(action.evaluation)]() mutable {
      const EvalReport report = evaluation->Report();
      evaluation = nullptr;
      self->PostEvent([report](CoordinatorState& state, absl::Time now) {
        return state.OnScored(report, now);
      });
    });
  }
  void Do(WritePredictionsAction& action) {
    WorkStrand()->Post([self = shared_from_this(), action = std::move(action)] {
      // After an error there is nothing to complete.
      if (self->write_failed_) return;
      const absl::Status status =
          self->work_.write_predictions(action.logits, action.last);
      self->write_failed_ = !status.ok();
      self->PostEvent([scores = action.logits.size(), last = action.last,
                       status](CoordinatorState& state, absl::Time now) {
        return state.OnPredictionsWritten(scores, last, status, now);
      });
    });
  }
  void Do(FinishedAction&) {
    finished_ = true;
    TellFinished();
  }

  Executor* WorkStrand() const {
    return work_.strand != nullptr ? work_.strand : executor_;
  }

  void TellFinished() {
    if (!on_finished_) return;
    auto done = std::exchange(on_finished_, nullptr);
    done(Report());
  }

  void TickLater() {
    executor_->PostAfter(heartbeat_interval_ / 4, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || self->finished_) return;
      self->Handle([](CoordinatorState& state, absl::Time now) {
        return state.Tick(now);
      });
      self->TickLater();
    });
  }

  const std::string job_;
  Executor* const executor_;
  Logger* const logger_;
  CoordinatorWork work_;  // write_manifest and read_file are the strand's
  const absl::Duration heartbeat_interval_;
  std::atomic<uint64_t> next_session_{1};
  std::atomic<bool> abandoned_{false};
  RefusalLog refusals_;  // the strand's
  mutable Mutex mu_;
  CoordinatorState state_ ABSL_GUARDED_BY(mu_);

  bool write_failed_ = false;  // the work strand's

  // The strand's.
  SessionTable sessions_;
  std::set<uint64_t> probing_;  // sessions whose process's port is looked at
  uint64_t next_save_ = 1;
  std::map<uint64_t, Done<SavedCheckpoint>> saves_;
  bool finished_ = false;
  absl::AnyInvocable<void(const JobReport&)> on_finished_;
};

class Coordinator::Session final : public ClusterSession {
 public:
  Session(std::shared_ptr<Impl> impl, SessionOpening opening,
          SessionHandler handler)
      : impl_(std::move(impl)),
        connection_(std::make_shared<SessionConnection>(std::move(handler))) {
    impl_->Open(std::move(opening), connection_);
  }

  ~Session() override {
    impl_->End(connection_, absl::CancelledError("the connection closed"),
               &CoordinatorState::OnConnectionLost);
  }

  void Send(ProcessMessage message) override {
    impl_->Deliver(connection_, std::move(message));
  }

 private:
  const std::shared_ptr<Impl> impl_;
  const SessionTable::Connection connection_;
};

std::unique_ptr<Coordinator> Coordinator::Create(CoordinatorOptions options,
                                                 Executor* executor,
                                                 Logger* logger,
                                                 CoordinatorWork work) {
  SHOAL_DCHECK(work.write_predictions || options.task != JobTask::kInfer);
  SHOAL_DCHECK(work.write_manifest || !options.checkpoints.save);
  auto impl = std::make_shared<Impl>(std::move(options), executor, logger,
                                     std::move(work));
  impl->Start();
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(impl)));
}

Coordinator::Coordinator(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Coordinator::~Coordinator() { impl_->Abandon(); }

void Coordinator::Register(RegisterRequest request, absl::Duration timeout,
                           Done<RegisterReply> done) {
  impl_->Register(std::move(request), timeout, std::move(done));
}

std::unique_ptr<ClusterSession> Coordinator::OpenSession(
    SessionOpening opening, SessionHandler handler) {
  return std::make_unique<Session>(impl_, std::move(opening),
                                   std::move(handler));
}

void Coordinator::SaveCheckpoint(SaveCheckpointRequest request,
                                 absl::Duration timeout,
                                 Done<SavedCheckpoint> done) {
  impl_->SaveCheckpoint(request, timeout, std::move(done));
}

void Coordinator::OnFinished(absl::AnyInvocable<void(const JobReport&)> done) {
  impl_->OnFinished(std::move(done));
}

JobReport Coordinator::Report() const { return impl_->Report(); }

void Coordinator::Stop(absl::Status reason) {
  impl_->PostEvent(
      [reason = std::move(reason)](CoordinatorState& state, absl::Time now) {
        return state.Stop(reason, now);
      });
}

void Coordinator::SaveAndStop(absl::Status reason) {
  impl_->PostEvent(
      [reason = std::move(reason)](CoordinatorState& state, absl::Time now) {
        return state.SaveAndStop(reason, now);
      });
}

}  // namespace shoal
