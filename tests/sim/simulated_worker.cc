#include "tests/sim/simulated_worker.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/job_loss.h"

namespace shoal {

void SimulatedWorker::Freeze(absl::Duration span) {
  frozen_until_ = std::max(frozen_until_, deps_.executor->Now() + span);
}

void SimulatedWorker::Run(LifePtr life, Task task) {
  if (deps_.executor->Now() < frozen_until_) {
    deps_.executor->PostAt(frozen_until_, [this, life = std::move(life),
                                           task = std::move(task)]() mutable {
      Run(std::move(life), std::move(task));
    });
  } else if (life == nullptr || life == life_) {
    std::move(task)();
  }
}

void SimulatedWorker::After(absl::Duration delay, LifePtr life, Task task) {
  deps_.executor->PostAfter(
      delay, [this, life = std::move(life), task = std::move(task)]() mutable {
        Run(std::move(life), std::move(task));
      });
}

void SimulatedWorker::Register() {
  ++registrations_;
  // The simulator has one clock.
  deps_.registration.attempt =
      static_cast<uint64_t>(absl::ToUnixMicros(deps_.executor->Now()));
  deps_.cluster->Register(
      deps_.registration, absl::Seconds(5),
      [this](absl::StatusOr<RegisterReply> reply) {
        Run(nullptr, [this, reply = std::move(reply)] {
          if (reply.ok()) {
            Open(reply->life);
          } else if (absl::IsFailedPrecondition(reply.status()) ||
                     RefusedByLostJob(reply.status())) {
            ended_ = true;
          } else {
            After(absl::Milliseconds(200) +
                      deps_.draw.Span(absl::Milliseconds(300), "register",
                                      registrations_),
                  nullptr, [this] { Register(); });
          }
        });
      });
}

void SimulatedWorker::Open(Life number) {
  auto life = std::make_shared<OneLife>();
  life_ = life;
  life->life = number;
  life->sequences.resize(deps_.num_shards);
  SessionHandler handler;
  handler.on_message = [this, life](CoordinatorMessage message) {
    Run(life, [this, life, message = std::move(message)]() mutable {
      OnMessage(life, std::move(message));
    });
  };
  handler.on_end = [this, life](absl::Status) {
    Run(life, [this] { DropSession(); });
  };
  life->session = deps_.cluster->OpenSession({number}, std::move(handler));
  Beat(life);
}

void SimulatedWorker::DropSession() {
  if (life_ == nullptr) return;
  life_->session = nullptr;
  life_ = nullptr;
  if (!ended_) Register();
}

void SimulatedWorker::Beat(const LifePtr& life) {
  Heartbeat heartbeat;
  heartbeat.progress.examples = life->examples;
  life->session->Send(heartbeat);
  After(absl::Seconds(1), life, [this, life] { Beat(life); });
}

void SimulatedWorker::OnMessage(const LifePtr& life,
                                CoordinatorMessage message) {
  if (std::holds_alternative<ClusterView>(message)) {
    life->session->Send(LeaseRequest{});
  } else if (auto* grant = std::get_if<LeaseGrant>(&message)) {
    StartLease(life, std::move(grant->lease));
  } else if (std::holds_alternative<JobEnd>(message)) {
    ended_ = true;
    life->session->Send(Bye{});
  }
}

void SimulatedWorker::StartLease(const LifePtr& life, Lease lease) {
  if (lease.purpose == LeasePurpose::kEvaluate) {
    uint32_t skipped = 0;
    while (lease.Skips(skipped)) ++skipped;
    Evaluate(life, lease, uint64_t{skipped} * lease.batch_size);
    return;
  }
  auto work = std::make_shared<Work>();
  const uint64_t examples = deps_.examples(lease.purpose, lease.piece.index);
  const uint64_t batches = (examples + lease.batch_size - 1) / lease.batch_size;
  for (uint32_t i = 0; i < batches; ++i) {
    if (lease.Skips(i)) continue;
    if (lease.backwards) {
      work->batches.push_front(i);
    } else {
      work->batches.push_back(i);
    }
  }
  work->lease = std::move(lease);
  life->work = work;
  PushNext(life, work);
}

void SimulatedWorker::SendReport(const LifePtr& life, const Lease& lease) {
  const uint64_t examples = deps_.examples(lease.purpose, lease.piece.index);
  PieceReport report;
  report.purpose = lease.purpose;
  report.epoch = lease.epoch;
  report.piece = lease.piece.index;
  report.examples = examples;
  report.batches = static_cast<uint32_t>((examples + lease.batch_size - 1) /
                                         lease.batch_size);
  life->session->Send(report);
}

void SimulatedWorker::Evaluate(const LifePtr& life, const Lease& lease,
                               uint64_t row) {
  constexpr uint64_t kAtOnce = 50;
  After(options_.batch_time * 3, life, [this, life, lease, row] {
    const uint64_t examples = deps_.examples(lease.purpose, lease.piece.index);
    EvalResult result;
    result.lease = lease.number;
    result.epoch = lease.epoch;
    result.piece = lease.piece.index;
    result.offset = row;
    const uint64_t end = std::min(examples, row + kAtOnce);
    const float logit = deps_.right_weights(lease) ? 1.0f : 3.0f;
    for (uint64_t i = row; i < end; ++i) {
      result.labels.push_back(i % 2);
      result.logits.push_back(i % 2 == 0 ? -logit : logit);
    }
    result.more = end < examples;
    if (!result.more) SendReport(life, lease);
    life->session->Send(result);
    if (result.more) {
      Evaluate(life, lease, end);
      return;
    }
    life->session->Send(LeaseDone{lease.number});
    life->session->Send(LeaseRequest{});
  });
}

void SimulatedWorker::PushNext(const LifePtr& life,
                               const std::shared_ptr<Work>& work) {
  if (work->batches.empty() && !std::exchange(work->all_sent, true)) {
    SendReport(life, work->lease);
    life->session->Send(LeaseRequest{});
    if (options_.done_too_early) {
      life->session->Send(LeaseDone{work->lease.number});
    }
  }
  if (work->all_sent) {
    if (work->unacknowledged == 0) {
      life->session->Send(LeaseDone{work->lease.number});
      if (life->work == work) life->work = nullptr;
    }
    return;
  }
  if (work->unacknowledged >= options_.in_flight) return;
  const BatchId batch{work->lease.epoch, work->lease.piece.index,
                      work->batches.front()};
  work->batches.pop_front();
  ++work->unacknowledged;
  auto shards_left = std::make_shared<int>(deps_.num_shards);
  const absl::Duration computing =
      options_.batch_time *
      (0.5 + deps_.draw.Unit("compute", work->lease.number, batch.epoch,
                             batch.piece, batch.index));
  After(computing, life, [this, life, work, batch, shards_left] {
    for (int k = 0; k < deps_.num_shards; ++k) {
      SimulatedPush push{life->life, ++life->sequences[k], batch,
                         work->lease.number, deps_.verdict(batch)};
      deps_.push(k, push, [this, life, work, shards_left] {
        Run(life, [this, life, work, shards_left] {
          if (--*shards_left > 0) return;
          --work->unacknowledged;
          life->examples += work->lease.batch_size;
          PushNext(life, work);
        });
      });
    }
    PushNext(life, work);
  });
}

}  // namespace shoal
