#include "coordinator/coordinator_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/overdue_text.h"

namespace shoal {
namespace {

MembershipOptions MembershipOf(const CoordinatorOptions& options) {
  MembershipOptions membership;
  membership.job = options.job;
  membership.config = options.config;
  membership.start = options.start;
  membership.num_ps = options.num_ps;
  membership.host_files = options.host_files;
  membership.silent_after = options.silent_after;
  return membership;
}

}  // namespace

CoordinatorState::CoordinatorState(CoordinatorOptions options, absl::Time now)
    : options_(std::move(options)),
      clock_(options_, now),
      membership_(MembershipOf(options_)),
      saves_(options_),
      loaded_(options_.num_ps, GoesOn()) {}

CoordinatorActions CoordinatorState::TakeActions() {
  Step();
  return std::exchange(actions_, {});
}

void CoordinatorState::Perform(CoordinatorActions actions) {
  for (CoordinatorAction& action : actions) {
    actions_.push_back(std::move(action));
  }
}

void CoordinatorState::Log(LogLevel level, std::string line) {
  actions_.emplace_back(LogAction{level, std::move(line)});
}

void CoordinatorState::Send(const Member& member, CoordinatorMessage message) {
  actions_.emplace_back(SendAction{member.session, std::move(message)});
}

absl::StatusOr<RegisterReply> CoordinatorState::Register(
    const RegisterRequest& request, absl::Time now) {
  clock_.Advance(now);
  if (const Member* before = membership_.Suspended(request)) {
    Lose(Member(*before), absl::AbortedError("replaced by another process"),
         "died: its connection broke, and another process came in its place");
  }
  if (phase_ >= JobPhase::kEnding) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the job is over",
        status_.ok() ? "" : absl::StrCat(": ", status_.message())));
  }
  RegisterReply reply;
  SHOAL_ASSIGN_OR_RETURN(reply.life,
                         membership_.Register(request, clock_.now()));
  const CheckpointOptions& checkpoints = options_.checkpoints;
  if (request.role == Role::kPs && checkpoints.resume != nullptr) {
    reply.load =
        LoadFrom{checkpoints.resume_name, OfferOf(checkpoints.resume_text)};
  } else {
    reply.initialise = request.role == Role::kPs;
  }
  reply.heartbeat_interval = options_.heartbeat_interval;
  reply.silent_after = options_.silent_after;
  progress_.NewLife(request.role, request.index, request.address,
                    clock_.clock());
  return reply;
}

CoordinatorActions CoordinatorState::OpenSession(uint64_t session, Life life,
                                                 absl::Time now) {
  clock_.Advance(now);
  const auto opened = membership_.Open(session, life, clock_.now());
  if (!opened.ok()) {
    actions_.emplace_back(EndSessionAction{session, opened.status()});
    return TakeActions();
  }
  const Member member = **opened;
  if (phase_ >= JobPhase::kEnding) {
    Send(member, JobEnd{status_, SummaryLines(Report(clock_.clock()))});
    return TakeActions();
  }
  Log(LogLevel::kInfo,
      absl::StrCat(member.Name(), " joined as life ", ToString(member.life)));
  if (member.role == Role::kPs && options_.checkpoints.resume == nullptr) {
    // It starts from the initial values.
    loaded_.AddShard(member.index, {}).IgnoreError();
  }
  if (member.role == Role::kPs && AllPsOpen()) {
    // The last PS: those who came before it have waited for this.
    SendViews();
  } else if (AllPsOpen()) {
    Send(member, View());
  }
  return TakeActions();
}

CoordinatorActions CoordinatorState::OnMessage(uint64_t session,
                                               ProcessMessage message,
                                               absl::Time now) {
  clock_.Advance(now);
  const Member* found = membership_.FindSession(session);
  if (found == nullptr) return TakeActions();
  const Member from = *found;  // handlers may remove it
  membership_.Heard(session, clock_.now());
  const absl::Status status =
      std::visit([&](auto& m) { return On(from, m); }, message);
  if (!status.ok() && membership_.FindSession(session) != nullptr) {
    Lose(from, status, absl::StrCat("broke the protocol: ", status.message()));
  }
  return TakeActions();
}

absl::StatusOr<uint64_t> CoordinatorState::ResumeSession(
    const SessionOpening& opening, absl::Time now) {
  clock_.Advance(now);
  const Member* found = membership_.FindLife(opening.life);
  if (found == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("life ", ToString(opening.life),
                     " is not known here, or was taken for dead"));
  }
  if (!found->open()) return absl::NotFoundError("no session was opened yet");
  const Member member = *found;
  // A complete batch has the mark of every shard.
  const uint64_t complete = book_.totals().batches;
  const uint64_t has = opening.marks.applied + opening.marks.rejected;
  if (member.role == Role::kPs && has < complete) {
    const absl::Status lost = absl::FailedPreconditionError(absl::StrCat(
        member.Name(), " came back with ", has, " marks, and the job has ",
        complete, " complete batches: its shard's state went back"));
    Lose(member, lost, "lost marks that it had made");
    return lost;
  }
  membership_.Resume(member.session, clock_.now());
  Log(LogLevel::kInfo,
      absl::StrCat(member.Name(), " is back as life ", ToString(member.life)));
  return member.session;
}

CoordinatorActions CoordinatorState::OnConnectionLost(
    uint64_t session, const absl::Status& status, absl::Time now) {
  clock_.Advance(now);
  const Member* found = membership_.FindSession(session);
  if (found == nullptr) return TakeActions();
  const Member member = *found;
  membership_.Suspend(session, clock_.now());
  book_.leases().Suspend(member.life);
  evaluation_.leases().Suspend(member.life);
  Log(LogLevel::kWarn,
      absl::StrCat("the connection of ", member.Name(), " broke (",
                   status.message(), "); it has ",
                   absl::FormatDuration(options_.silent_after), " to come back",
                   member.role == Role::kWorker
                       ? ", and its pieces may be leased again"
                       : ""));
  Probe();
  return TakeActions();
}

void CoordinatorState::Probe() {
  for (const Member& ps : membership_.Open(Role::kPs)) {
    if (!ps.suspended) continue;
    actions_.emplace_back(ProbeAction{ps.session, ps.address});
  }
}

CoordinatorActions CoordinatorState::OnProbed(uint64_t session, bool refused,
                                              absl::Time now) {
  clock_.Advance(now);
  const Member* member = membership_.FindSession(session);
  if (refused && member != nullptr && member->suspended) {
    Lose(Member(*member), absl::UnavailableError("its port is closed"),
         "died: its connection broke, and its address refuses others");
  }
  return TakeActions();
}

CoordinatorActions CoordinatorState::OnSessionEnd(uint64_t session,
                                                  const absl::Status& status,
                                                  absl::Time now) {
  clock_.Advance(now);
  const Member* member = membership_.FindSession(session);
  if (member == nullptr) return TakeActions();
  const std::string reason =
      status.ok() ? "" : absl::StrCat(" (", status.message(), ")");
  Lose(Member(*member), status,
       absl::StrCat("died: its session ended without a Bye", reason));
  return TakeActions();
}

CoordinatorActions CoordinatorState::Stop(const absl::Status& reason,
                                          absl::Time now) {
  clock_.Advance(now);
  End(reason.ok() ? absl::CancelledError("the job was stopped") : reason,
      options_.process);
  return TakeActions();
}

CoordinatorActions CoordinatorState::Continue(absl::Time now) {
  clock_.Advance(now);
  continues_ = false;
  return TakeActions();
}

CoordinatorActions CoordinatorState::Tick(absl::Time now) {
  clock_.Advance(now);
  for (const Member& member : membership_.Silent(clock_.now())) {
    const std::string silence = absl::FormatDuration(options_.silent_after);
    if (member.suspended) {
      Lose(member,
           absl::DeadlineExceededError(absl::StrCat(
               member.Name(), " did not come back within ", silence)),
           absl::StrCat("died: its connection broke, and it did not come back "
                        "within ",
                        silence));
      continue;
    }
    Lose(member,
         absl::DeadlineExceededError(
             absl::StrCat(member.Name(), " was silent for more than ", silence,
                          " and was taken for dead")),
         absl::StrCat("was silent for more than ", silence,
                      " and is taken for dead"));
  }
  if (Leases(phase_)) {
    leases().Expire(clock_.now());
    // What time alone brings (copies) is looked for now and then.
    desk_.WakeAll();
    progress_.OnTrained(options_.task == JobTask::kTrain ? book_.examples()
                                                         : evaluation_.rows(),
                        clock_.clock());
  }
  Probe();
  if (const auto overdue = clock_.Check(phase_, AllPsOpen())) {
    const bool scores = phase_ == JobPhase::kEvaluating;
    End(TooLate(*overdue, {options_, membership_, loaded_, progress_,
                           scores ? evaluation_.facts() : book_.facts(),
                           scores ? evaluation_.leases() : book_.leases(),
                           last_lease_failure_}));
  }
  return TakeActions();
}

void CoordinatorState::Lose(const Member& member, const absl::Status& why,
                            const std::string& how) {
  Forget(member, why);
  if (phase_ >= JobPhase::kEnding) return;
  const std::string what = absl::StrCat(member.Name(), " ", how);
  if (member.role == Role::kPs && phase_ == JobPhase::kGathering) {
    // Nothing was leased yet, so nothing was pushed.
    Log(LogLevel::kWarn,
        absl::StrCat(what,
                     "; nothing is trained yet, so another process may take "
                     "its place, within ",
                     absl::FormatDuration(clock_.LeftToStart())));
  } else if (member.role == Role::kPs && member.open()) {
    End(absl::UnavailableError(
            absl::StrCat(what, "; its shard's state is lost")),
        ProcessName(member.role, member.index));
  } else {
    Log(LogLevel::kWarn,
        absl::StrCat(
            what, member.role == Role::kWorker ? "; its leases return" : ""));
  }
}

void CoordinatorState::Forget(const Member& member, const absl::Status& why) {
  membership_.Remove(member.life);
  desk_.Remove(member.life);
  if (member.role == Role::kPs) {
    loaded_.Drop(member.index);
    AskForMarks();
  }
  book_.leases().EndOwner(member.life);
  evaluation_.leases().EndOwner(member.life);
  if (member.open()) {
    actions_.emplace_back(EndSessionAction{member.session, why});
  }
}

}  // namespace shoal
