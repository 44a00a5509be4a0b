#include "worker/train/ring_exchange.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/may_pass.h"
#include "core/ids.h"
#include "core/lost_rank.h"
#include "worker/train/rank_turns.h"
#include "worker/train/replica_push.h"
#include "worker/train/ring_level.h"
#include "worker/train/step_rows.h"

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
  Rank(const RingExchangeOptions& options, ShardedClient* shards,
       std::unique_ptr<Collective> collective, Executor* strand)
      : options_(options),
        strand_(strand),
        round_(std::make_shared<RingRound>(options.round,
                                           std::move(collective))),
        push_(std::make_shared<ReplicaPush>(
            shards, options.round.model.tables.size())),
        newest_(options.start.newest) {
    if (options_.push_rows != nullptr) {
      rows_ = std::make_shared<StepRows>(options_.push_rows, round_,
                                         options_.board, strand_);
    }
    if (options_.board != nullptr) {
      Enter(RankBoard::Phase::kNone);
      options_.board->SetStep(0);
      options_.board->SetRound(static_cast<uint32_t>(round_->buckets()),
                               options_.push_rows == nullptr);
    }
  }

  void Start(Failed failed, Tell tell);
  void Begin(TrainStep* step);
  void Finish(TrainStep* step, Done<StepEnd> done);
  void EndLease(const Lease& lease);
  void Hold(uint64_t number, Held held);
  void Resume(uint64_t number);
  void Retire(Retired done);
  void Cancel();

 private:
  enum class Phase {
    kLevelling,    // the replicas of the generation are made level
    kIdle,         // no round is under way
    kComputing,    // a round is begun; its step is being computed
    kRound,        // the ranks sum and tell their parts
    kRows,         // the ranks share their rows
    kRowsRefused,  // the own rows were refused; the next Finish shares again
    kPushing,      // the step goes to the replica
    kStepRefused,  // it was refused; the next Finish pushes it again
    kBroken,       // a rank is lost; Retire follows
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
  // Makes the replicas level, once the own replica is there.
  void Level();
  void StartLevel();
  void OnLevel(const absl::Status& status);
  void BeginRound();
  // Does the next round with `step`, or without a batch if it is null.
  void DoRound(TrainStep* step);
  RankPart PartOf(const TrainStep* step) const;
  void OnRound(absl::StatusOr<RingOutcome> outcome);
  // Shares the rows of the step that the ranks have made, if the replica does
  // not hold them.
  void ShareRows();
  void OnRows(const StepRows::End& end);
  // Goes on with the step that the ranks have made: to the replica.
  void ToReplica();
  // Pushes the step of push_ to the replica, for the first time or again.
  void Push();
  void OnPushed(absl::StatusOr<Verdict> verdict);
  // The rows of the own batch are in flight.
  bool PushesRows() const { return rows_ != nullptr && rows_->pushing(); }
  // True if only this object can push the step again, because no Finish will.
  bool PushesItself() const;
  // Does `again` after a pause, and tells the log of `what` once.
  void TryAgain(const std::string& what, const absl::Status& status,
                void (Rank::*again)());
  // Ends the Finish of the step, if there is one.
  void EndFinish(absl::StatusOr<StepEnd> end);
  // Something went wrong between the ranks.
  void OnRankError(const absl::Status& status);
  // Ends the life of a rank by an error.
  void Fail(absl::Status status);
  void EndRetire(const absl::Status& status);
  // Where the rank stands.
  void Enter(RankBoard::Phase phase);

  const RingExchangeOptions options_;
  Executor* const strand_;
  const std::shared_ptr<RingRound> round_;
  const std::shared_ptr<ReplicaPush> push_;
  std::shared_ptr<StepRows> rows_;    // null: the replica holds all variables
  std::shared_ptr<RingLevel> level_;  // null: not levelling
  Failed failed_;
  Tell tell_;
  absl::Status failure_;  // no round follows an error
  Retired retired_;       // set until the exchange is retired
  RankTurns turns_;
  Phase phase_ = Phase::kIdle;
  std::optional<Finishing> finishing_;
  TrainStep* own_ = nullptr;  // the step in the present round, or null
  // The step of the present round until it goes to the replica.
  std::shared_ptr<StepMemory> made_;
  // The newest step of the replica; null if its memory is used again, since all
  // ranks have the step.
  std::shared_ptr<StepMemory> newest_;
  bool pushing_ = false;  // push_'s step is in flight
  bool warned_ = false;  // that the present step is pushed again
  Held held_;
};

void RingExchange::Rank::Enter(RankBoard::Phase phase) {
  if (options_.board != nullptr) {
    options_.board->EnterExchange(phase, strand_->Now());
  }
}

void RingExchange::Rank::Start(Failed failed, Tell tell) {
  failed_ = std::move(failed);
  tell_ = std::move(tell);
  if (options_.start.generation <= 1) return;
  phase_ = Phase::kLevelling;
  Enter(RankBoard::Phase::kLevels);
  // This may be on any thread.
  strand_->Post([self = shared_from_this()] {
    if (self->failure_.ok()) self->Level();
  });
}

void RingExchange::Rank::Level() {
  push_->Pull([self = shared_from_this()](const absl::Status& status) {
    if (!self->failure_.ok()) return;
    if (status.ok()) {
      self->StartLevel();
    } else if (MayPass(status)) {
      self->TryAgain("the replica of this rank", status, &Rank::Level);
    } else {
      self->Fail(status);
    }
  });
}

void RingExchange::Rank::StartLevel() {
  warned_ = false;
  const ModelSpec& model = options_.round.model;
  RingLevelOptions level;
  for (const TableSpec& table : model.tables) {
    level.row_dims.push_back(table.row_dim());
  }
  level.dense_size = static_cast<size_t>(model.dense_size());
  level.timeout = options_.round.timeout;
  level.name = [this](int rank) { return NameOfRank(options_.round, rank); };
  level_ = std::make_shared<RingLevel>(
      std::move(level), round_->collective(),
      [this](std::shared_ptr<StepMemory> step) {
        push_->Take(std::move(step), nullptr);
        Push();
      });
  level_->Start(options_.marked(), newest_,
                [this](const absl::Status& status) { OnLevel(status); });
}

void RingExchange::Rank::OnLevel(const absl::Status& status) {
  level_ = nullptr;
  if (!status.ok()) {
    OnRankError(status);
    return;
  }
  phase_ = Phase::kIdle;
  tell_(ReplicaLevel{options_.start.generation, options_.marked()});
  Go();
}

void RingExchange::Rank::Begin(TrainStep* step) {
  SHOAL_DCHECK(!finishing_.has_value() && phase_ != Phase::kComputing);
  turns_.BeginStep();
  if (!options_.overlap || phase_ != Phase::kIdle || !failure_.ok() ||
      !turns_.MayBegin()) {
    return;
  }
  phase_ = Phase::kComputing;
  BeginRound();
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
  } else if (phase_ == Phase::kRowsRefused) {
    SHOAL_DCHECK(step == own_);
    ShareRows();
  } else if (phase_ == Phase::kStepRefused) {
    SHOAL_DCHECK(step == own_);
    phase_ = Phase::kPushing;
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
  retired_ = nullptr;
  pushing_ = false;
  held_ = nullptr;
  if (level_ != nullptr) level_->Cancel();
  round_->Cancel();
  // A push of rows reads the step until it ends, which it does soon.
  if (!PushesRows()) EndFinish(failure_);
}

void RingExchange::Rank::Retire(Retired done) {
  SHOAL_DCHECK(phase_ != Phase::kComputing);
  retired_ = std::move(done);
  held_ = nullptr;
  if (level_ != nullptr) level_->Cancel();
  level_ = nullptr;
  round_->Cancel();
  const bool failed = !failure_.ok();
  failure_.Update(absl::CancelledError("the generation of ranks is over"));
  if (!failed && phase_ == Phase::kStepRefused) {
    phase_ = Phase::kPushing;
    Push();
  } else if (!pushing_ && !PushesRows()) {
    EndRetire(absl::OkStatus());
  }
}

void RingExchange::Rank::EndRetire(const absl::Status& status) {
  failed_ = nullptr;
  Enter(RankBoard::Phase::kNone);
  EndFinish(failure_);
  strand_->Post([self = shared_from_this(), status] {
    if (self->retired_ == nullptr) return;  // Cancel came
    Retired done = std::exchange(self->retired_, nullptr);
    if (status.ok()) {
      std::move(done)(std::move(self->newest_));
    } else {
      std::move(done)(status);
    }
  });
}

void RingExchange::Rank::Go() {
  if (phase_ != Phase::kIdle || !failure_.ok()) return;
  Enter(RankBoard::Phase::kNone);
  switch (turns_.next()) {
    case RankTurns::Turn::kWait:
      return;
    case RankTurns::Turn::kStop:
      Stop();
      return;
    case RankTurns::Turn::kBatch:
      BeginRound();
      DoRound(finishing_->step);
      return;
    case RankTurns::Turn::kNoBatch:
      BeginRound();
      DoRound(nullptr);
      return;
  }
}

void RingExchange::Rank::BeginRound() {
  round_->Begin();
  // The round writes into the memory of the round before the last one.
  if (newest_ != nullptr && newest_->batches.empty()) newest_ = nullptr;
  if (options_.board != nullptr) options_.board->SetStep(round_->round());
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
  Enter(RankBoard::Phase::kRound);
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
    OnRankError(outcome.status());
    return;
  }
  turns_.OnRound(outcome->hold, outcome->lanes_ended);
  warned_ = false;
  if (outcome->made == nullptr) {
    phase_ = Phase::kIdle;
    Go();
    return;
  }
  made_ = std::move(outcome->made);
  if (rows_ == nullptr) {
    ToReplica();
  } else {
    ShareRows();
  }
}

void RingExchange::Rank::ShareRows() {
  phase_ = Phase::kRows;
  rows_->Share(made_.get(), own_, [self = shared_from_this()](
                                      const StepRows::End& end) {
    self->OnRows(end);
  });
}

void RingExchange::Rank::OnRows(const StepRows::End& end) {
  if (retired_ != nullptr) {
    // Shards that have the batch now refuse it when it comes again.
    EndRetire(absl::OkStatus());
    return;
  }
  if (!failure_.ok()) {
    EndFinish(failure_);
    return;
  }
  switch (end.how) {
    case StepRows::End::How::kConfirmed:
      ToReplica();
      return;
    case StepRows::End::How::kRefused:
      phase_ = Phase::kRowsRefused;
      EndFinish(end.status);
      return;
    case StepRows::End::How::kRankLost:
      OnRankError(end.status);
      return;
    case StepRows::End::How::kLeft:  // Retire or Cancel came
      return;
  }
}

void RingExchange::Rank::ToReplica() {
  phase_ = Phase::kPushing;
  push_->Take(std::move(made_), own_ != nullptr ? &own_->parameters : nullptr);
  Push();
}

void RingExchange::Rank::Push() {
  Enter(phase_ == Phase::kLevelling ? RankBoard::Phase::kLevels
                                    : RankBoard::Phase::kApplies);
  pushing_ = true;
  push_->Push([self = shared_from_this()](absl::StatusOr<Verdict> verdict) {
    self->OnPushed(std::move(verdict));
  });
}

bool RingExchange::Rank::PushesItself() const {
  return phase_ == Phase::kLevelling || own_ == nullptr || retired_ != nullptr;
}

void RingExchange::Rank::OnPushed(absl::StatusOr<Verdict> verdict) {
  if (!pushing_) return;  // Cancel came
  if (verdict.ok()) {
    newest_ = push_->step();
  } else if (PushesItself() && MayPass(verdict.status())) {
    // The trainer tells of a Finish that it repeats, and here is none.
    TryAgain(absl::StrCat("batch ", ToString(push_->step()->batches[0].id),
                          " of another rank"),
             verdict.status(), &Rank::Push);
    return;
  }
  pushing_ = false;
  if (retired_ != nullptr) {
    EndRetire(verdict.status());
  } else if (!verdict.ok() && !PushesItself()) {
    phase_ = Phase::kStepRefused;
    EndFinish(verdict.status());
  } else if (!verdict.ok()) {
    Fail(verdict.status());
  } else if (phase_ == Phase::kLevelling) {
    level_->Applied(options_.marked());
  } else {
    phase_ = Phase::kIdle;
    if (own_ != nullptr) {
      const bool applied =
          !own_->parameters.rejected && *verdict == Verdict::kApplied;
      EndFinish(applied ? StepEnd::kApplied : StepEnd::kRejected);
    }
    Go();
  }
}

void RingExchange::Rank::TryAgain(const std::string& what,
                                  const absl::Status& status,
                                  void (Rank::*again)()) {
  if (!std::exchange(warned_, true) && options_.warn) {
    options_.warn(absl::StrCat(what, ": ", status.message(),
                               "; trying again"));
  }
  strand_->PostAfter(options_.retry_pause, [self = shared_from_this(), again] {
    if (self->failure_.ok() || self->pushing_) {
      (self.get()->*again)();
    }
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

void RingExchange::Rank::OnRankError(const absl::Status& status) {
  if (!options_.renews || !absl::IsUnavailable(status)) {
    Fail(BetweenRanks(status));
    return;
  }
  // The step, if there is one, stays with its Finish until Retire.
  phase_ = Phase::kBroken;
  tell_(RingBroken{options_.start.generation, LostRankOf(status), status});
}

void RingExchange::Rank::Fail(absl::Status status) {
  failure_ = std::move(status);
  if (failed_ != nullptr) std::exchange(failed_, nullptr)(failure_);
  EndFinish(NotAgain(failure_));
}

RingExchange::RingExchange(RingExchangeOptions options, ShardedClient* shards,
                           std::unique_ptr<Collective> collective,
                           Executor* strand)
    : rank_(std::make_shared<Rank>(options, shards, std::move(collective),
                                   strand)) {}

RingExchange::~RingExchange() { rank_->Cancel(); }

void RingExchange::Start(Failed failed, Tell tell) {
  rank_->Start(std::move(failed), std::move(tell));
}

void RingExchange::Begin(TrainStep* step) { rank_->Begin(step); }

void RingExchange::Finish(TrainStep* step, Done<StepEnd> done) {
  rank_->Finish(step, std::move(done));
}

void RingExchange::EndLease(const Lease& lease) { rank_->EndLease(lease); }

void RingExchange::Hold(uint64_t number, Held held) {
  rank_->Hold(number, std::move(held));
}

void RingExchange::Resume(uint64_t number) { rank_->Resume(number); }

void RingExchange::Retire(Retired done) { rank_->Retire(std::move(done)); }

void RingExchange::Cancel() { rank_->Cancel(); }

}  // namespace shoal
