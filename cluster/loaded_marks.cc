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

absl::Status LoadedMarks::AddMember(int member, const MarkTotals& marks) {
  for (const auto& [other, others] : members_) {
    if (others == marks) continue;
    return absl::DataLossError(
        absl::StrCat(ProcessName(Role::kPs, member),
                     " has loaded the marks of other batches "
                     "than ",
                     ProcessName(Role::kPs, other),
                     " has: their files are not of one checkpoint"));
  }
  members_[member] = marks;
  return absl::OkStatus();
}

void LoadedMarks::Drop(int member) {
  members_.erase(member);
  if (source_ != member) return;
  LoadedMarks others(static_cast<int>(num_members_), wanted_);
  others.members_ = std::move(members_);
  *this = std::move(others);
}

std::optional<MarkRunsRequest> LoadedMarks::Ask() {
  if (!wanted_ || members_.empty() || asked_ || whole_) return std::nullopt;
  source_ = source();
  asked_ = true;
  return MarkRunsRequest{runs_.size()};
}

absl::Status LoadedMarks::Add(int member, MarkRuns part) {
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        ProcessName(Role::kPs, member), " sent the runs ", part.offset, " to ",
        part.offset + part.runs.size(), " of its marks, ", what));
  };
  if (!asked_ || source_ != member) return bad("for which it was not asked");
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
  const MarkTotals& told = members_.at(member);
  if (whole_ && (counted_.applied != told.applied ||
                 counted_.rejected != told.rejected)) {
    return absl::DataLossError(
        absl::StrCat(ProcessName(Role::kPs, member), " sent ", counted_.applied,
                     " + ", counted_.rejected, " marks, and has ", told.applied,
                     " + ", told.rejected));
  }
  return absl::OkStatus();
}

}  // namespace shoal
