#include "coordinator/job_generations.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/counted.h"
#include "cluster/replica_check.h"
#include "core/registration.h"

namespace shoal {
namespace {

std::vector<JobRank> RanksOf(const Membership& membership) {
  std::vector<JobRank> ranks;
  for (const Member& worker : membership.Open(Role::kWorker)) {
    ranks.push_back({worker.index, worker.life});
  }
  return ranks;
}

std::string WorkerName(int index) {
  return ProcessName(Role::kWorker, index);
}

absl::Status TooEarly(const Member& from, uint64_t number, uint64_t newest) {
  return absl::InvalidArgumentError(
      absl::StrCat(from.Name(), " answers for generation ", number,
                   " of the workers, and the newest is ", newest));
}

// True if the message is about the leases that a worker holds or wants.
bool IsOfLeases(const ProcessMessage& message) {
  return std::holds_alternative<LeaseRequest>(message) ||
         std::holds_alternative<LeaseDone>(message) ||
         std::holds_alternative<LeaseFailed>(message) ||
         std::holds_alternative<EvalResult>(message) ||
         std::holds_alternative<StepsFinished>(message);
}

}  // namespace

JobGenerations::JobGenerations(const CoordinatorOptions& options,
                               const Membership& membership)
    : ps_(options.ps),
      ring_(options.ring),
      backup_workers_(options.backup_workers.value_or(0)),
      newest_backup_(backup_workers_),
      ranks_(RanksOf(membership)) {}

bool JobGenerations::IsRank(Life life) const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [&](const JobRank& rank) { return rank.life == life; });
}

// ---- Events -----------------------------------------------------------------

void JobGenerations::OnLost(const Member& worker) {
  if (!IsRank(worker.life)) return;
  lost_.push_back(worker.life);
  ++ranks_lost_;
  lost_due_ = true;
  // The loss explains why the ring broke.
  breaks_ = 0;
}

void JobGenerations::OnJoined(const Member& worker) {
  join_due_ = join_due_ || !IsRank(worker.life);
}

absl::StatusOr<JobEffects> JobGenerations::OnReady(
    const Member& from, const GenerationReady& message) {
  JobEffects effects;
  if (message.number > number_) return TooEarly(from, message.number, number_);
  if (message.number < number_) return effects;
  const bool worker = from.role == Role::kWorker;
  if (ring_ && worker && message.ring_address.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(from.Name(), " gives no address for the ring"));
  }
  if (pending_.erase(from.life) == 0) return effects;
  if (!worker) steps_[from.index] = message.steps;
  effects.progress = true;
  return effects;
}

absl::StatusOr<JobEffects> JobGenerations::OnLevel(
    const Member& from, const ReplicaLevel& message) {
  JobEffects effects;
  if (message.number > number_) return TooEarly(from, message.number, number_);
  if (message.number < number_ || state_ != State::kLevelling) return effects;
  if (!IsRank(from.life)) return effects;
  levels_[from.life] = message.batches;
  effects.progress = true;
  return effects;
}

absl::StatusOr<JobEffects> JobGenerations::OnBroken(const Member& from,
                                                    const RingBroken& message,
                                                    const View& view) {
  JobEffects effects;
  if (message.number > number_) return TooEarly(from, message.number, number_);
  if (message.number < number_ || state_ == State::kEnding ||
      broken_.has_value() || lost_due_) {
    return effects;
  }
  const uint64_t batches = view.book.totals().batches;
  if (batches != broken_at_) breaks_ = 0;
  broken_at_ = batches;
  ++breaks_;
  const bool named =
      message.rank >= 0 && static_cast<size_t>(message.rank) < ranks_.size();
  broken_ = Broken{
      view.now,
      absl::StrCat("the connection between ", from.Name(), " and ",
                   named ? WorkerName(
                               ranks_[static_cast<size_t>(message.rank)].index)
                         : "another worker",
                   " broke (", message.status.message(), ")")};
  if (breaks_ >= kMostBreaks) {
    return EndWith(absl::FailedPreconditionError(absl::StrCat(
        broken_->what, ", ", breaks_,
        " times in a row without a step in between, though no worker was lost: "
        "look at the network between the two")));
  }
  Log(LogLevel::kWarn,
      absl::StrCat(broken_->what,
                   "; the workers connect again, and train the open step "
                   "once more"),
      &effects.actions);
  return effects;
}

bool JobGenerations::Ignores(const Member& from,
                             const ProcessMessage& message) const {
  return state_ == State::kEnding && pending_.count(from.life) != 0 &&
         IsOfLeases(message);
}

// ---- The change -------------------------------------------------------------

bool JobGenerations::EndIsDue(absl::Time now, bool holds) const {
  return lost_due_ || (join_due_ && !holds) ||
         (broken_.has_value() && now >= broken_->since + kBreakPause);
}

CoordinatorActions JobGenerations::End(const View& view) {
  ++number_;
  state_ = State::kEnding;
  lost_due_ = false;
  join_due_ = false;
  broken_.reset();
  pending_.clear();
  steps_.clear();
  levels_.clear();
  if (!changing_since_.has_value()) changing_since_ = view.now;
  ranks_ = RanksOf(view.membership);
  CoordinatorActions actions;
  for (const Member& worker : view.membership.Open(Role::kWorker)) {
    pending_.insert(worker.life);
    Send(worker, NewGeneration{number_, {}}, &actions);
  }
  if (view.steps == nullptr) return actions;
  const std::vector<BatchId> batches = view.steps->EndGeneration(lost_);
  for (const Member& ps : view.membership.Open(Role::kPs)) {
    pending_.insert(ps.life);
    Send(ps, NewGeneration{number_, batches}, &actions);
  }
  return actions;
}

JobEffects JobGenerations::Step(const View& view) {
  JobEffects effects;
  if (state_ == State::kEnding && pending_.empty() && !ranks_.empty()) {
    BeginNext(view, &effects);
    if (effects.end.has_value()) return effects;
  }
  if (state_ == State::kLevelling && levels_.size() == ranks_.size()) {
    const absl::Status level = CheckLevels();
    if (!level.ok()) return EndWith(level);
    state_ = State::kSettling;
  }
  if (state_ == State::kSettling && Settled(view)) {
    state_ = State::kSteady;
    effects.progress = true;
    Log(LogLevel::kInfo,
        absl::StrCat("the job goes on with ", Counted(ranks_.size(), "worker"),
                     ", ",
                     absl::FormatDuration(absl::Trunc(
                         view.now - *changing_since_, absl::Milliseconds(1))),
                     " after the workers changed"),
        &effects.actions);
    changing_since_.reset();
  }
  return effects;
}

uint32_t JobGenerations::BackupWorkers(CoordinatorActions* actions) {
  const auto most = static_cast<uint32_t>(ranks_.size()) - 1;
  const uint32_t backup = std::min(backup_workers_, most);
  if (backup != std::exchange(newest_backup_, backup)) {
    Log(LogLevel::kWarn,
        absl::StrCat("with ", Counted(ranks_.size(), "worker"),
                     ", a step does without ", backup,
                     " of them at most (--backup_workers=", backup_workers_,
                     ")"),
        actions);
  }
  return backup;
}

void JobGenerations::BeginNext(const View& view, JobEffects* effects) {
  if (view.steps != nullptr) {
    BeginSteps(view, effects);
  } else {
    EndLeases(view, effects);
  }
  if (effects->end.has_value()) return;
  lost_.clear();
  for (CoordinatorAction& action : view.start.SendViewToWorkers(
           {view.membership, view.phase, number_})) {
    effects->actions.push_back(std::move(action));
  }
  state_ = ring_ ? State::kLevelling : State::kSettling;
}

void JobGenerations::BeginSteps(const View& view, JobEffects* effects) {
  SHOAL_DCHECK(!steps_.empty());
  const auto& [first, steps] = *steps_.begin();
  for (const auto& [ps, other] : steps_) {
    if (other == steps) continue;
    *effects = EndWith(absl::DataLossError(absl::StrCat(
        ProcessName(Role::kPs, ps), " has applied ", Counted(other, "step"),
        ", ", ProcessName(Role::kPs, first), " ", steps,
        ": their weights are not of one state. Start the job again: it goes on "
        "from its newest checkpoint, if there is one")));
    return;
  }
  GenerationBegan began{number_, {}, view.newest_lease};
  for (const JobRank& rank : ranks_) began.workers.push_back(rank.life);
  view.steps->BeginGeneration(began.workers, BackupWorkers(&effects->actions),
                              steps);
  for (const Member& ps : view.membership.Open(Role::kPs)) {
    Send(ps, began, &effects->actions);
  }
}

void JobGenerations::EndLeases(const View& view, JobEffects* effects) {
  GenerationBegan began{number_, {}, view.newest_lease};
  for (const JobRank& rank : ranks_) began.workers.push_back(rank.life);
  for (const Member& ps : view.membership.Open(Role::kPs)) {
    if (ps.in_rank) continue;  // it may get a step of an older lease
    pending_.insert(ps.life);
    Send(ps, began, &effects->actions);
  }
}

absl::Status JobGenerations::CheckLevels() const {
  const JobRank& first = ranks_.front();
  for (const JobRank& rank : ranks_) {
    if (levels_.at(rank.life) == levels_.at(first.life)) continue;
    return absl::DataLossError(absl::StrCat(
        ReplicasDiffer(ps_.replicated, first.index, rank.index), " batches: ",
        levels_.at(first.life), " and ", levels_.at(rank.life), ". ",
        kReplicasDifferAdvice));
  }
  return absl::OkStatus();
}

bool JobGenerations::HasMarks(const JobRank& rank, const View& view) const {
  return view.book.MarkedBy(ps_.MemberFor(ps_.replicated, rank.index)) ==
         levels_.at(rank.life);
}

bool JobGenerations::Settled(const View& view) const {
  if (!pending_.empty()) return false;
  if (ring_) {
    return std::all_of(
        ranks_.begin(), ranks_.end(),
        [&](const JobRank& rank) { return HasMarks(rank, view); });
  }
  return view.steps == nullptr || view.steps->Settled(view.book);
}

void JobGenerations::Fill(JobReport* report) const {
  report->generations = number_;
  report->ranks_lost = ranks_lost_;
}

std::string JobGenerations::WaitingFor(const View& view) const {
  std::vector<std::string> names;
  switch (state_) {
    case State::kSteady:
      return "";
    case State::kEnding:
      for (const Life& life : pending_) {
        const Member* const member = view.membership.FindLife(life);
        if (member != nullptr) names.push_back(member->Name());
      }
      if (names.empty()) return "the job waits for a worker";
      return absl::StrCat("the workers change: ", absl::StrJoin(names, ", "),
                          " did not end the step that was open");
    case State::kLevelling:
      for (const JobRank& rank : ranks_) {
        if (levels_.count(rank.life) == 0) {
          names.push_back(WorkerName(rank.index));
        }
      }
      return absl::StrCat("the workers change: ", absl::StrJoin(names, ", "),
                          " did not join the new ring");
    case State::kSettling:
      for (const JobRank& rank : ranks_) {
        if (ring_ && !HasMarks(rank, view)) {
          names.push_back(WorkerName(rank.index));
        }
      }
      for (const Life& life : pending_) {
        const Member* const member = view.membership.FindLife(life);
        if (member != nullptr) names.push_back(member->Name());
      }
      if (names.empty()) names.push_back("servers");
      return absl::StrCat("the workers change: ", absl::StrJoin(names, ", "),
                          " did not report all batches");
  }
  return "";
}

}  // namespace shoal
