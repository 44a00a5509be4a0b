#include "worker/train/lease_trainer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/may_pass.h"
#include "base/status_macros.h"
#include "worker/train/gradient_check.h"

namespace shoal {

LeaseTrainer::LeaseTrainer(LeaseTrainerOptions options,
                           LeaseTrainerDependencies deps,
                           std::unique_ptr<ShardedClient> client,
                           std::unique_ptr<GradientExchange> exchange,
                           Send send)
    : options_(options),
      deps_(deps),
      client_(std::move(client)),
      exchange_(std::move(exchange)),
      leases_(options.scores, deps.open_source, deps.strand, std::move(send),
              [this](const Lease& lease) { exchange_->EndLease(lease); }),
      pipeline_(options.pipeline_depth) {
  exchange_->Start(
      [this](absl::Status error) {
        // The coordinator may be in the process that is lost.
        deps_.logger->Warn(error.message());
        Fail(std::move(error));
      },
      [this](ProcessMessage message) {
        if (const auto* broken = std::get_if<RingBroken>(&message)) {
          deps_.logger->Warn(broken->status.message());
        }
        leases_.Tell(std::move(message));
      });
}

void LeaseTrainer::Start() {
  Enter(StepState::kWaitLease);
  leases_.Request();
}

void LeaseTrainer::AddLease(Lease lease) {
  if (pipeline_.ended()) return;
  leases_.Add(std::move(lease), pipeline_.hold());
  Pump();
}

void LeaseTrainer::DropSteps() {
  // The life goes on, with another trainer or none.
  deps_.time->Enter(StepState::kWaitLease, deps_.strand->Now());
  deps_.time->LeaveOut();
  if (deps_.telemetry != nullptr) {
    // The abandoned calls no longer count as in flight.
    deps_.telemetry->pulls_in_flight->Add(-pipeline_.pulls());
    deps_.telemetry->pushes_in_flight->Add(-pipeline_.exchanges());
  }
  pipeline_.Abandon();
  leases_.Abandon();
  held_ = nullptr;
}

void LeaseTrainer::Abandon() {
  // A retired exchange still waits for pushes.
  if (!pipeline_.ended() || retired_) exchange_->Cancel();
  retired_ = false;
  DropSteps();
  drained_ = nullptr;
}

void LeaseTrainer::Retire(GradientExchange::Retired done) {
  const bool ended = pipeline_.ended();
  DropSteps();
  // A worker that leaves need not wait for the ends of its batches.
  if (drained_ != nullptr) std::exchange(drained_, nullptr)();
  if (ended) {
    deps_.strand->Post(
        [done = std::move(done)]() mutable { std::move(done)(nullptr); });
    return;
  }
  retired_ = true;
  exchange_->Retire(std::move(done));
}

void LeaseTrainer::Hold(uint64_t number,
                        absl::AnyInvocable<void() &&> held) {
  if (pipeline_.ended()) return;
  pipeline_.Hold();
  held_ = std::move(held);
  hold_ = number;
  stopped_ = false;
  exchange_->Hold(number, [this] {
    stopped_ = true;
    Pump();
  });
}

void LeaseTrainer::Resume() {
  if (pipeline_.ended()) return;
  pipeline_.Resume();
  held_ = nullptr;
  deps_.time->LeaveOut();
  if (hold_ != 0) exchange_->Resume(std::exchange(hold_, 0));
  FinishKept();
  Pump();
}

void LeaseTrainer::SetPace(const Pace& pace) {
  pipeline_.SetPace(pace.until);
  Pump();
}

void LeaseTrainer::Drain(absl::AnyInvocable<void() &&> idle) {
  leases_.Stop();
  pipeline_.Drain();
  if (!pipeline_.alive()) {
    deps_.strand->Post(std::move(idle));
    return;
  }
  drained_ = std::move(idle);
  Pump();
}

void LeaseTrainer::Pump() {
  if (!pipeline_.alive()) return;
  if (pipeline_.BecomesDrained()) {
    deps_.time->Enter(StepState::kWaitLease, deps_.strand->Now());
    exchange_->Cancel();
    std::exchange(drained_, nullptr)();
    return;
  }
  // This comes first, because a held pipeline may begin steps that it could not
  // begin while holding.
  if (stopped_ && pipeline_.BecomesHeld()) std::exchange(held_, nullptr)();
  while (Step step = pipeline_.BeginPull()) StartPull(std::move(step));
  if (const OpenLease* const next = leases_.next();
      next != nullptr && pipeline_.WantsBatchOf(*next)) {
    ReadNext();
  }
  if (pipeline_.BeginCompute()) {
    // The computation is posted, so that replies that have already arrived run
    // first.
    deps_.strand->Post([self = shared_from_this()] { self->ComputeNext(); });
  }
  EnterWait();
}

void LeaseTrainer::Enter(StepState state) {
  const absl::Time now = deps_.strand->Now();
  deps_.time->Enter(state, now);
  if (deps_.board == nullptr) return;
  // Others than an exchange tell nothing of it.
  if (pipeline_.exchanges() > 0) state = StepState::kWaitPush;
  switch (state) {
    case StepState::kWaitLease:
    case StepState::kWaitPace:
      deps_.board->Enter(RankBoard::Phase::kLease, now);
      return;
    case StepState::kWaitData:
    case StepState::kWaitPull:
    case StepState::kPrepare:
      deps_.board->Enter(RankBoard::Phase::kReads, now);
      return;
    case StepState::kCompute:
      deps_.board->Enter(RankBoard::Phase::kComputes, now);
      return;
    case StepState::kWaitPush:
    case StepState::kWaitStep:
      deps_.board->Enter(RankBoard::Phase::kApplies, now);
      return;
    case StepState::kSend:
    case StepState::kWaitRing:
      return;  // the exchange tells it
  }
}

void LeaseTrainer::EnterWait() {
  StepState state = pipeline_.WaitsFor(/*leases=*/leases_.next() != nullptr);
  if (state == StepState::kWaitPush) state = exchange_->waits_in();
  Enter(state);
  // The batches that it has begun have ended, and it has told so.
  if (deps_.board != nullptr && hold_ != 0 && stopped_ && held_ == nullptr) {
    deps_.board->Enter(RankBoard::Phase::kHeld, deps_.strand->Now());
  }
}

void LeaseTrainer::ReadNext() {
  leases_.ReadNext([self = shared_from_this()](std::shared_ptr<OpenLease> lease,
                                               std::optional<Batch> batch) {
    if (batch.has_value()) {
      self->pipeline_.Add(std::move(lease), *std::move(batch));
    }
    self->Pump();
  });
}

void LeaseTrainer::StartPull(Step step) {
  Enter(StepState::kPrepare);
  PrepareStep(client_->partitions(), options_.field_size, &unique_,
              &step->train);
  step->sent = deps_.strand->Now();
  deps_.time->Enter(StepState::kSend, step->sent);
  if (deps_.telemetry != nullptr) deps_.telemetry->pulls_in_flight->Add(1);
  SendPull(std::move(step));
}

void LeaseTrainer::SendPull(Step step) {
  StepParameters* parameters = &step->train.parameters;
  const bool read_only = step->evaluates() || !options_.pulls_create_rows;
  client_->Pull(parameters, read_only,
                [self = shared_from_this(),
                 step = std::move(step)](absl::Status status) mutable {
                  self->OnPulled(std::move(step), std::move(status));
                });
}

void LeaseTrainer::OnPulled(Step step, absl::Status status) {
  if (pipeline_.ended()) return;
  if (status.ok()) {
    pipeline_.OnPulled(step.get());
    if (deps_.telemetry != nullptr) {
      deps_.telemetry->pulls_in_flight->Add(-1);
      deps_.telemetry->pull_seconds->Observe(
          absl::ToDoubleSeconds(deps_.strand->Now() - step->sent));
    }
    step->full_since = absl::InfiniteFuture();
    Pump();
  } else if (TriesAgain(status, step.get())) {
    deps_.strand->PostAfter(
        options_.retry_pause,
        [self = shared_from_this(), step = std::move(step)]() mutable {
          if (!self->pipeline_.ended()) self->SendPull(std::move(step));
        });
  }
}

void LeaseTrainer::ComputeNext() {
  Step step = pipeline_.TakeComputing();
  if (step == nullptr) return;
  Enter(StepState::kCompute);
  if (step->evaluates()) {
    Evaluate(std::move(step));
  } else {
    Train(std::move(step));
  }
  Pump();
}

void LeaseTrainer::Evaluate(Step step) {
  if (deps_.board != nullptr) {
    deps_.board->Enter(RankBoard::Phase::kEvaluates, deps_.strand->Now());
  }
  const std::vector<uint8_t>& labels = step->train.batch.examples.labels;
  deps_.time->LeaveOut();
  PredictStep(options_.field_size, deps_.model, &step->train);
  leases_.AddScores(step->lease.get(), step->train.batch.id.index,
                    step->train.logits.span(), labels);
  if (deps_.telemetry != nullptr) {
    deps_.telemetry->evaluated->Add(static_cast<double>(labels.size()));
  }
  EndStep(std::move(step));
}

double LeaseTrainer::ClipNorm(const TrainStep& step) const {
  if (options_.loss == StepLoss::kMean ||
      !deps_.model->spec().divides_gradient) {
    return options_.clip_norm;
  }
  return options_.clip_norm * static_cast<double>(step.batch.examples.size());
}

void LeaseTrainer::Train(Step step) {
  exchange_->Begin(&step->train);
  ComputeStep(options_.field_size, deps_.model, &step->train, options_.loss);
  CheckGradient(step->train.loss_sum, ClipNorm(step->train),
                &step->train.parameters);
  if (step->lease->lease.Rejected(step->train.batch.id.index)) {
    step->train.parameters.rejected = true;
  }
  if (!step->train.parameters.rejected) {
    deps_.progress->AddScores(step->train.logits.span(),
                              step->train.batch.examples.labels);
  }
  pipeline_.BeginExchange(step.get());
  step->sent = deps_.strand->Now();
  deps_.time->Enter(StepState::kSend, step->sent);
  if (deps_.telemetry != nullptr) deps_.telemetry->pushes_in_flight->Add(1);
  const std::shared_ptr<OpenLease> lease = step->lease;
  Finish(std::move(step));
  leases_.OnComputed(lease.get());
}

void LeaseTrainer::Finish(Step step) {
  if (deps_.logger->Enabled(LogLevel::kDebug)) {
    deps_.logger->Debug(
        absl::StrCat("push sent ", ToString(step->train.batch.id)));
  }
  TrainStep* const train = &step->train;
  exchange_->Finish(train, [self = shared_from_this(), step = std::move(step)](
                               absl::StatusOr<StepEnd> end) mutable {
    self->OnFinished(std::move(step), std::move(end));
  });
}

void LeaseTrainer::OnFinished(Step step, absl::StatusOr<StepEnd> end) {
  if (pipeline_.ended()) return;
  if (end.ok()) {
    OnEnd(*step, *end);
    EndStep(std::move(step));
    Pump();
  } else if (absl::IsAborted(end.status())) {
    Keep(std::move(step));
    Pump();
  } else if (StillWaits(end.status(), step.get()) ||
             TriesAgain(end.status(), step.get())) {
    deps_.strand->PostAfter(
        options_.retry_pause,
        [self = shared_from_this(), step = std::move(step)]() mutable {
          if (!self->pipeline_.ended()) self->Finish(std::move(step));
        });
  }
}

bool LeaseTrainer::StillWaits(const absl::Status& status, PipelineStep* step) {
  if (!absl::IsDeadlineExceeded(status) ||
      exchange_->waits_in() != StepState::kWaitStep) {
    return false;
  }
  step->full_since = absl::InfiniteFuture();
  const bool told = std::exchange(step->told_wait, true);
  deps_.logger->Log(
      told ? LogLevel::kDebug : LogLevel::kInfo,
      absl::StrCat("batch ", ToString(step->train.batch.id),
                   " still waits for those of other workers in its step"));
  return true;
}

void LeaseTrainer::OnEnd(const PipelineStep& step, StepEnd end) {
  deps_.time->EndStep(deps_.strand->Now());
  const Batch& batch = step.train.batch;
  if (deps_.logger->Enabled(LogLevel::kDebug)) {
    deps_.logger->Debug(absl::StrCat(
        end == StepEnd::kDropped ? "push dropped " : "push done ",
        ToString(batch.id)));
  }
  if (end == StepEnd::kRejected) {
    deps_.logger->Warn(absl::StrCat(
        "batch ", ToString(batch.id), " was rejected: its loss or gradient ",
        step.lease->lease.Rejected(batch.id.index)
            ? "was not finite, or too large, when it was first trained"
            : "is not finite, or too large",
        "; it changed no parameter"));
  } else if (end == StepEnd::kApplied) {
    deps_.progress->AddTrained(batch.examples.size(), step.train.loss_sum);
  }
  MeasureFinished(step, end);
}

void LeaseTrainer::Keep(Step step) {
  if (deps_.telemetry != nullptr) deps_.telemetry->pushes_in_flight->Add(-1);
  step->full_since = absl::InfiniteFuture();
  pipeline_.Keep(std::move(step));
  if (pipeline_.hold() != 0) return;  // until Resume
  deps_.strand->PostAfter(options_.retry_pause, [self = shared_from_this()] {
    self->FinishKept();
    self->Pump();
  });
}

void LeaseTrainer::FinishKept() {
  while (Step step = pipeline_.TakeKept()) {
    if (deps_.telemetry != nullptr) deps_.telemetry->pushes_in_flight->Add(1);
    Finish(std::move(step));
  }
}

void LeaseTrainer::MeasureFinished(const PipelineStep& step, StepEnd end) {
  const WorkerTelemetry* const telemetry = deps_.telemetry;
  if (telemetry == nullptr) return;
  telemetry->pushes_in_flight->Add(-1);
  telemetry->push_seconds->Observe(
      absl::ToDoubleSeconds(deps_.strand->Now() - step.sent));
  if (end == StepEnd::kRejected) {
    telemetry->batches_rejected->Add();
    return;
  }
  if (end == StepEnd::kDropped) {
    telemetry->batches_dropped->Add();
    return;
  }
  const double examples = static_cast<double>(step.train.batch.examples.size());
  telemetry->batches->Add();
  telemetry->examples->Add(examples);
  telemetry->loss->Set(step.train.loss_sum / examples);
}

void LeaseTrainer::EndStep(Step step) {
  std::shared_ptr<OpenLease> lease = step->lease;
  Batch batch = std::move(step->train.batch);
  const bool limited = StepPipeline::Limits(*step);
  pipeline_.End(std::move(step));
  if (limited && pipeline_.paced()) {
    leases_.Tell(StepsFinished{pipeline_.finished()});
  }
  leases_.EndBatch(std::move(lease), std::move(batch));
}

bool LeaseTrainer::TriesAgain(const absl::Status& status, PipelineStep* step) {
  const std::string batch =
      absl::StrCat("batch ", ToString(step->train.batch.id));
  const bool full = absl::IsResourceExhausted(status);
  const absl::Time now = deps_.strand->Now();
  step->full_since =
      full ? std::min(step->full_since, now) : absl::InfiniteFuture();
  const bool patient = now - step->full_since < options_.full_patience;
  if (MayPass(status) && (!full || patient)) {
    if (deps_.telemetry != nullptr) deps_.telemetry->retries->Add();
    deps_.logger->Warn(
        absl::StrCat(batch, ": ", status.message(), "; trying again"));
    return true;
  }
  Fail(Annotate(status, batch));
  return false;
}

void LeaseTrainer::Fail(absl::Status status) {
  if (!pipeline_.alive()) return;
  pipeline_.Fail();
  leases_.Tell(Failure{std::move(status)});
}

}  // namespace shoal
