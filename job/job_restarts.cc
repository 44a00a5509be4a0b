#include "job/job_restarts.h"

#include "base/check.h"

namespace shoal {

JobRestarts::JobRestarts(int most, std::optional<uint64_t> newest)
    : most_(most), newest_(newest) {
  SHOAL_DCHECK(most >= 0);
}

std::optional<int> JobRestarts::OnEnd(Ending ending,
                                      std::optional<uint64_t> newest) {
  if (ending == Ending::kOver) return std::nullopt;
  if (ending == Ending::kNotBegun && total_ == 0) return std::nullopt;
  // nullopt is less than any step. A checkpoint that cannot be read now does
  // not count as a newer one later.
  if (newest > newest_) {
    newest_ = newest;
    used_ = 0;
  }
  if (used_ == most_) return std::nullopt;
  ++total_;
  return ++used_;
}

}  // namespace shoal
