#include "coordinator/rank_watch.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

std::string RankWatch::Of(const JobRank& rank, absl::Span<const JobRank> ranks,
                          absl::Time now) const {
  std::string text = ProcessName(Role::kWorker, rank.index);
  const auto it = standings_.find(rank.life);
  if (it == standings_.end() || it->second.standing.phase.empty()) {
    return absl::StrCat(text, " has not told what it does");
  }
  const auto& [standing, when] = it->second;
  if (standing.step != 0) absl::StrAppend(&text, " at step ", standing.step);
  absl::StrAppend(&text, " ", standing.phase);
  if (!standing.tensor.empty()) absl::StrAppend(&text, " ", standing.tensor);
  absl::StrAppend(
      &text, " for ",
      Rounded(absl::Seconds(standing.seconds) + (now - when)));
  const int other = standing.waits_for;
  if (other >= 0 && static_cast<size_t>(other) < ranks.size()) {
    absl::StrAppend(&text, ", and nothing comes from ",
                    ProcessName(Role::kWorker,
                                ranks[static_cast<size_t>(other)].index));
  }
  return text;
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
