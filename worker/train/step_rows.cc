#include "worker/train/step_rows.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "base/check.h"
#include "core/sound_gradient.h"

namespace shoal {
namespace {

void RejectUnsoundSum(StepMemory* step) {
  if (step->rejected() || IsSound(step->gradient.d_dense.span())) return;
  for (PushedBatch& batch : step->batches) batch.rejected = true;
}

}  // namespace

StepRows::StepRows(PushRows push, std::shared_ptr<RingRound> round,
                   RankBoard* board, Executor* strand)
    : push_(std::move(push)),
      round_(std::move(round)),
      board_(board),
      strand_(strand) {}

void StepRows::Enter(RankBoard::Phase phase) {
  if (board_ != nullptr) board_->EnterExchange(phase, strand_->Now());
}

void StepRows::Share(StepMemory* step, TrainStep* own, Shared done) {
  SHOAL_DCHECK(!pushing_);
  RejectUnsoundSum(step);
  if (own == nullptr) {
    Confirm(std::move(done));
    return;
  }
  Enter(RankBoard::Phase::kPushesRows);
  pushing_ = true;
  const auto batch = std::find_if(
      step->batches.begin(), step->batches.end(),
      [&](const PushedBatch& b) { return b.id == own->batch.id; });
  SHOAL_DCHECK(batch != step->batches.end());
  push_(own, *batch,
        [self = shared_from_this(), done = std::move(done)](
            const absl::StatusOr<Verdict>& verdict) mutable {
          self->OnPushed(verdict.status(), std::move(done));
        });
}

void StepRows::OnPushed(const absl::Status& status, Shared done) {
  pushing_ = false;
  if (round_->collective() == nullptr) {
    std::move(done)({End::How::kLeft, status});
  } else if (status.ok()) {
    Confirm(std::move(done));
  } else {
    std::move(done)({End::How::kRefused, status});
  }
}

void StepRows::Confirm(Shared done) {
  Enter(RankBoard::Phase::kConfirms);
  round_->Confirm([done = std::move(done)](const absl::Status& status) mutable {
    std::move(done)({status.ok() ? End::How::kConfirmed : End::How::kRankLost,
                     status});
  });
}

}  // namespace shoal
