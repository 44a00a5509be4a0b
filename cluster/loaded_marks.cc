#include "cluster/loaded_marks.h"

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/mark.h"
#include "core/registration.h"

namespace shoal {
namespace {

bool Follows(const MarkRun& last, const MarkRun& next) {
  return std::make_tuple(last.epoch, last.piece, last.end) <=
         std::make_tuple(next.epoch, next.piece, next.begin);
}

}  // namespace

absl::Status LoadedMarks::AddShard(int shard, const MarkTotals& marks) {
  for (const auto& [other, others] : shards_) {
    if (others == marks) continue;
    return absl::DataLossError(
        absl::StrCat(ProcessName(Role::kPs, shard),
                     " has loaded the marks of other batches "
                     "than ",
                     ProcessName(Role::kPs, other),
                     " has: their files are not of one checkpoint"));
  }
  shards_[shard] = marks;
  return absl::OkStatus();
}

void LoadedMarks::Drop(int shard) {
  shards_.erase(shard);
  if (source_ != shard) return;
  LoadedMarks others(static_cast<int>(num_shards_), wanted_);
  others.shards_ = std::move(shards_);
  *this = std::move(others);
}

std::optional<MarkRunsRequest> LoadedMarks::Ask() {
  if (!wanted_ || shards_.empty() || asked_ || whole_) return std::nullopt;
  source_ = source();
  asked_ = true;
  return MarkRunsRequest{runs_.size()};
}

absl::Status LoadedMarks::Add(int shard, MarkRuns part) {
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        ProcessName(Role::kPs, shard), " sent the runs ", part.offset, " to ",
        part.offset + part.runs.size(), " of its marks, ", what));
  };
  if (!asked_ || source_ != shard) return bad("for which it was not asked");
  if (part.offset != runs_.size()) {
    return bad(absl::StrCat("where ", runs_.size(), " were there"));
  }
  for (const MarkRun& run : part.runs) {
    if (run.begin >= run.end ||
        (!runs_.empty() && !Follows(runs_.back(), run))) {
      return bad("which are out of order");
    }
    (run.verdict == Verdict::kApplied ? counted_.applied : counted_.rejected) +=
        run.end - run.begin;
    runs_.push_back(run);
  }
  asked_ = false;
  whole_ = !part.more;
  const MarkTotals& told = shards_.at(shard);
  if (whole_ && (counted_.applied != told.applied ||
                 counted_.rejected != told.rejected)) {
    return absl::DataLossError(
        absl::StrCat(ProcessName(Role::kPs, shard), " sent ", counted_.applied,
                     " + ", counted_.rejected, " marks, and has ", told.applied,
                     " + ", told.rejected));
  }
  return absl::OkStatus();
}

}  // namespace shoal
