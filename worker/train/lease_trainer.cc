#include "worker/train/lease_trainer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/train/gradient_check.h"

namespace shoal {

struct LeaseTrainer::OpenLease {
  Lease lease;
  std::unique_ptr<BatchSource> source;
  int batches_out = 0;  // read and not yet ended
  bool all_read = false;
  bool failed = false;
  std::optional<ScoreSender> scores;  // of an evaluation
  uint64_t examples = 0;              // of the piece, once it is all read
};

struct LeaseTrainer::Step {
  std::shared_ptr<OpenLease> lease;
  TrainStep train;
  bool pulled = false;
  absl::Time sent;  // its pull, then its push, the first time
  // Since when every answer was RESOURCE_EXHAUSTED; InfiniteFuture: not so.
  absl::Time full_since = absl::InfiniteFuture();

  bool evaluates() const {
    return lease->lease.purpose != LeasePurpose::kTrain;
  }
};

LeaseTrainer::LeaseTrainer(LeaseTrainerOptions options,
                           LeaseTrainerDependencies deps,
                           std::unique_ptr<ShardedClient> client, Send send)
    : options_(options),
      deps_(deps),
      client_(std::move(client)),
      send_(std::move(send)),
      clock_(deps.telemetry) {}

void LeaseTrainer::Start() { RequestLease(); }

void LeaseTrainer::RequestLease() {
  if (abandoned_ || lease_requested_ || drained_ != nullptr) return;
  lease_requested_ = true;
  send_(LeaseRequest{});
}

void LeaseTrainer::AddLease(Lease lease) {
  if (abandoned_) return;
  lease_requested_ = false;
  auto open = std::make_shared<OpenLease>();
  open->lease = std::move(lease);
  absl::StatusOr<std::unique_ptr<BatchSource>> source =
      (*deps_.open_source)(open->lease);
  if (!source.ok()) {
    send_(LeaseFailed{open->lease.number, source.status()});
    RequestLease();
    return;
  }
  open->source = *std::move(source);
  if (open->lease.purpose != LeasePurpose::kTrain) {
    open->scores.emplace(options_.scores, open->lease, deps_.strand->Now());
  }
  leases_.push_back(std::move(open));
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
  // A read under way holds its lease, and so its source: it would go on reading
  // on a thread of its own, for a strand that may be gone by then.
  for (const std::shared_ptr<OpenLease>& lease : leases_) {
    lease->source = nullptr;
  }
  leases_.clear();
  read_.clear();
  // Calls in flight hold their own steps.
  pulls_.clear();
  drained_ = nullptr;
  held_ = nullptr;
  send_ = [](const ProcessMessage&) {};
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
  if (reading_ || leases_.empty()) return;
  reading_ = true;
  std::shared_ptr<OpenLease> lease = leases_.front();
  BatchSource* source = lease->source.get();
  source->Next([self = shared_from_this(), lease = std::move(lease)](
                   absl::StatusOr<std::optional<Batch>> read) mutable {
    self->OnRead(std::move(lease), std::move(read));
  });
}

void LeaseTrainer::OnRead(std::shared_ptr<OpenLease> lease,
                          absl::StatusOr<std::optional<Batch>> read) {
  reading_ = false;
  if (abandoned_ || drained_ != nullptr) return;
  if (!read.ok()) {
    lease->failed = true;
    send_(LeaseFailed{lease->lease.number, read.status()});
    StopReading(lease.get());
  } else if (!read->has_value()) {
    lease->all_read = true;
    lease->examples = lease->source->report().examples;
    send_(lease->source->report());
    OpenLease* ended = lease.get();
    StopReading(ended);
    EndLeaseIfDone(ended);
  } else {
    std::shared_ptr<Step> step;
    if (idle_steps_.empty()) {
      step = std::make_shared<Step>();
    } else {
      step = std::move(idle_steps_.back());
      idle_steps_.pop_back();
    }
    step->train.batch = *std::move(*read);
    step->pulled = false;
    ++lease->batches_out;
    step->lease = std::move(lease);
    read_.push_back(std::move(step));
  }
  Pump();
}

void LeaseTrainer::StopReading(OpenLease* lease) {
  lease->source.reset();
  leases_.pop_front();
  RequestLease();
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
    step->lease->scores->Add(
        step->train.batch.id.index, step->train.logits.span(), labels,
        deps_.strand->Now(),
        [this](EvalResult scores) { send_(std::move(scores)); });
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
  std::shared_ptr<OpenLease> lease = std::move(step->lease);
  if (lease->source != nullptr) {
    lease->source->Recycle(std::move(step->train.batch));
  }
  --lease->batches_out;
  idle_steps_.push_back(std::move(step));
  EndLeaseIfDone(lease.get());
}

void LeaseTrainer::EndLeaseIfDone(OpenLease* lease) {
  if (!lease->all_read || lease->failed || lease->batches_out > 0) return;
  if (lease->scores.has_value()) {
    lease->scores->End(lease->examples, deps_.strand->Now(),
                       [this](EvalResult scores) { send_(std::move(scores)); });
  }
  send_(LeaseDone{lease->lease.number});
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
    send_(Failure{Annotate(status, batch)});
  }
  return false;
}

}  // namespace shoal
