#include "bench/compare/time_left.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace shoal {

void TimeLeft::OnRun(absl::Duration took, bool again) {
  ++seen_;
  took_ += took;
  if (!again) ++done_;
}

absl::Duration TimeLeft::left() const {
  const absl::Duration one = seen_ == 0 ? first_guess_ : took_ / seen_;
  return one * std::max(0, runs_ - done_);
}

std::string TimeLeft::Text(absl::Duration besides) const {
  const absl::Duration time = left() + besides;
  const std::string about =
      time < absl::Minutes(2)
          ? absl::StrCat(absl::ToInt64Seconds(time), " s")
          : absl::StrCat(absl::ToInt64Minutes(time + absl::Seconds(30)),
                         " min");
  return absl::StrCat("run ", std::min(done_ + 1, runs_), " of ", runs_,
                      ", about ", about, " left");
}

}  // namespace shoal
