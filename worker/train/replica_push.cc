#include "worker/train/replica_push.h"

#include <utility>

namespace shoal {

void ReplicaPush::Take(std::shared_ptr<StepMemory> step,
                       const StepParameters* own) {
  step_ = std::move(step);
  has_version_ = false;
  if (own != nullptr) TakeVersion(*own);
}

void ReplicaPush::TakeVersion(const StepParameters& pulled) {
  step_->gradient.pulled = pulled.pulled;
  step_->gradient.colour = pulled.colour;
  has_version_ = true;
}

void ReplicaPush::Push(Done<Verdict> done) {
  if (has_version_) {
    Send(std::move(done));
    return;
  }
  Pull([self = shared_from_this(),
        done = std::move(done)](const absl::Status& status) mutable {
    if (!status.ok()) {
      std::move(done)(status);
      return;
    }
    self->TakeVersion(self->pulled_);
    self->Send(std::move(done));
  });
}

void ReplicaPush::Pull(absl::AnyInvocable<void(absl::Status) &&> done) {
  pulled_.tables.resize(tables_);
  for (TableParameters& table : pulled_.tables) table.split.begin = {0, 0};
  shards_->PullFrom(shards_->replicated_shard(), &pulled_, /*read_only=*/true,
                    [self = shared_from_this(), done = std::move(done)](
                        absl::Status status) mutable {
                      std::move(done)(std::move(status));
                    });
}

void ReplicaPush::Send(Done<Verdict> done) {
  shards_->PushTo(shards_->replicated_shard(), step_->batches,
                  step_->gradient,
                  [step = step_, done = std::move(done)](
                      absl::StatusOr<Verdict> verdict) mutable {
                    std::move(done)(std::move(verdict));
                  });
}

}  // namespace shoal
