#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/coordinator_state.h"
#include "coordinator/lane_ranks.h"

namespace shoal {
namespace {

constexpr absl::string_view kNoRanks =
    "this job has no workers that change, or has not begun";

}  // namespace

// ---- Messages ---------------------------------------------------------------

absl::Status CoordinatorState::On(const Member& from,
                                  GenerationReady& message) {
  if (!generations_) return absl::InvalidArgumentError(kNoRanks);
  SHOAL_RETURN_IF_ERROR(Take(generations_->OnReady(from, message)));
  if (from.role == Role::kWorker && !message.ring_address.empty()) {
    membership_.SetRingAddress(from.life, std::move(message.ring_address));
  }
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, ReplicaLevel& message) {
  if (!generations_) return absl::InvalidArgumentError(kNoRanks);
  return Take(generations_->OnLevel(from, message));
}

absl::Status CoordinatorState::On(const Member& from, RingBroken& message) {
  if (!generations_) return absl::InvalidArgumentError(kNoRanks);
  if (phase_ >= JobPhase::kReporting) return absl::OkStatus();
  return Take(generations_->OnBroken(from, message, GenerationsView()));
}

// ---- Losses -----------------------------------------------------------------

void CoordinatorState::LoseRank(const MemberLoss& loss) {
  const bool ends_generation = IsRankLoss(loss.member, phase_, options_.lanes);
  const std::vector<Member> process =
      MembersOfProcess(loss.member, membership_, options_.ps);
  const std::string stood =
      rank_watch_.Standings(generations_->ranks(), clock_.now());
  for (const Member& member : process) {
    if (ends_generation && member.role == Role::kWorker) {
      generations_->OnLost(member);
    }
    Forget(member, loss.why);
  }
  if (ends_generation && loss.member.Process() == options_.process) {
    return Perform(EndWithLoss(
        absl::UnavailableError(absl::StrCat(loss.member.Name(), " ", loss.how,
                                            "; it coordinates the job")),
        loss.member.Process()));
  }
  if (CopiesLost()) {
    return Perform(EndWithLoss(
        absl::UnavailableError(absl::StrCat(
            loss.member.Name(), " ", loss.how,
            "; no other worker has a copy of the variables that it held")),
        loss.member.Process()));
  }
  Perform(AfterLoss(loss, phase_, clock_.LeftToStart(),
                    HostLeftAlone(process.front(), membership_),
                    options_.lanes));
  if (!ends_generation || phase_ >= JobPhase::kReporting) return;
  Log(LogLevel::kWarn, absl::StrCat("when it was lost: ", stood), &actions_);
  if (Leases(phase_)) WarnOfMissingWorkers("the job goes on");
}

bool CoordinatorState::CopiesLost() const {
  if (options_.ps.replicated < 0 || phase_ >= JobPhase::kEnding) return false;
  const MembersView all = membership_.Open(Role::kPs);
  return std::none_of(all.begin(), all.end(),
                      [](const Member& ps) { return ps.in_rank; });
}

// ---- The change of ranks ----------------------------------------------------

void CoordinatorState::StepGenerations() {
  if (!generations_ || phase_ >= JobPhase::kReporting) return;
  if (generations_->EndIsDue(clock_.now(), saves_.holds())) ChangeRanks();
  if (phase_ < JobPhase::kReporting) {
    Perform(generations_->Step(GenerationsView()));
  }
}

void CoordinatorState::ChangeRanks() {
  Perform(saves_.Interrupt(SavesView()));
  work_.Regroup(LaneRanksOf(membership_));
  Perform(generations_->End(GenerationsView()));
  rank_watch_.OnNewRanks();
  clock_.SeeProgress();
}

void CoordinatorState::WatchRanks() {
  if (!generations_) return;
  const bool trains = phase_ == JobPhase::kTraining && !saves_.holds();
  const auto stall =
      rank_watch_.Stall(work_.book().totals().batches, trains,
                        generations_->ranks(), clock_.now());
  if (!stall.has_value()) return;
  const std::string waits = WaitingFor();
  Log(LogLevel::kWarn,
      absl::StrCat(*stall, waits.empty() ? "" : absl::StrCat("; ", waits)),
      &actions_);
}

std::string CoordinatorState::WaitingFor() {
  if (!Steady()) return generations_->WaitingFor(GenerationsView());
  return steps_ ? steps_->WaitingFor(StepsView()) : "";
}

bool CoordinatorState::AllReported() const {
  const MembersView all = membership_.Open(Role::kPs);
  return !all.empty() &&
         std::all_of(all.begin(), all.end(), [this](const Member& ps) {
           return progress_.reported(ps.index);
         });
}

JobGenerations::View CoordinatorState::GenerationsView() {
  return {membership_, work_.book(), start_, phase_, clock_.now(),
          steps_.has_value() ? &*steps_ : nullptr,
          work_.desk().newest_number()};
}

}  // namespace shoal
