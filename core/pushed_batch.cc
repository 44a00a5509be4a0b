#include "core/pushed_batch.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace shoal {

absl::Status CheckPushedBatches(absl::Span<const PushedBatch> batches) {
  if (batches.size() == 1) return absl::OkStatus();
  if (batches.empty()) {
    return absl::InvalidArgumentError("the push names no batch");
  }
  if (batches.size() > kMaxPushedBatches) {
    return absl::InvalidArgumentError(
        absl::StrCat("the push names ", batches.size(),
                     " batches; a push has at most ", kMaxPushedBatches));
  }
  std::vector<BatchId> ids;
  ids.reserve(batches.size());
  for (const PushedBatch& batch : batches) ids.push_back(batch.id);
  std::sort(ids.begin(), ids.end());
  const auto repeat = std::adjacent_find(ids.begin(), ids.end());
  if (repeat != ids.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the push names batch ", ToString(*repeat), " twice"));
  }
  return absl::OkStatus();
}

bool AllRejected(absl::Span<const PushedBatch> batches) {
  return std::all_of(batches.begin(), batches.end(),
                     [](const PushedBatch& batch) { return batch.rejected; });
}

std::string ToString(absl::Span<const PushedBatch> batches) {
  SHOAL_DCHECK(!batches.empty());
  const std::string first = ToString(batches[0].id);
  if (batches.size() == 1) return absl::StrCat("batch ", first);
  return absl::StrCat("batches ", first, " and ", batches.size() - 1, " more");
}

}  // namespace shoal
