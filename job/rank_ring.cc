#include "job/rank_ring.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {

absl::StatusOr<RankRing> RankRing::Open(const std::string& host,
                                        TcpRingOptions options) {
  SHOAL_ASSIGN_OR_RETURN(
      RingPort port, RingPort::Open(absl::StrCat(host, ":0"), options.token));
  return RankRing(std::move(port), std::move(options));
}

RankRing::RankRing(RingPort port, TcpRingOptions options)
    : options_(std::move(options)),
      address_(port.address()),
      port_(std::move(port)) {}

absl::StatusOr<std::unique_ptr<Collective>> RankRing::Join(
    const ClusterView& view, Executor* executor) {
  const auto rank = static_cast<size_t>(options_.rank);
  if (rank >= view.ranks.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the job's ring has ", view.ranks.size(),
                     " ranks, and this is rank ", rank));
  }
  if (!port_.has_value() || view.ranks[rank].ring_address != address_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "rank ", rank,
        " has been in a ring before, and cannot join another; start the job "
        "again"));
  }
  TcpRingOptions options = options_;
  options.size = static_cast<int>(view.ranks.size());
  options.next = view.ranks[(rank + 1) % view.ranks.size()].ring_address;
  options.generation = view.ranks[rank].life.start;
  RingPort port = *std::move(port_);
  port_.reset();
  SHOAL_ASSIGN_OR_RETURN(
      std::unique_ptr<TcpRing> ring,
      TcpRing::Start(std::move(port), std::move(options), executor));
  return std::unique_ptr<Collective>(std::move(ring));
}

}  // namespace shoal
