#include "tests/coordinator/sync_job_simulation.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest_parts.h"

namespace shoal {
namespace {

constexpr uint32_t kBatchSize = 10;
// A job that takes longer hangs. In milliseconds, as all times.
constexpr uint64_t kLongest = 500'000;

// A batch whose gradient is not sound.
bool Rejected(const BatchId& id) {
  return (id.epoch + 3 * id.piece + 5 * id.index) % 17 == 0;
}

const PushedBatch* BatchOf(const StepClosed& closed, uint64_t lease) {
  for (const PushedBatch& batch : closed.batches) {
    if (batch.lease == lease) return &batch;
  }
  return nullptr;
}

}  // namespace

SyncJobSimulation::SyncJobSimulation(uint64_t shape, uint64_t delays,
                                     bool backup)
    : random_(shape) {
  ranks_.resize(1 + Draw(4));
  shards_.resize(1 + Draw(3));
  options_.job = "j";
  options_.ps.count = static_cast<int>(shards_.size());
  options_.num_workers = static_cast<int>(ranks_.size());
  options_.num_epochs = static_cast<uint32_t>(1 + Draw(3));
  options_.batch_size = kBatchSize;
  options_.piece_bytes = 0;
  options_.seed = shape;
  options_.lanes = true;
  const uint64_t drawn = Draw(ranks_.size());
  options_.backup_workers = backup ? static_cast<uint32_t>(drawn) : 0;
  options_.silent_after = absl::Hours(1);
  options_.watch_divergence = false;
  options_.checkpoints.save = true;
  options_.checkpoints.model_dir = "m";
  options_.checkpoints.map.num_shards = options_.ps.count;
  const uint64_t files = 1 + Draw(7);
  for (uint64_t i = 0; i < files; ++i) {
    const auto batches = static_cast<uint32_t>(1 + Draw(6));
    files_.push_back({batches, kBatchSize * (batches - 1) + 1 + Draw(10)});
    sources_.push_back({absl::StrCat("f", i), 100, static_cast<uint32_t>(i),
                        /*compressed=*/Draw(4) == 0});
  }
  random_.seed(delays);
}

// ---- Time -------------------------------------------------------------------

absl::Time SyncJobSimulation::Now() const {
  return absl::UnixEpoch() + absl::Milliseconds(now_);
}

void SyncJobSimulation::After(uint64_t most, std::function<void()> task) {
  tasks_.emplace(now_ + 1 + Draw(most), std::move(task));
}

void SyncJobSimulation::Send(const std::string& channel,
                             std::function<void()> task) {
  uint64_t& newest = channels_[channel];
  newest = std::max(newest, now_ + 1 + Draw(20));
  tasks_.emplace(newest, std::move(task));
}

std::string SyncJobSimulation::Run() {
  state_.emplace(options_, Now());
  for (size_t k = 0; k < shards_.size(); ++k) {
    Join(Role::kPs, static_cast<int>(k), k + 1);
  }
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    After(100, [this, rank] {
      Join(Role::kWorker, static_cast<int>(rank), SessionOf(rank));
      Ask(rank);
      Ask(rank);
    });
  }
  for (uint64_t save = 1; save <= 3; ++save) {
    After(3000, [this, save] { Do(state_->RequestSave(save, Now())); });
  }
  Tick();
  while (!tasks_.empty() && failure_.empty() && !finished_) {
    auto first = tasks_.extract(tasks_.begin());
    now_ = first.key();
    if (now_ > kLongest) return "the job hangs";
    first.mapped()();
  }
  return failure_.empty() ? CheckEnd() : failure_;
}

std::string SyncJobSimulation::CheckEnd() {
  const JobReport report = state_->Report(Now());
  if (!report.status.ok()) return report.status.ToString();
  uint64_t examples = 0;
  std::map<BatchId, bool> all;
  for (uint32_t epoch = 0; epoch < options_.num_epochs; ++epoch) {
    for (uint32_t i = 0; i < files_.size(); ++i) {
      examples += files_[i].examples;
      for (uint32_t b = 0; b < files_[i].batches; ++b) {
        const BatchId id{epoch, i, b};
        all[id] = Rejected(id);
      }
    }
  }
  for (const Shard& shard : shards_) {
    if (shard.marks != all) return "a shard has not trained what there is";
  }
  if (report.trained + report.rejected != examples) return "examples are lost";
  if (report.recomputed + report.mended + report.repeats_refused != 0) {
    return "a batch was trained twice";
  }
  return "";
}

// ---- The coordinator --------------------------------------------------------

void SyncJobSimulation::Join(Role role, int index, uint64_t session) {
  RegisterRequest request;
  request.job = "j";
  request.role = role;
  request.index = index;
  if (role == Role::kPs) {
    request.address = absl::StrCat("h", index, ":1");
  } else {
    request.train_sources = sources_;
  }
  const auto reply = state_->Register(request, Now());
  if (!reply.ok()) return Fail(reply.status().ToString());
  if (role == Role::kWorker) ranks_[index].life = reply->life;
  Do(state_->OpenSession(session, reply->life, Now()));
}

void SyncJobSimulation::Tell(uint64_t session, ProcessMessage message) {
  Send(absl::StrCat("from ", session),
       [this, session, message = std::move(message)]() mutable {
         Do(state_->OnMessage(session, std::move(message), Now()));
       });
}

void SyncJobSimulation::Tick() {
  tasks_.emplace(now_ + 250, [this] {
    Do(state_->Tick(Now()));
    Tick();
  });
}

void SyncJobSimulation::Do(CoordinatorActions actions) {
  for (CoordinatorAction& action : actions) {
    if (auto* send = std::get_if<SendAction>(&action)) {
      const uint64_t session = send->session;
      Send(absl::StrCat("to ", session),
           [this, session, message = std::move(send->message)] {
             Deliver(session, message);
           });
    } else if (auto* end = std::get_if<EndSessionAction>(&action)) {
      if (!end->status.ok()) Fail(end->status.ToString());
    } else if (auto* commit = std::get_if<CommitAction>(&action)) {
      After(50, [this, number = commit->number] {
        Do(state_->OnCommitted(number, TextOf("manifest"), Now()));
      });
    } else if (auto* reply = std::get_if<SaveReplyAction>(&action)) {
      if (reply->saved.ok()) ++saves_;
    } else if (std::get_if<ContinueAction>(&action) != nullptr) {
      After(5, [this] { Do(state_->Continue(Now())); });
    } else if (std::get_if<FinishedAction>(&action) != nullptr) {
      finished_ = true;
    }
  }
}

void SyncJobSimulation::Deliver(uint64_t session, CoordinatorMessage message) {
  if (std::get_if<JobEnd>(&message) != nullptr) return Tell(session, Bye{});
  if (session <= shards_.size()) {
    ToShard(session - 1, message);
  } else {
    ToRank(session - shards_.size() - 1, message);
  }
}

// ---- Ranks ------------------------------------------------------------------

void SyncJobSimulation::ToRank(size_t rank, const CoordinatorMessage& message) {
  Rank& self = ranks_[rank];
  if (const auto* grant = std::get_if<LeaseGrant>(&message)) {
    if (self.hold.has_value()) Fail("a rank gets a lease during a hold");
    --self.asked;
    rank_of_lease_[grant->lease.number] = rank;
    self.leases.push_back(grant->lease);
  } else if (const auto* hold = std::get_if<Hold>(&message)) {
    self.hold = hold->number;
    self.said_held = false;
  } else if (std::get_if<Resume>(&message) != nullptr) {
    self.hold.reset();
    if (self.state == RankState::kKeeps) return PushStep(rank, 20);
  }
  Advance(rank);
}

void SyncJobSimulation::Ask(size_t rank) {
  ++ranks_[rank].asked;
  Tell(SessionOf(rank), LeaseRequest{});
}

void SyncJobSimulation::Advance(size_t rank) {
  Rank& self = ranks_[rank];
  if (self.state == RankState::kBusy) return;
  if (self.hold.has_value()) {
    if (!std::exchange(self.said_held, true)) {
      Tell(SessionOf(rank), Held{*self.hold, {}});
    }
    return;
  }
  if (self.state == RankState::kKeeps) return;
  while (!self.leases.empty() && !BeginStep(rank)) {
    ReportPiece(rank);
    Tell(SessionOf(rank), LeaseDone{self.leases.front().number});
    self.leases.pop_front();
    self.next = 0;
    self.reported = false;
    Ask(rank);
  }
}

void SyncJobSimulation::ReportPiece(size_t rank) {
  Rank& self = ranks_[rank];
  if (std::exchange(self.reported, true)) return;
  const Lease& lease = self.leases.front();
  const File& file = files_[lease.piece.index];
  Tell(SessionOf(rank),
       PieceReport{LeasePurpose::kTrain, lease.epoch, lease.piece.index,
                   file.examples, 0, file.batches, ""});
}

bool SyncJobSimulation::BeginStep(size_t rank) {
  Rank& self = ranks_[rank];
  const Lease& lease = self.leases.front();
  const File& file = files_[lease.piece.index];
  while (self.next < file.batches && lease.Skips(self.next)) ++self.next;
  if (self.next == file.batches) return false;
  // The reader is ahead of the steps.
  if (Draw(3) == 0) ReportPiece(rank);
  const uint32_t index = self.next++;
  self.push.batch.id = {lease.epoch, lease.piece.index, index};
  self.push.batch.lease = lease.number;
  self.push.batch.examples = static_cast<uint32_t>(
      std::min<uint64_t>(kBatchSize, file.examples - kBatchSize * index));
  self.push.batch.rejected = Rejected(self.push.batch.id);
  self.state = RankState::kBusy;
  self.replies = 0;
  self.least = ~uint64_t{0};
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    After(10, [this, rank, shard] { OnReply(rank, shard); });
  }
  return true;
}

void SyncJobSimulation::OnReply(size_t rank, size_t shard) {
  Rank& self = ranks_[rank];
  self.least = std::min(self.least, shards_[shard].count);
  if (++self.replies < static_cast<int>(shards_.size())) return;
  self.push.step = self.least + 1;
  // Some steps of some ranks are slow.
  PushStep(rank, Draw(4) == 0 ? 120 : 20);
}

void SyncJobSimulation::PushStep(size_t rank, uint64_t compute) {
  Rank& self = ranks_[rank];
  self.state = RankState::kBusy;
  self.answers = self.drops = 0;
  self.refused.clear();
  const Push push = self.push;
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    After(compute, [this, shard, rank, push] { OnPush(shard, rank, push); });
  }
}

void SyncJobSimulation::OnAnswer(size_t shard, size_t rank, Answered answer) {
  Rank& self = ranks_[rank];
  if (answer == Answered::kRefused) {
    self.refused.insert(shard);
    if (self.refused.size() == shards_.size()) return Keep(rank);
    return After(40, [this, shard, rank] { PushAgain(shard, rank); });
  }
  self.drops += answer == Answered::kDropped;
  if (++self.answers < static_cast<int>(shards_.size())) return;
  if (self.drops != 0 && self.drops != self.answers) {
    return Fail("a batch is dropped on some shards alone");
  }
  if (self.drops != 0) ++dropped_;
  self.state = RankState::kIdle;
  Advance(rank);
}

// Shards are not released at one moment: one may have the push while another
// still refuses it.
void SyncJobSimulation::PushAgain(size_t shard, size_t rank) {
  Rank& self = ranks_[rank];
  if (self.state != RankState::kBusy || self.refused.erase(shard) == 0) return;
  OnPush(shard, rank, self.push);
}

void SyncJobSimulation::Keep(size_t rank) {
  ranks_[rank].state = RankState::kKeeps;
  Advance(rank);
  After(40, [this, rank] {
    const Rank& self = ranks_[rank];
    if (self.state == RankState::kKeeps && !self.hold.has_value()) {
      PushStep(rank, 20);
    }
  });
}

// ---- Shards -----------------------------------------------------------------

void SyncJobSimulation::ToShard(size_t shard,
                                const CoordinatorMessage& message) {
  Shard& self = shards_[shard];
  if (const auto* closed = std::get_if<StepClosed>(&message)) {
    OnClosed(shard, *closed);
  } else if (std::get_if<StepsReleased>(&message) != nullptr) {
    self.hold = false;
  } else if (const auto* hold = std::get_if<Hold>(&message)) {
    self.sealed = true;
    SayHeld(shard, hold->number);
  } else if (std::get_if<Resume>(&message) != nullptr) {
    self.sealed = false;
  } else if (const auto* save = std::get_if<SaveShard>(&message)) {
    Save(shard, *save);
  } else if (std::get_if<ReportShard>(&message) != nullptr) {
    Tell(shard + 1, ShardReport{});
  }
}

void SyncJobSimulation::OnPush(size_t shard, size_t rank, const Push& push) {
  Shard& self = shards_[shard];
  if (self.sealed) {
    // The rank was resumed before the shard, and tries again.
    After(20, [this, shard, rank, push] { OnPush(shard, rank, push); });
    return;
  }
  if (self.marks.contains(push.batch.id)) {
    return Answer(shard, rank, Answered::kDone);
  }
  if (push.step <= self.newest) {
    const StepClosed& closed = self.closed.at(push.step);
    const PushedBatch* batch = BatchOf(closed, push.batch.lease);
    if (batch == nullptr || *batch != push.batch) {
      return Answer(shard, rank, Answered::kDropped);
    }
  } else if (self.hold && self.count == self.newest) {
    return Answer(shard, rank, Answered::kRefused);
  }
  self.parked[rank] = push;
  if (shard == 0) {
    Tell(1, StepParked{push.step, ranks_[rank].life, push.batch});
  }
  Apply(shard);
  if (Draw(5) == 0) {
    After(60, [this, shard, rank, push] { TakeOut(shard, rank, push.step); });
  }
}

// The call of a parked push ends, and the rank calls again.
void SyncJobSimulation::TakeOut(size_t shard, size_t rank, uint64_t step) {
  Shard& self = shards_[shard];
  const auto it = self.parked.find(rank);
  if (it == self.parked.end() || it->second.step != step) return;
  const Push push = it->second;
  self.parked.erase(it);
  if (shard == 0) Tell(1, StepTakenOut{step, ranks_[rank].life});
  After(20, [this, shard, rank, push] { OnPush(shard, rank, push); });
}

size_t SyncJobSimulation::RankOf(const PushedBatch& batch) const {
  return rank_of_lease_.at(batch.lease);
}

void SyncJobSimulation::OnClosed(size_t shard, const StepClosed& closed) {
  Shard& self = shards_[shard];
  if (closed.step != self.newest + 1) return Fail("steps are not in order");
  self.newest = closed.step;
  self.hold = closed.hold;
  self.closed[closed.step] = closed;
  if (shard == 0) {
    steps_.emplace_back();
    for (const PushedBatch& batch : closed.batches) {
      steps_.back().push_back(batch.id);
    }
  }
  for (auto it = self.parked.begin(); it != self.parked.end();) {
    const auto [rank, push] = *it++;
    const bool in = BatchOf(closed, push.batch.lease) != nullptr;
    if (push.step != closed.step || in) continue;
    self.parked.erase(rank);
    Answer(shard, rank, Answered::kDropped);
  }
  Apply(shard);
}

void SyncJobSimulation::Apply(size_t shard) {
  Shard& self = shards_[shard];
  for (;;) {
    const auto next = self.closed.find(self.count + 1);
    if (next == self.closed.end()) break;
    const StepClosed& closed = next->second;
    const bool all = std::all_of(
        closed.batches.begin(), closed.batches.end(),
        [&](const PushedBatch& batch) {
          const auto it = self.parked.find(RankOf(batch));
          return it != self.parked.end() && it->second.step == closed.step;
        });
    if (!all) return;
    ApplyStep(shard, closed);
  }
  if (!self.hold || self.count != self.newest) return;
  // The last step before a hold is applied.
  for (const auto& [rank, push] : std::exchange(self.parked, {})) {
    Answer(shard, rank, Answered::kRefused);
    if (shard == 0) Tell(1, StepTakenOut{push.step, ranks_[rank].life});
  }
}

void SyncJobSimulation::ApplyStep(size_t shard, const StepClosed& closed) {
  Shard& self = shards_[shard];
  MarkDelta delta;
  for (const PushedBatch& batch : closed.batches) {
    const size_t rank = RankOf(batch);
    if (self.parked.at(rank).batch != batch) Fail("another batch is applied");
    self.parked.erase(rank);
    if (!self.marks.emplace(batch.id, batch.rejected).second) {
      Fail("a batch counts twice");
    }
    delta.marks.push_back(
        {batch.id, batch.rejected ? Verdict::kRejected : Verdict::kApplied,
         batch.lease, false});
    Answer(shard, rank, Answered::kDone);
  }
  ++self.count;
  Tell(shard + 1, std::move(delta));
}

void SyncJobSimulation::Answer(size_t shard, size_t rank, Answered answer) {
  After(10, [this, shard, rank, answer] { OnAnswer(shard, rank, answer); });
}

void SyncJobSimulation::SayHeld(size_t shard, uint64_t number) {
  Shard& self = shards_[shard];
  if (!self.parked.empty()) Fail("a push is parked at a sealed shard");
  for (const Rank& rank : ranks_) {
    if (rank.state == RankState::kBusy) Fail("a push is in flight in a hold");
  }
  Held held;
  held.number = number;
  for (const auto& [id, rejected] : self.marks) {
    ++(rejected ? held.marks.rejected : held.marks.applied);
    held.marks.digest += 1'000'003 * id.epoch + 1'009 * id.piece + id.index;
  }
  Tell(shard + 1, held);
}

void SyncJobSimulation::Save(size_t shard, const SaveShard& save) {
  ShardEntry entry;
  entry.shard = static_cast<int>(shard);
  entry.marks = shards_[shard].marks.size();
  entry.file.file = ShardFileName(entry.shard, options_.ps.count);
  After(50, [this, shard, number = save.number,
             text = ShardEntryToText(entry)] {
    Tell(shard + 1, ShardWritten{number});
    Tell(shard + 1, ShardSaved{number, absl::OkStatus(), text});
  });
}

}  // namespace shoal
