#include "tests/sim/simulated_shard.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

constexpr absl::Duration kMarkInterval = absl::Milliseconds(50);
constexpr int kMarksABeat = 20;  // a heartbeat a second

}  // namespace

void SimulatedShard::Start() {
  RegisterRequest request;
  request.job = "sim";
  request.role = Role::kPs;
  request.index = index_;
  request.address = absl::StrCat("sim:", index_);
  cluster_->Register(
      request, absl::Seconds(5), [this](absl::StatusOr<RegisterReply> reply) {
        if (!reply.ok()) {
          executor_->PostAfter(absl::Seconds(1), [this] { Start(); });
          return;
        }
        SessionHandler handler;
        handler.on_message = [this](CoordinatorMessage m) { OnMessage(m); };
        handler.on_end = [this](absl::Status) { session_ = nullptr; };
        session_ = cluster_->OpenSession({reply->life}, std::move(handler));
        Beat();
      });
}

void SimulatedShard::OnMessage(CoordinatorMessage message) {
  if (std::holds_alternative<ReportShard>(message)) {
    SendMarks();
    reported_ = true;
    report_book_ = book_;
    session_->Send(ShardReport{});
  } else if (std::holds_alternative<JobEnd>(message)) {
    heard_end_ = true;
    session_->Send(Bye{});
  }
}

void SimulatedShard::Beat() {
  if (session_ == nullptr || heard_end_) return;
  if (beats_++ % kMarksABeat == 0) session_->Send(Heartbeat{});
  if (!reported_) SendMarks();
  executor_->PostAfter(kMarkInterval, [this] { Beat(); });
}

void SimulatedShard::SendMarks() {
  session_->Send(delta_);
  delta_.marks.clear();
}

void SimulatedShard::Push(const SimulatedPush& push) {
  const bool marked = book_.canaries.count(push.batch) != 0;
  book_.all_leases[push.batch].insert(push.lease);
  const bool repeat =
      kind_ == ShardKind::kBySenderAndSequence
          ? !sequences_.insert({push.sender, push.sequence}).second
          : marked;
  if (repeat) {
    ++book_.repeats_refused;
    delta_.repeats_refused = book_.repeats_refused;
    if (push.lease != book_.leases[push.batch] &&
        repeats_told_.insert({push.batch, push.lease}).second) {
      delta_.marks.push_back({push.batch, push.verdict, push.lease, true});
    }
    return;
  }
  ++book_.canaries[push.batch];
  if (marked) return;  // the planted bug tells of a batch once, too
  book_.leases[push.batch] = push.lease;
  if (kind_ == ShardKind::kForgetsMarks && ++marks_made_ % 50 == 0) return;
  delta_.marks.push_back({push.batch, push.verdict, push.lease, false});
}

}  // namespace shoal
