#include "worker/train/ring_level.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {

RingLevel::RingLevel(RingLevelOptions options, Collective* collective,
                     Apply apply)
    : options_(std::move(options)),
      collective_(collective),
      apply_(std::move(apply)) {}

void RingLevel::Start(uint64_t marked, std::shared_ptr<const StepMemory> newest,
                      absl::AnyInvocable<void(absl::Status) &&> done) {
  done_ = std::move(done);
  own_.marked = marked;
  if (newest != nullptr) {
    EncodeStep(*newest, options_.row_dims, &step_);
    own_.newest = newest->batches.size();
    own_.bytes = step_.size();
  }
  Gather();
}

void RingLevel::Applied(uint64_t marked) {
  if (collective_ == nullptr) return;
  own_.marked = marked;
  Gather();
}

void RingLevel::Cancel() {
  collective_ = nullptr;
  // They may hold the owner, which holds this object.
  done_ = nullptr;
  apply_ = nullptr;
}

void RingLevel::Gather() {
  sent_ = EncodeLevelPart(own_);
  collective_->AllGather(
      {.step = 0, .index = index_++, .name = "level"}, sent_, &received_,
      options_.timeout,
      [self = shared_from_this()](absl::StatusOr<CollectiveReply> reply) {
        self->OnGathered(reply.status());
      });
}

absl::StatusOr<LevelPlan> RingLevel::ReadParts() const {
  std::vector<LevelPart> parts;
  for (int rank = 0; rank < received_.size(); ++rank) {
    absl::StatusOr<LevelPart> part = DecodeLevelPart(received_.part(rank));
    if (!part.ok()) return Annotate(part.status(), options_.name(rank));
    parts.push_back(*part);
  }
  return PlanLevel(parts, options_.name);
}

void RingLevel::OnGathered(const absl::Status& status) {
  if (collective_ == nullptr) return;
  if (!status.ok()) {
    End(status);
    return;
  }
  const absl::StatusOr<LevelPlan> plan = ReadParts();
  if (!plan.ok() || plan->sender < 0) {
    End(plan.status());
  } else if (sent_step_) {
    size_t rank = 0;
    while (!plan->lacks[rank]) ++rank;
    End(absl::FailedPreconditionError(
        absl::StrCat("the replica of ", options_.name(static_cast<int>(rank)),
                     " lacks a step that it has got")));
  } else {
    SendStep(*plan);
  }
}

void RingLevel::SendStep(const LevelPlan& plan) {
  sent_step_ = true;
  const bool lacks = plan.lacks[static_cast<size_t>(collective_->rank())];
  if (collective_->rank() != plan.sender) {
    step_.ResizeDiscard(static_cast<size_t>(plan.bytes));
  }
  collective_->Broadcast(
      {.step = 0, .index = index_++, .name = "newest step"}, plan.sender,
      step_.span(), options_.timeout,
      [self = shared_from_this(), lacks](absl::StatusOr<CollectiveReply> r) {
        self->OnStep(r.status(), lacks);
      });
}

void RingLevel::OnStep(const absl::Status& status, bool lacks) {
  if (collective_ == nullptr) return;
  if (!status.ok()) {
    End(status);
    return;
  }
  if (!lacks) {
    Gather();
    return;
  }
  auto step = std::make_shared<StepMemory>();
  const absl::Status read = DecodeStep(step_.span(), options_.row_dims,
                                       options_.dense_size, step.get());
  if (!read.ok()) {
    End(read);
    return;
  }
  own_.newest = step->batches.size();
  own_.bytes = step_.size();
  apply_(std::move(step));
}

void RingLevel::End(absl::Status status) {
  std::exchange(done_, nullptr)(std::move(status));
}

}  // namespace shoal
