#include "worker/train/sync_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/mark.h"
#include "core/pushed_batch.h"

namespace shoal {
namespace {

// Pause before a push is sent again to a shard that said ABORTED while another
// shard has the push.
constexpr absl::Duration kPause = absl::Milliseconds(5);

using Answer = absl::StatusOr<PushReply>;

// What became of the batch, by the answers of all shards.
absl::StatusOr<StepEnd> EndOf(const std::vector<Answer>& answers) {
  size_t aborted = 0;
  size_t dropped = 0;
  absl::Status late;  // DEADLINE_EXCEEDED: the push waits for its step there
  for (const Answer& answer : answers) {
    if (answer.ok()) {
      dropped += answer->dropped;
    } else if (absl::IsAborted(answer.status())) {
      ++aborted;
    } else if (absl::IsDeadlineExceeded(answer.status())) {
      late.Update(answer.status());
    } else {
      return answer.status();
    }
  }
  // Only now, since another server's error may be the reason to wait.
  if (!late.ok()) return late;
  if (dropped > 0) return StepEnd::kDropped;
  if (aborted > 0) {
    const absl::Status& first =
        std::find_if(answers.begin(), answers.end(),
                     [](const Answer& answer) { return !answer.ok(); })
            ->status();
    if (aborted == answers.size()) return first;
    return absl::UnavailableError(
        absl::StrCat(first.message(), ", but other servers have the push"));
  }
  return answers[0]->verdict == Verdict::kApplied ? StepEnd::kApplied
                                                  : StepEnd::kRejected;
}

}  // namespace

// One Finish. The trainer, and so the exchange, lives as long as `done`.
struct SyncExchange::Push {
  TrainStep* step = nullptr;
  PushedBatch batch;
  std::vector<Answer> answers;  // by shard; the newest
  size_t missing = 0;           // shards that have the push and did not answer
  Done<StepEnd> done;
};

void SyncExchange::Finish(TrainStep* step, Done<StepEnd> done) {
  auto push = std::make_shared<Push>();
  push->step = step;
  push->batch = {
      .id = step->batch.id,
      .lease = step->lease,
      .examples = static_cast<uint32_t>(step->batch.examples.size()),
      .rejected = step->parameters.rejected};
  push->done = std::move(done);
  const int shards = client_->map().num_shards;
  push->answers.resize(shards, absl::UnknownError("no answer yet"));
  push->missing = push->answers.size();
  for (int s = 0; s < shards; ++s) Send(push, s);
}

void SyncExchange::Send(std::shared_ptr<Push> push, int shard) {
  ++in_flight_;
  const StepParameters& parameters = push->step->parameters;
  const PushedBatch& batch = push->batch;
  client_->PushToShard(
      shard, parameters.step + 1, batch, parameters,
      [this, shard, push = std::move(push)](Answer answer) mutable {
        OnAnswer(std::move(push), shard, std::move(answer));
      });
}

void SyncExchange::OnAnswer(std::shared_ptr<Push> push, int shard,
                            Answer answer) {
  --in_flight_;
  const bool aborted = absl::IsAborted(answer.status());
  push->answers[shard] = std::move(answer);
  if (--push->missing == 0) {
    std::move(push->done)(EndOf(push->answers));
    if (retired_ != nullptr && in_flight_ == 0) EndRetire();
    return;
  }
  if (!aborted || over_) return;
  client_->executor()->PostAfter(
      kPause, [this, shard, push = std::move(push)]() mutable {
        if (push->missing == 0 || over_) return;
        ++push->missing;
        Send(std::move(push), shard);
      });
}

void SyncExchange::Retire(Retired done) {
  over_ = true;
  retired_ = std::move(done);
  if (in_flight_ == 0) EndRetire();
}

void SyncExchange::EndRetire() {
  client_->executor()->Post(
      [done = std::exchange(retired_, nullptr)]() mutable {
        std::move(done)(nullptr);
      });
}

void SyncExchange::Cancel() {
  over_ = true;
  retired_ = nullptr;
}

}  // namespace shoal
