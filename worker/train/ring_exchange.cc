#include "worker/train/ring_exchange.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/may_pass.h"
#include "core/ids.h"
#include "worker/train/rank_turns.h"

namespace shoal {
namespace {

// As a Finish tells an error that does not pass, whatever its code.
absl::Status NotAgain(const absl::Status& status) {
  return absl::FailedPreconditionError(status.message());
}

// The error of an operation between the ranks. A lost rank stays UNAVAILABLE.
absl::Status BetweenRanks(const absl::Status& status) {
  return absl::IsUnavailable(status) ? status : NotAgain(status);
}

}  // namespace

// Everything that calls in flight refer to. RankTurns decides which round comes
// next; this class does the round, and pushes its step to the replica.
class RingExchange::Rank : public std::enable_shared_from_this<Rank> {
 public:
  Rank(const RingExchangeOptions& options, ShardedClient* replica,
       std::unique_ptr<Collective> collective, Executor* strand)
      : options_(options),
        replica_(replica),
        strand_(strand),
        round_(std::make_shared<RingRound>(options.round,
                                           std::move(collective))) {}

  void Start(Failed failed) { failed_ = std::move(failed); }
  void Begin(TrainStep* step);
  void Finish(TrainStep* step, Done<StepEnd> done);
  void EndLease(const Lease& lease);
  void Hold(uint64_t number, Held held);
  void Resume(uint64_t number);
  void Cancel();

 private:
  enum class Phase {
    kIdle,       // no round is under way
    kComputing,  // a round is begun; its step is being computed
    kRound,      // the ranks sum and tell their parts
    kPushing,    // the step goes to the replica
    kRefused,    // the replica refused it; the next Finish pushes it again
  };
  // A step between its Finish and the end of that Finish.
  struct Finishing {
    TrainStep* step = nullptr;
    Done<StepEnd> done;
  };

  // Goes on as far as possible. To be called after every event.
  void Go();
  // Ends the Finish of the step, if there is one, because the rank is stopped,
  // and tells so once the rank is at the border of the newest Hold.
  void Stop();
  // Does the next round with `step`, or without a batch if it is null.
  void DoRound(TrainStep* step);
  RankPart PartOf(const TrainStep* step) const;
  void OnRound(absl::StatusOr<RingOutcome> outcome);
  // Pushes the step to the replica, for the first time or again.
  void Push();
  // Pulls the version of the replica for a step without an own batch, and
  // pushes the step.
  void PullAndPush();
  void PushWith(const StepParameters& pulled);
  void OnPushed(absl::StatusOr<Verdict> verdict);
  // Pushes a step without an own batch again, after a pause.
  void PushAgain(const absl::Status& status);
  // Ends the Finish of the step, if there is one.
  void EndFinish(absl::StatusOr<StepEnd> end);
  // Ends the life of a rank by an error.
  void Fail(absl::Status status);

  const RingExchangeOptions options_;
  ShardedClient* const replica_;
  Executor* const strand_;
  const std::shared_ptr<RingRound> round_;
  Failed failed_;
  absl::Status failure_;  // no round follows an error
  RankTurns turns_;
  Phase phase_ = Phase::kIdle;
  std::optional<Finishing> finishing_;
  TrainStep* own_ = nullptr;  // the step in the present round, or null
  PushedBatches batches_;     // of the present step
  StepParameters pulled_;     // for a step without an own batch
  bool warned_ = false;       // that the present step is pushed again
  Held held_;
};

void RingExchange::Rank::Begin(TrainStep* step) {
  SHOAL_DCHECK(!finishing_.has_value() && phase_ != Phase::kComputing);
  turns_.BeginStep();
  if (!options_.overlap || phase_ != Phase::kIdle || !failure_.ok() ||
      !turns_.MayBegin()) {
    return;
  }
  phase_ = Phase::kComputing;
  round_->Begin();
  step->on_final = [round = round_.get(), step](DenseRange range) {
    round->OnFinal(range, step->parameters.d_dense.span());
  };
}

void RingExchange::Rank::Finish(TrainStep* step, Done<StepEnd> done) {
  SHOAL_DCHECK(!finishing_.has_value());
  finishing_ = Finishing{step, std::move(done)};
  turns_.HasStep();
  if (!failure_.ok()) {
    EndFinish(NotAgain(failure_));
  } else if (phase_ == Phase::kComputing) {
    DoRound(step);
  } else if (phase_ == Phase::kRefused) {
    SHOAL_DCHECK(step == own_);
    Push();
  } else {
    Go();
  }
}

void RingExchange::Rank::EndLease(const Lease& lease) {
  if (!lease.last_of_lane) return;
  turns_.EndLane();
  Go();
}

void RingExchange::Rank::Hold(uint64_t number, Held held) {
  turns_.Hold(number);
  held_ = std::move(held);
  Go();
}

void RingExchange::Rank::Resume(uint64_t number) {
  turns_.Resume(number);
  held_ = nullptr;
  Go();
}

void RingExchange::Rank::Cancel() {
  failure_ = absl::CancelledError("the worker's life is over");
  failed_ = nullptr;
  held_ = nullptr;
  round_->Cancel();
  EndFinish(failure_);
}

void RingExchange::Rank::Go() {
  if (phase_ != Phase::kIdle || !failure_.ok()) return;
  switch (turns_.next()) {
    case RankTurns::Turn::kWait:
      return;
    case RankTurns::Turn::kStop:
      Stop();
      return;
    case RankTurns::Turn::kBatch:
      round_->Begin();
      DoRound(finishing_->step);
      return;
    case RankTurns::Turn::kNoBatch:
      round_->Begin();
      DoRound(nullptr);
      return;
  }
}

void RingExchange::Rank::Stop() {
  if (finishing_.has_value()) {
    EndFinish(absl::AbortedError("the job holds before this step"));
    turns_.KeepStep();
  }
  if (held_ != nullptr && turns_.held()) std::exchange(held_, nullptr)();
}

RankPart RingExchange::Rank::PartOf(const TrainStep* step) const {
  RankPart part;
  part.lane_ended = turns_.lane_ended();
  part.hold = turns_.hold();
  part.tables.resize(options_.round.model.tables.size());
  if (step == nullptr) return part;
  part.batch = {.id = step->batch.id,
                .lease = step->lease,
                .examples = static_cast<uint32_t>(step->batch.examples.size()),
                .rejected = step->parameters.rejected};
  if (part.batch->rejected) return part;
  for (size_t t = 0; t < part.tables.size(); ++t) {
    const TableParameters& table = step->parameters.tables[t];
    part.tables[t] = {table.split.ids, table.d_rows.span()};
  }
  return part;
}

void RingExchange::Rank::DoRound(TrainStep* step) {
  phase_ = Phase::kRound;
  own_ = step;
  absl::Span<const float> d_dense;
  if (step != nullptr) d_dense = step->parameters.d_dense.span();
  round_->End(PartOf(step), d_dense,
              [self = shared_from_this()](absl::StatusOr<RingOutcome> outcome) {
                self->OnRound(std::move(outcome));
              });
}

void RingExchange::Rank::OnRound(absl::StatusOr<RingOutcome> outcome) {
  if (!failure_.ok()) return;
  if (!outcome.ok()) {
    Fail(BetweenRanks(outcome.status()));
    return;
  }
  turns_.OnRound(outcome->hold, outcome->lanes_ended);
  warned_ = false;
  batches_ = std::move(outcome->batches);
  if (batches_.empty()) {
    phase_ = Phase::kIdle;
    Go();
    return;
  }
  Push();
}

void RingExchange::Rank::Push() {
  phase_ = Phase::kPushing;
  if (own_ != nullptr) {
    PushWith(own_->parameters);
  } else {
    PullAndPush();
  }
}

void RingExchange::Rank::PullAndPush() {
  pulled_.tables.resize(options_.round.model.tables.size());
  for (TableParameters& table : pulled_.tables) table.split.begin = {0, 0};
  replica_->Pull(&pulled_, /*read_only=*/true,
                 [self = shared_from_this()](const absl::Status& status) {
                   if (!self->failure_.ok()) return;
                   if (status.ok()) {
                     self->PushWith(self->pulled_);
                   } else {
                     self->OnPushed(status);
                   }
                 });
}

void RingExchange::Rank::PushWith(const StepParameters& pulled) {
  StepParameters* const gradient = round_->gradient();
  gradient->pulled = pulled.pulled;
  gradient->colour = pulled.colour;
  replica_->Push(batches_, *gradient,
                 [self = shared_from_this()](absl::StatusOr<Verdict> verdict) {
                   self->OnPushed(std::move(verdict));
                 });
}

void RingExchange::Rank::OnPushed(absl::StatusOr<Verdict> verdict) {
  if (!failure_.ok()) return;
  if (verdict.ok()) {
    phase_ = Phase::kIdle;
    if (own_ != nullptr) {
      const bool applied =
          !own_->parameters.rejected && *verdict == Verdict::kApplied;
      EndFinish(applied ? StepEnd::kApplied : StepEnd::kRejected);
    }
    Go();
  } else if (own_ != nullptr) {
    phase_ = Phase::kRefused;
    EndFinish(verdict.status());
  } else if (MayPass(verdict.status())) {
    PushAgain(verdict.status());
  } else {
    Fail(verdict.status());
  }
}

void RingExchange::Rank::PushAgain(const absl::Status& status) {
  // The trainer tells of a Finish that it repeats, and here is none.
  if (!std::exchange(warned_, true) && options_.warn) {
    options_.warn(absl::StrCat("batch ", ToString(batches_[0].id),
                               " of another rank: ", status.message(),
                               "; trying again"));
  }
  strand_->PostAfter(options_.retry_pause, [self = shared_from_this()] {
    if (self->failure_.ok()) self->Push();
  });
}

void RingExchange::Rank::EndFinish(absl::StatusOr<StepEnd> end) {
  if (!finishing_.has_value()) return;
  // Posted, since this may run inside Finish.
  strand_->Post(
      [done = std::move(finishing_->done), end = std::move(end)]() mutable {
        std::move(done)(std::move(end));
      });
  finishing_.reset();
  turns_.EndStep();
}

void RingExchange::Rank::Fail(absl::Status status) {
  failure_ = std::move(status);
  if (failed_ != nullptr) std::exchange(failed_, nullptr)(failure_);
  EndFinish(NotAgain(failure_));
}

RingExchange::RingExchange(RingExchangeOptions options, ShardedClient* replica,
                           std::unique_ptr<Collective> collective,
                           Executor* strand)
    : rank_(std::make_shared<Rank>(options, replica, std::move(collective),
                                   strand)) {}

RingExchange::~RingExchange() { rank_->Cancel(); }

void RingExchange::Start(Failed failed) { rank_->Start(std::move(failed)); }

void RingExchange::Begin(TrainStep* step) { rank_->Begin(step); }

void RingExchange::Finish(TrainStep* step, Done<StepEnd> done) {
  rank_->Finish(step, std::move(done));
}

void RingExchange::EndLease(const Lease& lease) { rank_->EndLease(lease); }

void RingExchange::Hold(uint64_t number, Held held) {
  rank_->Hold(number, std::move(held));
}

void RingExchange::Resume(uint64_t number) { rank_->Resume(number); }

void RingExchange::Cancel() { rank_->Cancel(); }

}  // namespace shoal
