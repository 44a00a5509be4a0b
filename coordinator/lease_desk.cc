#include "coordinator/lease_desk.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace shoal {

absl::Status LeaseDesk::Ask(const Member& worker) {
  if (waiting_.Count(worker.life) >= kMaxRequests) {
    return absl::ResourceExhaustedError(
        absl::StrCat(worker.Name(), " has ", kMaxRequests,
                     " lease requests waiting and sent another"));
  }
  waiting_.Ask(worker.life);
  return absl::OkStatus();
}

void LeaseDesk::Serve(
    const Membership& membership, PieceLeases* table, absl::Time now,
    absl::FunctionRef<void(const Member& worker, const HeldLease&)> give) {
  Wake(table);
  while (!waiting_.empty() && !table->NothingToTake(now)) {
    const std::optional<Life> life = waiting_.Next();
    if (!life.has_value()) break;
    const Member* const worker = membership.FindLife(*life);
    if (worker == nullptr || !worker->open()) {
      waiting_.Forget(*life);
      continue;
    }
    if (worker->suspended) {
      waiting_.PutBack(*life);
      continue;
    }
    const int host =
        table->has_hosts() ? membership.files().HostOf(worker->index) : 0;
    const std::optional<HeldLease> held =
        table->Take(*life, host, next_number_, now);
    if (held.has_value()) {
      ++next_number_;
      waiting_.Forget(*life);
      give(*worker, *held);
    } else if (table->has_hosts()) {
      waiting_.Park(*life, host);
    } else {
      waiting_.PutBack(*life);
    }
    // A piece that this worker could not get may be for another host.
    Wake(table);
  }
  waiting_.Retry();
}

void LeaseDesk::Wake(PieceLeases* table) {
  for (const int host : table->TakeNews()) {
    if (host == PieceLeases::kEveryHost) {
      waiting_.WakeAll();
    } else {
      waiting_.Wake(host);
    }
  }
}

}  // namespace shoal
