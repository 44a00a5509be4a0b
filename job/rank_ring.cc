#include "job/rank_ring.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<RankRing>> RankRing::Open(
    const std::string& host, TcpRingOptions options) {
  std::unique_ptr<RankRing> ring(new RankRing(host, std::move(options)));
  SHOAL_RETURN_IF_ERROR(ring->NextAddress().status());
  SHOAL_ASSIGN_OR_RETURN(ring->first_, ring->port_->Copy());
  return ring;
}

absl::StatusOr<std::string> RankRing::NextAddress() {
  SHOAL_ASSIGN_OR_RETURN(
      RingPort port, RingPort::Open(absl::StrCat(host_, ":0"), options_.token));
  address_ = port.address();
  port_ = std::move(port);
  return address_;
}

absl::StatusOr<std::unique_ptr<Collective>> RankRing::Join(
    const ClusterView& view, const Life& own, Executor* executor) {
  const size_t size = view.ranks.size();
  size_t rank = 0;
  while (rank < size && view.ranks[rank].life != own) ++rank;
  if (rank == size) {
    return absl::FailedPreconditionError(
        absl::StrCat("the life ", ToString(own), " of this process is none of ",
                     "the ", size, " ranks of the job's ring"));
  }
  if (!port_.has_value() || view.ranks[rank].ring_address != address_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "rank ", rank, " is to join a ring by the port ",
        view.ranks[rank].ring_address, ", but ",
        port_.has_value() ? absl::StrCat("it has the port ", address_)
                          : "that port has a ring already"));
  }
  TakeNames(view);
  TcpRingOptions options = options_;
  options.rank = static_cast<int>(rank);
  options.size = static_cast<int>(size);
  options.next = view.ranks[(rank + 1) % size].ring_address;
  options.start = own.start;
  options.generation = view.generation;
  for (int r = 0; r < options.size; ++r) options.names.push_back(NameOf(r));
  RingPort port = *std::move(port_);
  port_.reset();
  SHOAL_ASSIGN_OR_RETURN(
      std::unique_ptr<TcpRing> ring,
      TcpRing::Start(std::move(port), std::move(options), executor));
  return std::unique_ptr<Collective>(std::move(ring));
}

void RankRing::TakeNames(const ClusterView& view) {
  if (view.generation == 1) {
    for (const RankInfo& rank : view.ranks) workers_.push_back(rank.life);
  }
  std::vector<std::string> names;
  for (const RankInfo& rank : view.ranks) {
    const auto worker = std::find(workers_.begin(), workers_.end(), rank.life);
    names.push_back(worker == workers_.end()
                        ? absl::StrCat("rank ", names.size())
                        : absl::StrCat("worker ", worker - workers_.begin()));
  }
  MutexLock lock(&mu_);
  names_ = std::move(names);
}

std::string RankRing::NameOf(int rank) const {
  MutexLock lock(&mu_);
  const auto r = static_cast<size_t>(rank);
  return r < names_.size() ? names_[r] : absl::StrCat("rank ", rank);
}

}  // namespace shoal
