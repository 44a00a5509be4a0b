#include "core/rank_board.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace shoal {

std::string StandingText(const RankStanding& standing,
                         absl::string_view waits_for,
                         absl::Duration since_told) {
  if (standing.phase.empty()) return "has not told what it does";
  std::string text;
  if (standing.step != 0) text = absl::StrCat("at step ", standing.step, " ");
  absl::StrAppend(&text, standing.phase);
  if (!standing.tensor.empty()) absl::StrAppend(&text, " ", standing.tensor);
  absl::StrAppend(
      &text, " for ",
      absl::FormatDuration(absl::Trunc(
          absl::Seconds(standing.seconds) + since_told,
          absl::Milliseconds(100))));
  if (!waits_for.empty()) {
    absl::StrAppend(&text, ", and nothing comes from ", waits_for);
  }
  return text;
}

void RankBoard::SetStep(uint64_t step) { step_ = step; }

void RankBoard::SetRound(uint32_t buckets, bool rows) {
  buckets_ = buckets;
  rows_ = rows;
}

void RankBoard::WaitFor(uint32_t index, int rank) {
  waits_ = uint64_t{index} << 32 | (static_cast<uint32_t>(rank) + 1);
}

void RankBoard::WaitForNone() { waits_ = 0; }

RankStanding RankBoard::Read(absl::Time now) const {
  RankStanding standing;
  standing.step = step_;
  const uint64_t waits = waits_;
  const uint32_t index = static_cast<uint32_t>(waits >> 32);
  const int rank = static_cast<int>(waits & 0xffffffff) - 1;
  const uint32_t buckets = buckets_;
  const Phase between = exchange_.phase;
  const Place& place = between == Phase::kNone ? trainer_ : exchange_;
  switch (place.phase.load()) {
    case Phase::kNone:
      return standing;
    case Phase::kLease:
      standing.phase = "waits for a lease";
      break;
    case Phase::kReads:
      standing.phase = "reads";
      break;
    case Phase::kComputes:
      standing.phase = "computes";
      break;
    case Phase::kEvaluates:
      standing.phase = "evaluates";
      break;
    case Phase::kHeld:
      standing.phase = "is held for a checkpoint";
      break;
    case Phase::kApplies:
      standing.phase = "applies";
      break;
    case Phase::kPushesRows:
      standing.phase = "pushes";
      standing.tensor = "rows to the servers";
      break;
    case Phase::kConfirms:
      standing.phase = "confirms";
      standing.tensor = "rows";
      standing.waits_for = rank;
      break;
    case Phase::kLevels:
      standing.phase = "levels";
      standing.waits_for = rank;
      break;
    case Phase::kRound:
      // The parts are gathered after the buckets. Sums after that are those of
      // a step with a rejected batch, in which the buckets are summed again.
      if (rank >= 0 && index == buckets) {
        standing.phase = "gathers";
        standing.tensor = rows_ ? "rows" : "batches";
      } else {
        standing.phase = "sums";
        if (rank >= 0 && buckets > 0) {
          const uint32_t bucket = index < buckets ? index : index - buckets - 1;
          standing.tensor = absl::StrCat("dense bucket ", bucket + 1, " of ",
                                         buckets);
        }
      }
      standing.waits_for = rank;
      break;
  }
  standing.seconds = std::max(
      0.0, absl::ToDoubleSeconds(now - absl::FromUnixNanos(place.since)));
  return standing;
}

}  // namespace shoal
