#include "worker/train/lease_queue.h"

#include <algorithm>
#include <utility>

namespace shoal {

void LeaseQueue::Request() {
  if (stopped_ || requested_) return;
  requested_ = true;
  send_(LeaseRequest{});
}

void LeaseQueue::Add(Lease lease, uint64_t hold) {
  if (stopped_) return;
  if (hold == 0) requested_ = false;
  auto open = std::make_shared<OpenLease>();
  open->lease = std::move(lease);
  open->hold = hold;
  if (open->lease.empty()) {
    if (hold == 0) Request();
    open->state = OpenLease::State::kRead;
    if (hold == 0) uncomputed_.push_back(open);
    EndComputingIfDone(open.get());
    EndLeaseIfDone(open.get());
    return;
  }
  absl::StatusOr<std::unique_ptr<BatchSource>> source =
      (*open_source_)(open->lease);
  if (!source.ok()) {
    send_(LeaseFailed{open->lease.number, source.status()});
    if (hold == 0) Request();
    return;
  }
  open->source = *std::move(source);
  if (open->evaluates()) {
    open->scores.emplace(scores_, open->lease, strand_->Now());
  } else if (hold == 0) {
    uncomputed_.push_back(open);
  }
  const auto at =
      hold == 0 ? leases_.end()
                : std::find_if(leases_.begin(), leases_.end(),
                               [hold](const std::shared_ptr<OpenLease>& other) {
                                 return other->hold != hold;
                               });
  leases_.insert(at, std::move(open));
}

void LeaseQueue::ReadNext(Taker take) {
  if (leases_.empty()) return;
  std::shared_ptr<OpenLease> lease = leases_.front();
  if (lease->state != OpenLease::State::kReady) return;
  lease->state = OpenLease::State::kReading;
  BatchSource* source = lease->source.get();
  source->Next([this, lease = std::move(lease), take = std::move(take)](
                   absl::StatusOr<std::optional<Batch>> read) mutable {
    OnRead(lease, std::move(read), std::move(take));
  });
}

void LeaseQueue::OnRead(const std::shared_ptr<OpenLease>& lease,
                        absl::StatusOr<std::optional<Batch>> read, Taker take) {
  lease->state = OpenLease::State::kReady;
  if (stopped_) return;
  std::optional<Batch> batch;
  if (!read.ok()) {
    lease->state = OpenLease::State::kFailed;
    send_(LeaseFailed{lease->lease.number, read.status()});
    StopReading(lease);
    EndComputingIfDone(lease.get());
  } else if (!read->has_value()) {
    lease->state = OpenLease::State::kRead;
    lease->examples = lease->source->report().examples;
    send_(lease->source->report());
    StopReading(lease);
    EndComputingIfDone(lease.get());
    EndLeaseIfDone(lease.get());
  } else {
    ++lease->batches_ahead;
    ++lease->batches_out;
    batch = *std::move(read);
    if (lease->source->all_read()) RequestAfter(lease.get());
  }
  take(lease, std::move(batch));
}

void LeaseQueue::StopReading(const std::shared_ptr<OpenLease>& lease) {
  lease->source.reset();
  leases_.erase(std::find(leases_.begin(), leases_.end(), lease));
  RequestAfter(lease.get());
}

void LeaseQueue::RequestAfter(OpenLease* lease) {
  // A lease of a hold was not requested.
  if (lease->hold != 0 || std::exchange(lease->asked_next, true)) return;
  Request();
}

void LeaseQueue::AddScores(OpenLease* lease, uint32_t batch,
                           absl::Span<const float> logits,
                           absl::Span<const uint8_t> labels) {
  lease->scores->Add(batch, logits, labels, strand_->Now(),
                     [this](EvalResult scores) { send_(std::move(scores)); });
}

void LeaseQueue::OnComputed(OpenLease* lease) {
  --lease->batches_ahead;
  EndComputingIfDone(lease);
}

void LeaseQueue::EndComputingIfDone(OpenLease* lease) {
  if (lease->evaluates() || lease->source != nullptr ||
      lease->batches_ahead > 0) {
    return;
  }
  lease->computed = true;
  // Leases of a hold end before others, which wait for the end of the hold.
  if (lease->hold != 0) {
    last_computed_(lease->lease);
  } else {
    TellComputed();
  }
}

void LeaseQueue::TellComputed() {
  while (!uncomputed_.empty() && uncomputed_.front()->computed) {
    const std::shared_ptr<OpenLease> lease = std::move(uncomputed_.front());
    uncomputed_.pop_front();
    last_computed_(lease->lease);
    EndLeaseIfDone(lease.get());
  }
}

void LeaseQueue::EndBatch(std::shared_ptr<OpenLease> lease, Batch batch) {
  if (lease->source != nullptr) lease->source->Recycle(std::move(batch));
  --lease->batches_out;
  EndLeaseIfDone(lease.get());
}

void LeaseQueue::EndLeaseIfDone(OpenLease* lease) {
  if (lease->state != OpenLease::State::kRead || lease->batches_out > 0) return;
  const auto waits = [lease](const std::shared_ptr<OpenLease>& other) {
    return other.get() == lease;
  };
  if (std::any_of(uncomputed_.begin(), uncomputed_.end(), waits)) return;
  lease->state = OpenLease::State::kDone;
  if (lease->scores.has_value()) {
    lease->scores->End(lease->examples, strand_->Now(),
                       [this](EvalResult scores) { send_(std::move(scores)); });
  }
  send_(LeaseDone{lease->lease.number});
}

void LeaseQueue::Abandon() {
  stopped_ = true;
  // A read in progress keeps its lease alive, and so the lease's source, which
  // would go on reading on its own thread, for a strand that may no longer
  // exist.
  for (const std::shared_ptr<OpenLease>& lease : leases_) {
    lease->source = nullptr;
  }
  leases_.clear();
  uncomputed_.clear();
  send_ = [](const ProcessMessage&) {};
}

}  // namespace shoal
