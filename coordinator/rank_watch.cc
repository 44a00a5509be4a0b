#include "coordinator/rank_watch.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/rank_board.h"
#include "core/registration.h"

namespace shoal {
namespace {

std::string Rounded(absl::Duration span) {
  return absl::FormatDuration(absl::Trunc(span, absl::Milliseconds(100)));
}

}  // namespace

RankWatch::RankWatch(absl::Duration stall_after)
    : stall_after_(stall_after), next_(stall_after) {}

void RankWatch::OnHeartbeat(Life worker, const RankStanding& standing,
                            absl::Time now) {
  standings_[worker] = {standing, now};
}

void RankWatch::OnNewRanks() {
  for (auto& [life, told] : standings_) told.standing.waits_for = -1;
}

std::string RankWatch::Of(const JobRank& rank, absl::Span<const JobRank> ranks,
                          absl::Time now) const {
  const std::string text = ProcessName(Role::kWorker, rank.index);
  const auto it = standings_.find(rank.life);
  const Told told = it == standings_.end() ? Told{{}, now} : it->second;
  std::string waits_for;
  const int other = told.standing.waits_for;
  if (other >= 0 && static_cast<size_t>(other) < ranks.size()) {
    waits_for =
        ProcessName(Role::kWorker, ranks[static_cast<size_t>(other)].index);
  }
  return absl::StrCat(
      text, " ", StandingText(told.standing, waits_for, now - told.when));
}

std::string RankWatch::Standings(absl::Span<const JobRank> ranks,
                                 absl::Time now) const {
  std::vector<std::string> parts;
  for (const JobRank& rank : ranks) parts.push_back(Of(rank, ranks, now));
  return absl::StrJoin(parts, "; ");
}

std::optional<std::string> RankWatch::Stall(uint64_t batches, bool trains,
                                            absl::Span<const JobRank> ranks,
                                            absl::Time now) {
  if (!trains || batches != batches_ || !since_.has_value()) {
    batches_ = batches;
    since_ = now;
    next_ = stall_after_;
    return std::nullopt;
  }
  const absl::Duration stalled = now - *since_;
  if (stall_after_ <= absl::ZeroDuration() || stalled < next_) {
    return std::nullopt;
  }
  while (next_ <= stalled) next_ *= 2;
  return absl::StrCat("no batch was trained for ", Rounded(stalled), ": ",
                      Standings(ranks, now));
}

}  // namespace shoal
