#include "job/joined_end.h"

#include <utility>

#include "base/check.h"

namespace shoal {
namespace {

bool SaysMore(const MemberEnd& a, const MemberEnd& b) {
  if (a.job_over != b.job_over) return a.job_over;
  if (a.left_behind != b.left_behind) return a.left_behind;
  return !a.status.ok() && b.status.ok();
}

}  // namespace

JoinedEnd::JoinedEnd(int parts) : left_(parts) { SHOAL_DCHECK(parts >= 1); }

std::optional<MemberEnd> JoinedEnd::Add(MemberEnd end) {
  SHOAL_DCHECK(left_ > 0);
  if (!end_.has_value() || SaysMore(end, *end_)) end_ = std::move(end);
  if (--left_ > 0) return std::nullopt;
  return end_;
}

}  // namespace shoal
