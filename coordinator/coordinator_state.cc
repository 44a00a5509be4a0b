#include "coordinator/coordinator_state.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "cluster/repeated_files.h"
#include "coordinator/job_pieces.h"
#include "coordinator/lane_ranks.h"
#include "coordinator/overdue_text.h"
#include "coordinator/sender_check.h"

namespace shoal {
namespace {

MembershipOptions MembershipOf(const CoordinatorOptions& options) {
  MembershipOptions membership;
  membership.job = options.job;
  membership.config = options.config;
  membership.start = options.start;
  membership.ps = options.ps;
  if (options.lanes) membership.fixed_workers = options.num_workers;
  membership.workers_return = !options.ring;
  membership.scopes = options.scopes;
  const CheckpointOptions& checkpoints = options.checkpoints;
  if (checkpoints.resume != nullptr) {
    membership.trained = {checkpoints.resume->data.ids,
                          absl::StrCat("the checkpoint ",
                                       checkpoints.resume_path(),
                                       " was trained on")};
  }
  membership.silent_after = options.silent_after;
  return membership;
}

}  // namespace

CoordinatorState::CoordinatorState(CoordinatorOptions options, absl::Time now)
    : options_(std::move(options)),
      clock_(options_, now),
      membership_(MembershipOf(options_)),
      progress_(options_.ps),
      start_(options_),
      work_(options_),
      pace_(options_.ssp),
      sent_files_(options_.checkpoints),
      saves_(options_),
      rank_watch_(options_.stall_after) {}

// ---- Effects ----------------------------------------------------------------

CoordinatorActions CoordinatorState::TakeActions(JobEffects effects) {
  Perform(std::move(effects));
  Step();
  return std::exchange(actions_, {});
}

void CoordinatorState::Perform(CoordinatorActions actions) {
  for (CoordinatorAction& action : actions) {
    actions_.push_back(std::move(action));
  }
}

void CoordinatorState::Perform(JobEffects effects) {
  Perform(std::move(effects.actions));
  if (effects.progress || effects.released) clock_.SeeProgress();
  if (effects.released) work_.Release(clock_.now());
  if (effects.phase.has_value()) Enter(*effects.phase);
  if (effects.end.has_value()) End(*std::move(effects.end));
}

absl::Status CoordinatorState::Take(absl::StatusOr<JobEffects> effects) {
  if (effects.ok()) Perform(*std::move(effects));
  return effects.status();
}

// ---- Processes --------------------------------------------------------------

absl::StatusOr<RegisterReply> CoordinatorState::Register(
    const RegisterRequest& request, absl::Time now) {
  clock_.Advance(now);
  if (const Member* before = membership_.Suspended(request)) {
    Lose(Replaced(*before));
  }
  if (phase_ >= JobPhase::kEnding) return finish_.Refusal();
  RegisterReply reply;
  SHOAL_ASSIGN_OR_RETURN(reply.life,
                         membership_.Register(request, clock_.now()));
  if (request.role == Role::kPs) start_.Direct(&reply);
  reply.heartbeat_interval = options_.heartbeat_interval;
  reply.silent_after = options_.silent_after;
  const bool is_ps = request.role == Role::kPs;
  progress_.NewLife(request.role, request.index,
                    is_ps ? request.address : request.host, clock_.clock());
  train_row_bytes_ = std::max(train_row_bytes_, request.train_row_bytes);
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
    Send(member, finish_.Message(SummaryLines(Report(clock_.clock()))),
         &actions_);
    return TakeActions();
  }
  Log(member.in_rank ? LogLevel::kDebug : LogLevel::kInfo,
      absl::StrCat(member.Name(), " joined as life ", ToString(member.life)),
      &actions_);
  Perform(start_.OnOpen(member, StartView()));
  if (generations_ && member.role == Role::kWorker) {
    generations_->OnJoined(member);
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
  if (generations_ && generations_->Ignores(from, message)) {
    return TakeActions();
  }
  absl::Status status = CheckSender(from, message);
  if (status.ok()) {
    status = std::visit([&](auto& m) { return On(from, m); }, message);
  }
  if (!status.ok() && membership_.FindSession(session) != nullptr) {
    Lose(BrokeProtocol(from, status));
  }
  return TakeActions();
}

absl::StatusOr<uint64_t> CoordinatorState::ResumeSession(
    const SessionOpening& opening, absl::Time now) {
  clock_.Advance(now);
  SHOAL_ASSIGN_OR_RETURN(const Member* const found,
                         membership_.Returning(opening.life));
  const Member member = *found;
  if (const auto loss =
          LostMarks(member, opening.marks, work_.book().totals().batches)) {
    Lose(*loss);
    return loss->why;
  }
  membership_.Resume(member.session, clock_.now());
  Log(member.in_rank ? LogLevel::kDebug : LogLevel::kInfo,
      absl::StrCat(member.Name(), " is back as life ", ToString(member.life)),
      &actions_);
  return member.session;
}

CoordinatorActions CoordinatorState::OnConnectionLost(
    uint64_t session, const absl::Status& status, absl::Time now) {
  clock_.Advance(now);
  const Member* found = membership_.FindSession(session);
  if (found == nullptr) return TakeActions();
  const Member member = *found;
  membership_.Suspend(session, clock_.now());
  work_.Suspend(member.life);
  Perform(AfterBreak(member, status, options_.silent_after, options_.lanes));
  Perform(Probes(membership_));
  return TakeActions();
}

CoordinatorActions CoordinatorState::OnProbed(uint64_t session, bool refused,
                                              absl::Time now) {
  clock_.Advance(now);
  const Member* member = membership_.FindSession(session);
  if (refused && member != nullptr && member->suspended) {
    Lose(PortClosed(*member));
  }
  return TakeActions();
}

CoordinatorActions CoordinatorState::OnSessionEnd(uint64_t session,
                                                  const absl::Status& status,
                                                  absl::Time now) {
  clock_.Advance(now);
  const Member* member = membership_.FindSession(session);
  if (member != nullptr) Lose(SessionEnded(*member, status));
  return TakeActions();
}

void CoordinatorState::Lose(const MemberLoss& loss) {
  if (generations_) return LoseRank(loss);
  Forget(loss.member, loss.why);
  Perform(AfterLoss(loss, phase_, clock_.LeftToStart(),
                    HostLeftAlone(loss.member, membership_), options_.lanes));
  if (loss.member.role == Role::kWorker && Leases(phase_)) {
    WarnOfMissingWorkers("the job goes on");
  }
}

void CoordinatorState::WarnOfMissingWorkers(absl::string_view what) {
  const size_t workers = membership_.Open(Role::kWorker).size();
  if (workers >= static_cast<size_t>(options_.num_workers)) return;
  if (workers == 0) what = "the job waits";
  Log(LogLevel::kWarn,
      absl::StrCat(what, " with ", workers, " of ",
                   Counted(options_.num_workers, "worker"), ": ",
                   MissingProcesses(options_, membership_),
                   options_.ring ? " can join again at the next start"
                                 : " can join later"),
      &actions_);
}

void CoordinatorState::Forget(const Member& member, const absl::Status& why) {
  membership_.Remove(member.life);
  if (generations_ && member.in_rank && phase_ < JobPhase::kEnding) {
    start_.OnReplicaLost(member.index);
    work_.RemoveMember(member.index);
    progress_.OnReplicaLost(member.index);
  } else if (member.role == Role::kPs) {
    Perform(start_.OnGone(member, StartView()));
  }
  work_.End(member.life);
  rank_watch_.Forget(member.life);
  pace_.OnLost(member.life);
  if (member.open()) {
    actions_.emplace_back(EndSessionAction{member.session, why});
  }
}

// ---- Time, stops and answers to actions -------------------------------------

CoordinatorActions CoordinatorState::Tick(absl::Time now) {
  clock_.Advance(now);
  for (const Member& member : membership_.Silent(clock_.now())) {
    // The other member of its process may have been lost just now.
    if (membership_.FindLife(member.life) != nullptr) {
      Lose(Silent(member, options_.silent_after));
    }
  }
  work_.Tick(WorkView());
  Perform(Probes(membership_));
  WatchRanks();
  if (const auto overdue = clock_.Check(phase_, start_.AllPs(membership_))) {
    JobOutcome late;
    late.status =
        TooLate(*overdue, {options_, membership_, start_.loaded(), progress_,
                           work_.facts(phase_), work_.leases(phase_),
                           work_.last_failure(), WaitingFor()});
    // There were workers, and all of them are gone.
    late.lost = *overdue == Overdue::kWorker && clock_.gathered();
    End(std::move(late));
  }
  return TakeActions();
}

CoordinatorActions CoordinatorState::Stop(const absl::Status& reason,
                                          absl::Time now) {
  clock_.Advance(now);
  End(JobFinish::OnStop(reason, options_.process));
  return TakeActions();
}

CoordinatorActions CoordinatorState::Continue(absl::Time now) {
  clock_.Advance(now);
  start_.OnContinue();
  return TakeActions();
}

CoordinatorActions CoordinatorState::OnScored(const EvalReport& figures,
                                              absl::Time now) {
  clock_.Advance(now);
  return TakeActions(work_.OnScored(figures, phase_));
}

CoordinatorActions CoordinatorState::OnPredictionsWritten(
    uint64_t scores, bool last, const absl::Status& status, absl::Time now) {
  clock_.Advance(now);
  return TakeActions(work_.OnPredictionsWritten(scores, last, status, phase_));
}

CoordinatorActions CoordinatorState::RequestSave(uint64_t request,
                                                 absl::Time now) {
  clock_.Advance(now);
  return TakeActions(saves_.Request(request, SavesView()));
}

CoordinatorActions CoordinatorState::SaveAndStop(const absl::Status& reason,
                                                 absl::Time now) {
  clock_.Advance(now);
  return TakeActions(saves_.Stop(reason, options_.process, SavesView()));
}

CoordinatorActions CoordinatorState::OnCommitted(
    uint64_t number, absl::StatusOr<ManifestText> manifest, absl::Time now) {
  clock_.Advance(now);
  saves_.OnCommitted(number, std::move(manifest));
  return TakeActions();
}

CoordinatorActions CoordinatorState::OnFileRead(uint64_t session, FilePart part,
                                                absl::Time now) {
  clock_.Advance(now);
  sent_files_.OnRead(session);
  const Member* const member = membership_.FindSession(session);
  if (member != nullptr) Send(*member, std::move(part), &actions_);
  return TakeActions();
}

// ---- Phases -----------------------------------------------------------------

void CoordinatorState::Step() {
  const size_t workers = membership_.Open(Role::kWorker).size();
  if (workers != 0) clock_.SeeWorker();
  if (phase_ == JobPhase::kRestoring) {
    ContinueRestoring();
  } else if (phase_ == JobPhase::kGathering &&
             clock_.Gather(start_.AllPs(membership_), workers)) {
    StartTraining();
  }
  StepGenerations();
  if (steps_.has_value()) Perform(steps_->Step(StepsView()));
  Perform(saves_.Step(SavesView()));
  if (phase_ == JobPhase::kTraining) Perform(work_.CheckRows());
  if (phase_ == JobPhase::kTraining && Steady() && work_.EvaluationDue() &&
      (!work_.trained() || SavedAtEnd())) {
    Perform(work_.Evaluate(WorkView()));
  }
  if (phase_ == JobPhase::kEvaluating) {
    Perform(work_.ContinueEvaluating(saves_.report().resumed_step));
  }
  if (Leases(phase_) && !saves_.withholds() && Steady()) {
    Perform(work_.Deal(steps_ && steps_->Settled(work_.book())));
  }
  if (Leases(phase_)) GrantAtPace();
  if (phase_ == JobPhase::kReporting && AllReported()) {
    End(JobFinish::Verdict(Report(clock_.clock()).ps, work_.book().totals(),
                           saves_.end_status()));
  }
  if (phase_ == JobPhase::kEnding &&
      (membership_.empty() || clock_.LingerOver())) {
    for (const Member& member : membership_.members()) {
      Forget(member, JobFinish::NoBye(member, options_.linger));
    }
    phase_ = JobPhase::kFinished;
    actions_.emplace_back(FinishedAction{});
  }
}

void CoordinatorState::GrantAtPace() {
  CoordinatorActions grants;
  if (!saves_.withholds() && Steady()) grants = work_.Grant(WorkView());
  Perform(pace_.Follow(membership_, [this](Life worker) {
    return work_.book().leases().Holds(worker);
  }));
  Perform(std::move(grants));
}

void CoordinatorState::Enter(JobPhase phase) {
  phase_ = phase;
  clock_.BeginPhase();
  if (phase != JobPhase::kReporting) return;
  work_.StopLeasing();
  Perform(JobFinish::AskReports(membership_));
}

void CoordinatorState::StartTraining() {
  membership_.Begin();
  for (std::string& warning : RepeatedFileWarnings(membership_.files())) {
    Log(LogLevel::kWarn, std::move(warning), &actions_);
  }
  WarnOfMissingWorkers("the job begins");
  absl::StatusOr<JobPieces> pieces =
      CutJob(options_, membership_.files(), train_row_bytes_);
  if (!pieces.ok()) return End({pieces.status()});
  std::vector<LaneRank> ranks;
  if (options_.lanes) {
    ranks = LaneRanksOf(membership_);
    generations_.emplace(options_, membership_);
  }
  if (options_.backup_workers.has_value()) {
    std::vector<Life> lives;
    for (const LaneRank& rank : ranks) lives.push_back(rank.life);
    steps_.emplace(std::move(lives), *options_.backup_workers);
  }
  work_.SetPieces(*std::move(pieces), ranks);
  if (!start_.goes_on()) return Perform(work_.BeginTraining(WorkView()));
  const absl::Status same =
      start_.StartRestoring(membership_.files().train(), &work_.book());
  if (!same.ok()) return End({same});
  phase_ = JobPhase::kRestoring;
  ContinueRestoring();
}

void CoordinatorState::ContinueRestoring() {
  const absl::StatusOr<bool> done = start_.Restore(&work_.book(), &actions_);
  if (!done.ok()) return End({done.status()});
  if (!*done) return;
  progress_.OnTrained(work_.book().examples(), clock_.clock());
  saves_.GoOnFrom(work_.book());
  Perform(work_.BeginTraining(WorkView()));
}

bool CoordinatorState::SavedAtEnd() {
  Perform(work_.CheckEndOfTraining());
  if (phase_ != JobPhase::kTraining) return false;
  Perform(saves_.SaveEnd(SavesView()));
  return saves_.settled() && phase_ == JobPhase::kTraining;
}

void CoordinatorState::End(JobOutcome outcome) {
  if (phase_ >= JobPhase::kEnding) return;
  Enter(JobPhase::kEnding);
  if (outcome.diverged_after.has_value()) {
    saves_.OnDiverged(*outcome.diverged_after);
  }
  finish_.Decide(std::move(outcome));
  work_.StopLeasing();
  Perform(saves_.End(SavesView()));
  progress_.End(clock_.clock());
  Perform(finish_.Tell(membership_, SummaryLines(Report(clock_.clock()))));
}

LeasedWork::View CoordinatorState::WorkView() {
  return {membership_, phase_, clock_.now(), clock_.clock(), progress_};
}

JobSaves::View CoordinatorState::SavesView() {
  return {membership_, work_.book(), work_.desk(),
          phase_,      clock_.now(), clock_.clock(), work_.sound(),
          steps_.has_value() ? &*steps_ : nullptr,
          !Steady() || work_.book().mending()};
}

JobSteps::View CoordinatorState::StepsView() const {
  return JobSteps::ViewOf(membership_, work_.book());
}

JobReport CoordinatorState::Report(absl::Time now) const {
  JobReport report;
  report.trains = options_.task == JobTask::kTrain;
  report.started = clock_.gathered();
  if (phase_ < JobPhase::kTraining) {
    report.waiting_for = MissingProcesses(options_, membership_);
  }
  finish_.Fill(phase_, &report);
  work_.FillTrained(phase_, &report);
  report.num_epochs = options_.num_epochs;
  report.workers_planned = options_.num_workers;
  report.ps_alive = static_cast<int>(membership_.Open(Role::kPs).size());
  report.checkpoint = saves_.report();
  report.checkpoint.unfinished = saves_.writing();
  progress_.Fill(now, &report);
  for (WorkerReport& worker : report.workers) {
    worker.alive = membership_.Find(Role::kWorker, worker.index) != nullptr;
  }
  work_.FillScored(&report);
  if (generations_) generations_->Fill(&report);
  return report;
}

}  // namespace shoal
