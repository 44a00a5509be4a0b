#include "worker/train/lease_trainer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/train/gradient_check.h"

namespace shoal {

struct LeaseTrainer::Step {
  std::shared_ptr<OpenLease> lease;
  TrainStep train;
  bool pulled = false;
  absl::Time sent;  // its pull, then its push, the first time
  // Since when every answer was RESOURCE_EXHAUSTED; InfiniteFuture: not so.
  absl::Time full_since = absl::InfiniteFuture();

  bool evaluates() const { return lease->evaluates(); }
};

LeaseTrainer::LeaseTrainer(LeaseTrainerOptions options,
                           LeaseTrainerDependencies deps,
                           std::unique_ptr<ShardedClient> client, Send send)
    : options_(options),
      deps_(deps),
      client_(std::move(client)),
      leases_(options.scores, deps.open_source, deps.strand, std::move(send)),
      clock_(deps.telemetry) {}

void LeaseTrainer::Start() { leases_.Request(); }

void LeaseTrainer::AddLease(Lease lease) {
  if (abandoned_) return;
  leases_.Add(std::move(lease));
  Pump();
}

void LeaseTrainer::Abandon() {
  clock_.Stop(deps_.strand->Now());
  if (deps_.telemetry != nullptr && !abandoned_) {
    // What is in flight is nobody's from now on.
    deps_.telemetry->pulls_in_flight->Add(-PullsInFlight());
    deps_.telemetry->pushes_in_flight->Add(-pushes_);
  }
  abandoned_ = true;
  leases_.Abandon();
  read_.clear();
  // Calls in flight hold their own steps.
  pulls_.clear();
  drained_ = nullptr;
  held_ = nullptr;
}

void LeaseTrainer::Hold(absl::AnyInvocable<void() &&> held) {
  if (abandoned_) return;
  holding_ = true;
  held_ = std::move(held);
  Pump();
}

void LeaseTrainer::Resume() {
  holding_ = false;
  held_ = nullptr;
  Pump();
}

void LeaseTrainer::Drain(absl::AnyInvocable<void() &&> idle) {
  read_.clear();
  leases_.Stop();
  if (abandoned_ || failed_) {
    deps_.strand->Post(std::move(idle));
    return;
  }
  drained_ = std::move(idle);
  Pump();
}

void LeaseTrainer::Pump() {
  if (abandoned_ || failed_) return;
  if (drained_ != nullptr) {
    if (pulls_.empty() && pushes_ == 0) {
      auto idle = std::exchange(drained_, nullptr);
      abandoned_ = true;
      clock_.Stop(deps_.strand->Now());
      std::move(idle)();
      return;
    }
  } else {
    while (!holding_ && !read_.empty() && MayPull(*read_.front())) {
      std::shared_ptr<Step> step = std::move(read_.front());
      read_.pop_front();
      clock_.Enter(StepState::kPrepare, deps_.strand->Now());
      PrepareStep(client_->partitions(), options_.field_size, &unique_,
                  &step->train);
      pulls_.push_back(step);
      step->sent = deps_.strand->Now();
      clock_.Enter(StepState::kSend, step->sent);
      if (deps_.telemetry != nullptr) {
        deps_.telemetry->pulls_in_flight->Add(1);
      }
      SendPull(std::move(step));
    }
    if (read_.size() <= static_cast<size_t>(options_.pipeline_depth)) {
      ReadNext();
    }
    if (held_ != nullptr && pulls_.empty() && pushes_ == 0) {
      std::exchange(held_, nullptr)();
    }
  }
  if (!compute_posted_ && !pulls_.empty() && pulls_.front()->pulled &&
      pushes_ <= options_.pipeline_depth) {
    // Posted, so that replies which have already come are seen first.
    compute_posted_ = true;
    deps_.strand->Post([self = shared_from_this()] { self->ComputeFront(); });
  }
  EnterWait();
}

void LeaseTrainer::EnterWait() {
  if (deps_.telemetry == nullptr) return;
  StepState state = StepState::kCompute;  // which is posted
  if (!compute_posted_) {
    if (!pulls_.empty()) {
      state =
          pulls_.front()->pulled ? StepState::kWaitPush : StepState::kWaitPull;
    } else if (pushes_ > 0 && !read_.empty()) {
      state = StepState::kWaitPush;
    } else {
      state = leases_.empty() ? StepState::kWaitLease : StepState::kWaitData;
    }
  }
  clock_.Enter(state, deps_.strand->Now());
}

int LeaseTrainer::PullsInFlight() const {
  int count = 0;
  for (const std::shared_ptr<Step>& step : pulls_) count += !step->pulled;
  return count;
}

bool LeaseTrainer::MayPull(const Step& next) const {
  const size_t depth = options_.pipeline_depth;
  // Parameters stand still in an evaluation, so nothing grows stale.
  if (next.evaluates()) return pulls_.size() <= depth;
  return pulls_.size() < std::max<size_t>(depth, 1) &&
         pushes_ <= options_.pipeline_depth;
}

void LeaseTrainer::ReadNext() {
  leases_.ReadNext([self = shared_from_this()](std::shared_ptr<OpenLease> lease,
                                               std::optional<Batch> batch) {
    if (batch.has_value()) self->TakeBatch(std::move(lease), *std::move(batch));
    self->Pump();
  });
}

void LeaseTrainer::TakeBatch(std::shared_ptr<OpenLease> lease, Batch batch) {
  std::shared_ptr<Step> step;
  if (idle_steps_.empty()) {
    step = std::make_shared<Step>();
  } else {
    step = std::move(idle_steps_.back());
    idle_steps_.pop_back();
  }
  step->train.batch = std::move(batch);
  step->pulled = false;
  step->lease = std::move(lease);
  read_.push_back(std::move(step));
}

void LeaseTrainer::SendPull(std::shared_ptr<Step> step) {
  StepParameters* parameters = &step->train.parameters;
  const bool read_only = step->evaluates();
  client_->Pull(parameters, read_only,
                [self = shared_from_this(),
                 step = std::move(step)](absl::Status status) mutable {
                  self->OnPulled(std::move(step), std::move(status));
                });
}

void LeaseTrainer::OnPulled(std::shared_ptr<Step> step, absl::Status status) {
  if (abandoned_) return;
  if (status.ok()) {
    step->pulled = true;
    if (deps_.telemetry != nullptr) {
      deps_.telemetry->pulls_in_flight->Add(-1);
      deps_.telemetry->pull_seconds->Observe(
          absl::ToDoubleSeconds(deps_.strand->Now() - step->sent));
    }
    step->full_since = absl::InfiniteFuture();
    Pump();
  } else if (MayPass(status, step.get())) {
    deps_.strand->PostAfter(
        options_.retry_pause,
        [self = shared_from_this(), step = std::move(step)]() mutable {
          if (!self->abandoned_) self->SendPull(std::move(step));
        });
  }
}

void LeaseTrainer::ComputeFront() {
  compute_posted_ = false;
  if (abandoned_ || failed_) return;
  std::shared_ptr<Step> step = std::move(pulls_.front());
  pulls_.pop_front();
  clock_.Enter(StepState::kCompute, deps_.strand->Now());
  const std::vector<uint8_t>& labels = step->train.batch.examples.labels;
  if (step->evaluates()) {
    PredictStep(options_.field_size, deps_.model, &step->train);
    leases_.AddScores(step->lease.get(), step->train.batch.id.index,
                      step->train.logits.span(), labels);
    if (deps_.telemetry != nullptr) {
      deps_.telemetry->evaluated->Add(static_cast<double>(labels.size()));
    }
    EndStep(std::move(step));
  } else {
    ComputeStep(options_.field_size, deps_.model, &step->train);
    CheckGradient(step->train.loss_sum, options_.clip_norm,
                  &step->train.parameters);
    if (step->lease->lease.Rejected(step->train.batch.id.index)) {
      step->train.parameters.rejected = true;
    }
    if (!step->train.parameters.rejected) {
      deps_.progress->AddScores(step->train.logits.span(), labels);
    }
    ++pushes_;
    step->sent = deps_.strand->Now();
    clock_.Enter(StepState::kSend, step->sent);
    if (deps_.telemetry != nullptr) deps_.telemetry->pushes_in_flight->Add(1);
    SendPush(std::move(step));
  }
  Pump();
}

void LeaseTrainer::SendPush(std::shared_ptr<Step> step) {
  if (deps_.logger->Enabled(LogLevel::kDebug)) {
    deps_.logger->Debug(
        absl::StrCat("push sent ", ToString(step->train.batch.id)));
  }
  const TrainStep& train = step->train;
  const uint64_t lease = step->lease->lease.number;
  client_->Push(train.batch.id, lease, train.parameters,
                [self = shared_from_this(), step = std::move(step)](
                    absl::StatusOr<Verdict> verdict) mutable {
                  self->OnPushed(std::move(step), std::move(verdict));
                });
}

void LeaseTrainer::OnPushed(std::shared_ptr<Step> step,
                            absl::StatusOr<Verdict> verdict) {
  if (abandoned_) return;
  const Batch& batch = step->train.batch;
  if (verdict.ok()) {
    if (deps_.logger->Enabled(LogLevel::kDebug)) {
      deps_.logger->Debug(absl::StrCat("push done ", ToString(batch.id)));
    }
    if (*verdict == Verdict::kRejected) {
      deps_.logger->Warn(absl::StrCat(
          "batch ", ToString(batch.id), " was rejected: its loss or gradient ",
          step->lease->lease.Rejected(batch.id.index)
              ? "was not finite, or too large, when it was first trained"
              : "is not finite, or too large",
          "; it changed nothing"));
    } else {
      deps_.progress->AddTrained(batch.examples.size(), step->train.loss_sum);
    }
    step->full_since = absl::InfiniteFuture();
    --pushes_;
    MeasurePushed(*step, *verdict);
    EndStep(std::move(step));
    Pump();
  } else if (MayPass(verdict.status(), step.get())) {
    deps_.strand->PostAfter(
        options_.retry_pause,
        [self = shared_from_this(), step = std::move(step)]() mutable {
          if (!self->abandoned_) self->SendPush(std::move(step));
        });
  }
}

void LeaseTrainer::MeasurePushed(const Step& step, Verdict verdict) {
  const WorkerTelemetry* const telemetry = deps_.telemetry;
  if (telemetry == nullptr) return;
  telemetry->pushes_in_flight->Add(-1);
  telemetry->push_seconds->Observe(
      absl::ToDoubleSeconds(deps_.strand->Now() - step.sent));
  if (verdict == Verdict::kRejected) {
    telemetry->batches_rejected->Add();
    return;
  }
  const double examples = static_cast<double>(step.train.batch.examples.size());
  telemetry->batches->Add();
  telemetry->examples->Add(examples);
  telemetry->loss->Set(step.train.loss_sum / examples);
}

void LeaseTrainer::EndStep(std::shared_ptr<Step> step) {
  leases_.EndBatch(std::move(step->lease), std::move(step->train.batch));
  idle_steps_.push_back(std::move(step));
}

bool LeaseTrainer::MayPass(const absl::Status& status, Step* step) {
  const std::string batch =
      absl::StrCat("batch ", ToString(step->train.batch.id));
  const bool full = absl::IsResourceExhausted(status);
  const absl::Time now = deps_.strand->Now();
  step->full_since =
      full ? std::min(step->full_since, now) : absl::InfiniteFuture();
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
      (full && now - step->full_since < options_.full_patience)) {
    if (deps_.telemetry != nullptr) deps_.telemetry->retries->Add();
    deps_.logger->Warn(
        absl::StrCat(batch, ": ", status.message(), "; trying again"));
    return true;
  }
  if (!failed_) {
    failed_ = true;
    leases_.Tell(Failure{Annotate(status, batch)});
  }
  return false;
}

}  // namespace shoal
