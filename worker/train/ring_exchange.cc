#include "worker/train/ring_exchange.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

// As a Finish tells an error that does not pass, whatever its code.
absl::Status NotAgain(const absl::Status& status) {
  return absl::FailedPreconditionError(status.message());
}

// The error of an operation between the ranks. A lost rank stays UNAVAILABLE.
absl::Status BetweenRanks(const absl::Status& status) {
  return absl::IsUnavailable(status) ? status : NotAgain(status);
}

}  // namespace

// Everything that calls in flight refer to.
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

  // True if this rank has ended its lane, and not all ranks have. A lane whose
  // last step is kept has not ended: the step is finished again.
  bool lane_ended() const { return lanes_ended_ > lanes_closed_ && !kept_; }
  // True if the step to finish is of the lane after it.
  bool early() const { return lane_of_step_ > lanes_closed_; }
  // True from the round in which a Hold was agreed until its Resume.
  bool stopped() const { return agreed_ > released_; }
  // The number that this rank tells in its part.
  uint64_t hold() const { return hold_ > released_ ? hold_ : 0; }

  // Goes on as far as possible. To be called after every event.
  void Go();
  // Does the next round with `step`, or without a batch.
  void DoRound(TrainStep* step);
  RankPart PartOf(const TrainStep* step) const;
  void OnRound(absl::StatusOr<RingOutcome> outcome);
  // Pushes the step to the replica.
  void Push();
  // Pulls the version of the replica for a step without an own batch, and
  // pushes the step.
  void PullAndPush();
  void PushWith(const StepParameters& pulled);
  void OnPushed(absl::StatusOr<Verdict> verdict);
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
  bool cancelled_ = false;
  Phase phase_ = Phase::kIdle;
  // The lanes that this rank has ended, and that all ranks have.
  uint64_t lanes_ended_ = 0;
  uint64_t lanes_closed_ = 0;
  std::optional<Finishing> finishing_;
  uint64_t lane_of_step_ = 0;  // lanes that were ended when the step began
  bool kept_ = false;  // a Finish ended with ABORTED, and the next is to come
  TrainStep* own_ = nullptr;  // the step in the present round, or null
  PushedBatches batches_;     // of the present step
  StepParameters pulled_;     // for a step without an own batch
  // Numbers of Holds: of the newest that this rank got, of the newest that a
  // round agreed on, and of the newest that a Resume has ended.
  uint64_t hold_ = 0;
  uint64_t agreed_ = 0;
  uint64_t released_ = 0;
  Held held_;
};

void RingExchange::Rank::Begin(TrainStep* step) {
  SHOAL_DCHECK(!finishing_.has_value() && phase_ != Phase::kComputing);
  lane_of_step_ = lanes_ended_;
  if (!options_.overlap || phase_ != Phase::kIdle || stopped() || early() ||
      !failure_.ok()) {
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
  kept_ = false;
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
  ++lanes_ended_;
  Go();
}

void RingExchange::Rank::Hold(uint64_t number, Held held) {
  hold_ = std::max(hold_, number);
  held_ = std::move(held);
  Go();
}

void RingExchange::Rank::Resume(uint64_t number) {
  released_ = std::max(released_, number);
  held_ = nullptr;
  Go();
}

void RingExchange::Rank::Cancel() {
  if (cancelled_) return;
  cancelled_ = true;
  failure_ = absl::CancelledError("the worker's life is over");
  failed_ = nullptr;
  held_ = nullptr;
  round_->Cancel();
  EndFinish(failure_);
}

void RingExchange::Rank::Go() {
  if (phase_ != Phase::kIdle || !failure_.ok()) return;
  if (stopped()) {
    kept_ |= finishing_.has_value();
    EndFinish(absl::AbortedError("the job holds before this step"));
    if (held_ != nullptr && agreed_ >= hold_) std::exchange(held_, nullptr)();
    return;
  }
  if (finishing_.has_value() && !early()) {
    round_->Begin();
    DoRound(finishing_->step);
  } else if (lane_ended() || hold() != 0) {
    round_->Begin();
    DoRound(nullptr);
  }
}

RankPart RingExchange::Rank::PartOf(const TrainStep* step) const {
  RankPart part;
  part.lane_ended = lane_ended();
  part.hold = hold();
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
  agreed_ = std::max(agreed_, outcome->hold);
  if (outcome->lanes_ended) ++lanes_closed_;
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
    strand_->PostAfter(options_.retry_pause, [self = shared_from_this()] {
      if (self->failure_.ok()) self->Push();
    });
  } else {
    Fail(verdict.status());
  }
}

void RingExchange::Rank::EndFinish(absl::StatusOr<StepEnd> end) {
  if (!finishing_.has_value()) return;
  // Posted, since this may run inside Finish.
  strand_->Post(
      [done = std::move(finishing_->done), end = std::move(end)]() mutable {
        std::move(done)(std::move(end));
      });
  finishing_.reset();
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
