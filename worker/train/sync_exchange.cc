#include "worker/train/sync_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/mark.h"
#include "core/pushed_batch.h"

namespace shoal {
namespace {

using PushAnswer = absl::StatusOr<PushReply>;

// What became of the batch, by the answers of all shards.
absl::StatusOr<StepEnd> EndOf(const BatchId& batch,
                              const ShardedClient::PushAnswers& answers) {
  size_t aborted = 0;
  size_t dropped = 0;
  for (const PushAnswer& answer : answers) {
    if (answer.ok()) {
      dropped += answer->dropped;
    } else if (absl::IsAborted(answer.status())) {
      ++aborted;
    } else {
      return answer.status();
    }
  }
  if (aborted > 0) {
    const absl::Status& first =
        std::find_if(answers.begin(), answers.end(),
                     [](const PushAnswer& answer) { return !answer.ok(); })
            ->status();
    if (aborted == answers.size()) return first;
    return absl::UnavailableError(
        absl::StrCat(first.message(), ", but other servers have the push"));
  }
  if (dropped == answers.size()) return StepEnd::kDropped;
  if (dropped > 0) {
    return absl::InternalError(absl::StrCat(
        dropped, " of ", answers.size(), " servers say that batch ",
        ToString(batch), " came too late for its step, but others have it"));
  }
  return answers[0]->verdict == Verdict::kApplied ? StepEnd::kApplied
                                                  : StepEnd::kRejected;
}

}  // namespace

void SyncExchange::Finish(TrainStep* step, Done<StepEnd> done) {
  const PushedBatch batch = {
      .id = step->batch.id,
      .lease = step->lease,
      .examples = static_cast<uint32_t>(step->batch.examples.size()),
      .rejected = step->parameters.rejected};
  client_->PushToStep(step->parameters.step + 1, batch, step->parameters,
                      [id = batch.id, done = std::move(done)](
                          ShardedClient::PushAnswers answers) mutable {
                        std::move(done)(EndOf(id, answers));
                      });
}

}  // namespace shoal
