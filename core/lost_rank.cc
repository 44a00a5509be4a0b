#include "core/lost_rank.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "base/check.h"

namespace shoal {
namespace {

constexpr char kUrl[] = "shoal/lost-rank";

}  // namespace

absl::Status WithLostRank(absl::Status status, int rank) {
  SHOAL_DCHECK(!status.ok());
  status.SetPayload(kUrl, absl::Cord(absl::StrCat(rank)));
  return status;
}

int LostRankOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kUrl);
  int rank = -1;
  if (!payload.has_value() ||
      !absl::SimpleAtoi(std::string(*payload), &rank)) {
    return -1;
  }
  return rank;
}

}  // namespace shoal
