#include "tests/cluster/step_simulation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

constexpr uint32_t kPieceBatches = 8;

Life LifeOf(int rank) { return {1, static_cast<uint32_t>(rank + 1)}; }

const StepBatch* BatchOf(const CloseStep& close, int rank) {
  for (const StepBatch& batch : close.batches) {
    if (batch.rank == rank) return &batch;
  }
  return nullptr;
}

}  // namespace

StepSimulation::StepSimulation(uint64_t shape, uint64_t delays, StepBug bug,
                               bool backup)
    : bug_(bug), random_(shape) {
  ranks_.resize(1 + Draw(5));
  shards_.resize(1 + Draw(4));
  StepCloserOptions options;
  LaneOptions lanes;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    options.ranks.push_back(LifeOf(static_cast<int>(rank)));
    lanes.ranks.push_back({LifeOf(static_cast<int>(rank)), 0});
  }
  const uint64_t drawn = Draw(ranks_.size());
  options.backup_workers = backup ? static_cast<uint32_t>(drawn) : 0;
  const bool each = bug == StepBug::kEachShardCloses;
  closers_.assign(each ? shards_.size() : 1, StepCloser(options));
  const auto batches = static_cast<uint32_t>(1 + Draw(40));
  for (uint32_t i = 0; i < batches; ++i) {
    all_.push_back({0, i / kPieceBatches, i % kPieceBatches});
    pieces_.resize(all_.back().piece + 1);
    ++pieces_.back();
  }
  LeaseTableOptions leases;
  leases.num_pieces = static_cast<uint32_t>(pieces_.size());
  leases.seed = shape;
  table_.emplace(leases, lanes);
  random_.seed(delays);
}

std::string StepSimulation::Run() {
  for (;;) {
    Deal();
    while (!tasks_.empty() && failure_.empty()) {
      auto first = tasks_.extract(tasks_.begin());
      now_ = first.key();
      first.mapped()();
      CheckHeld();
    }
    if (!failure_.empty()) return failure_;
    const bool idle = std::all_of(ranks_.begin(), ranks_.end(),
                                  [](const Rank& r) { return r.ended; });
    if (!idle || holding_) {
      std::vector<int> open;
      for (size_t i = 0; i < ranks_.size(); ++i) {
        if (!ranks_[i].ended) open.push_back(static_cast<int>(i));
      }
      return absl::StrCat("the job hangs: ", closers_[0].WaitingFor({open}));
    }
    if (!Left() || bug_ == StepBug::kDropForgotten) break;
  }
  for (const Shard& shard : shards_) {
    if (shard.marks.size() != all_.size()) return "a batch is not trained";
  }
  // A shard drops the push of a step that it knows to be closed by itself.
  if (!std::includes(answered_.begin(), answered_.end(), reported_.begin(),
                     reported_.end())) {
    return "a batch that was reported as dropped was not dropped";
  }
  return "";
}

void StepSimulation::After(uint64_t most, std::function<void()> task) {
  tasks_.emplace(now_ + 1 + Draw(most), std::move(task));
}

void StepSimulation::Send(const std::string& channel,
                          std::function<void()> task) {
  uint64_t& newest = channels_[channel];
  newest = std::max(newest, now_ + 1 + Draw(20));
  tasks_.emplace(newest, std::move(task));
}

void StepSimulation::Deal() {
  const absl::Status dealt = table_->Deal(0, Trained());
  if (!dealt.ok()) return Fail(dealt.ToString());
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].ended = false;
    ranks_[rank].idle = false;
    After(10, [this, rank] { Begin(static_cast<int>(rank)); });
  }
  if (bug_ == StepBug::kEachShardCloses) return;
  for (int hold = 0; hold < 2; ++hold) {
    After(400, [this] { AskForHold(); });
  }
}

void StepSimulation::Begin(int rank) {
  Rank& self = ranks_[rank];
  if (self.lane.empty()) {
    self.idle = false;
    Send(absl::StrCat("rank ", rank),
         [this, rank, done = self.lease] { OnRequest(rank, done); });
    return;
  }
  self.idle = self.told;
  if (self.told) return;
  self.replies = 0;
  self.least = ~uint64_t{0};
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    After(10, [this, rank, shard] { OnReply(rank, shard); });
  }
}

void StepSimulation::OnLease(int rank, uint64_t lease,
                             const std::vector<BatchId>& batches) {
  Rank& self = ranks_[rank];
  self.lease = lease;
  self.lane.assign(batches.begin(), batches.end());
  self.idle = lease == 0;
  if (lease != 0) Begin(rank);
}

void StepSimulation::OnReply(int rank, size_t shard) {
  Rank& self = ranks_[rank];
  const Shard& from = shards_[shard];
  self.least = std::min(self.least, from.count);
  if (++self.replies < static_cast<int>(shards_.size())) return;
  self.push = {self.least + 1, self.lane.front()};
  self.lane.pop_front();
  // Some steps of some ranks are slow.
  PushStep(rank, Draw(4) == 0 ? 120 : 20);
}

// Also for a step that was kept.
void StepSimulation::PushStep(int rank, uint64_t compute) {
  Rank& self = ranks_[rank];
  self.keeps = self.idle = false;
  self.answers = self.drops = 0;
  self.refused.clear();
  const Push push = self.push;
  for (size_t to = 0; to < shards_.size(); ++to) {
    After(compute, [this, to, rank, push] { OnPush(to, rank, push); });
  }
}

void StepSimulation::OnAnswer(size_t shard, int rank, Answered answer) {
  Rank& self = ranks_[rank];
  if (answer == Answered::kRefused) {
    self.refused.insert(shard);
    if (self.refused.size() == shards_.size()) return StandStill(rank);
    return After(40, [this, shard, rank] { PushAgain(shard, rank); });
  }
  self.drops += answer == Answered::kDropped;
  if (++self.answers < static_cast<int>(shards_.size())) return;
  if (self.drops != 0 && self.drops != self.answers) {
    return Fail(absl::StrCat("batch ", ToString(self.push.batch),
                             " is dropped on some shards alone"));
  }
  if (self.drops != 0) answered_.insert({self.push.step, self.push.batch});
  Begin(rank);
}

// Shards are not released at one moment: one may have the push while another
// still refuses it.
void StepSimulation::PushAgain(size_t shard, int rank) {
  Rank& self = ranks_[rank];
  if (self.keeps || self.refused.erase(shard) == 0) return;
  OnPush(shard, rank, self.push);
}

// The rank keeps its step: until it is resumed, or for a while if it was not
// told to stand still.
void StepSimulation::StandStill(int rank) {
  ranks_[rank].keeps = true;
  ranks_[rank].idle = true;
  After(40, [this, rank] {
    const Rank& self = ranks_[rank];
    if (self.keeps && !self.told) PushStep(rank, 20);
  });
}

void StepSimulation::Resume(int rank) {
  Rank& self = ranks_[rank];
  self.told = false;
  if (!self.idle || self.ended) return;
  if (self.keeps) return PushStep(rank, 20);
  if (!self.lane.empty()) Begin(rank);
}

void StepSimulation::OnPush(size_t shard, int rank, Push push) {
  Shard& self = shards_[shard];
  if (self.marks.contains(push.batch)) {
    return Answer(shard, rank, Answered::kDone);
  }
  if (push.step <= self.newest) {
    const CloseStep& close = self.closed.at(push.step);
    const StepBatch* batch = BatchOf(close, rank);
    if (batch == nullptr || batch->batch != push.batch) {
      return Answer(shard, rank, Answered::kDropped);
    }
  } else if (self.hold && self.count == self.newest) {
    return Answer(shard, rank, Answered::kRefused);
  }
  ReportParked(shard, rank, push);
  self.parked[rank] = push;
  Apply(shard);
  if (Draw(5) == 0) {
    After(60, [this, shard, rank, push] { TakeOut(shard, rank, push); });
  }
}

// The call of a parked push ends, and the rank calls again.
void StepSimulation::TakeOut(size_t shard, int rank, Push push) {
  Shard& self = shards_[shard];
  const auto it = self.parked.find(rank);
  if (it == self.parked.end() || it->second.step != push.step) return;
  self.parked.erase(it);
  ReportTakenOut(shard, rank, push);
  After(20, [this, shard, rank, push] { OnPush(shard, rank, push); });
}

void StepSimulation::OnClose(size_t shard, const CloseStep& close) {
  Shard& self = shards_[shard];
  if (close.step != self.newest + 1) return Fail("steps are not in order");
  self.newest = close.step;
  self.hold = close.hold && bug_ != StepBug::kPushesDuringHold;
  self.closed[close.step] = close;
  for (auto it = self.parked.begin(); it != self.parked.end();) {
    const auto [rank, push] = *it++;
    if (push.step != close.step || BatchOf(close, rank) != nullptr) continue;
    self.parked.erase(rank);
    Answer(shard, rank, Answered::kDropped);
  }
  Apply(shard);
}

void StepSimulation::Apply(size_t shard) {
  Shard& self = shards_[shard];
  for (;;) {
    const auto next = self.closed.find(self.count + 1);
    if (next == self.closed.end()) return RefuseParked(shard);
    const CloseStep& close = next->second;
    for (const StepBatch& batch : close.batches) {
      const auto it = self.parked.find(batch.rank);
      if (it == self.parked.end() || it->second.step != close.step) return;
    }
    for (const StepBatch& batch : close.batches) {
      if (!self.marks.insert(batch.batch).second) Fail("a batch counts twice");
      self.parked.erase(batch.rank);
      Answer(shard, batch.rank, Answered::kDone);
    }
    ++self.count;
  }
}

// If the shard has applied the last step before a hold: answers the pushes that
// it has parked for the next one.
void StepSimulation::RefuseParked(size_t shard) {
  Shard& self = shards_[shard];
  if (!self.hold || self.count != self.newest) return;
  for (const auto& [rank, push] : self.parked) {
    Answer(shard, rank, Answered::kRefused);
    // Whether the coordinator is told changes nothing.
    if (Draw(2) == 0) ReportTakenOut(shard, rank, push);
  }
  self.parked.clear();
}

void StepSimulation::Answer(size_t shard, int rank, Answered answer) {
  After(10, [this, shard, rank, answer] { OnAnswer(shard, rank, answer); });
}

// The rank has done with a lease, or has none, and asks for the next one.
void StepSimulation::OnRequest(int rank, uint64_t done) {
  if (done != 0) table_->Done(done, table_->Find(done)->owner, absl::Time());
  const std::optional<HeldLease> held = Take(rank);
  ranks_[rank].ended = !held.has_value();
  StepClosers();
  uint64_t lease = 0;
  std::vector<BatchId> batches;
  if (held.has_value()) {
    lease = held->number;
    batches = BatchesOf(*held);
  }
  Send(absl::StrCat("to rank ", rank), [=, this] {
    OnLease(rank, lease, batches);
  });
}

std::vector<BatchId> StepSimulation::BatchesOf(const HeldLease& held) const {
  Lease lease;
  lease.skip = Trained()[held.piece].batches;
  table_->Shape(held.number, &lease);
  std::vector<BatchId> batches;
  for (uint32_t i = 0; i < pieces_[held.piece]; ++i) {
    if (!lease.Skips(i)) batches.push_back({0, held.piece, i});
  }
  return batches;
}

std::optional<HeldLease> StepSimulation::Take(int rank) {
  const uint64_t number = ++leases_;
  if (bug_ != StepBug::kDealByArrival) {
    return table_->Take(LifeOf(rank), 0, number, absl::Time());
  }
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const int lane = static_cast<int>((number + i) % ranks_.size());
    auto held = table_->Take(LifeOf(lane), 0, number, absl::Time());
    if (held.has_value()) return held;
  }
  return std::nullopt;
}

void StepSimulation::ReportParked(size_t shard, int rank, Push push) {
  if (shard != 0 && bug_ != StepBug::kEachShardCloses) return;
  Send(absl::StrCat("shard ", shard), [this, shard, rank, push] {
    const absl::Status status = CloserOf(shard).OnParked(
        LifeOf(rank), push.step, {.batch = push.batch, .examples = 7});
    if (!status.ok()) Fail(status.ToString());
    StepClosers();
  });
}

void StepSimulation::ReportTakenOut(size_t shard, int rank, Push push) {
  if (shard != 0 && bug_ != StepBug::kEachShardCloses) return;
  Send(absl::StrCat("shard ", shard), [this, shard, rank, push] {
    CloserOf(shard).OnTakenOut(LifeOf(rank), push.step);
    StepClosers();
  });
}

void StepSimulation::StepClosers() {
  std::vector<int> open;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].ended) open.push_back(static_cast<int>(rank));
  }
  for (size_t i = 0; i < closers_.size(); ++i) {
    for (const CloserAction& action : closers_[i].Step({open})) Do(i, action);
  }
}

void StepSimulation::Do(size_t closer, const CloserAction& action) {
  if (const auto* close = std::get_if<CloseStep>(&action)) {
    const auto [it, added] = steps_.try_emplace(close->step, close->batches);
    if (it->second != close->batches) Fail("shards take two sets for one step");
    if (!added && bug_ == StepBug::kNone) Fail("a step is closed twice");
    if (close->examples != 7 * close->batches.size()) Fail("examples are lost");
    for (size_t shard = 0; shard < shards_.size(); ++shard) {
      if (closers_.size() > 1 && shard != closer) continue;
      Send(absl::StrCat("to shard ", shard),
           [this, shard, close = *close] { OnClose(shard, close); });
    }
  } else if (const auto* dropped = std::get_if<StepDropped>(&action)) {
    const bool fresh = reported_.insert({dropped->step, dropped->batch}).second;
    if (!fresh && bug_ == StepBug::kNone) Fail("a drop is reported twice");
  } else {
    const uint64_t step = std::get<StepHeld>(action).step;
    if (held_ || step + 1 != closers_[0].open_step()) Fail("a wrong hold");
    held_ = true;
    TellToStand();
  }
}

void StepSimulation::TellToStand() {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Send(absl::StrCat("to rank ", i), [this, i] { ranks_[i].told = true; });
  }
}

void StepSimulation::AskForHold() {
  if (holding_) return;
  holding_ = true;
  ++holds_;
  if (bug_ != StepBug::kHoldByTime) {
    closers_[0].Hold();
    return StepClosers();
  }
  TellToStand();
}

// Once all ranks stand, all shards have applied the same steps, and nothing is
// on its way.
void StepSimulation::CheckHeld() {
  if (!holding_ || (!held_ && bug_ != StepBug::kHoldByTime)) return;
  for (const Rank& rank : ranks_) {
    if (!rank.idle || !rank.told) return;
  }
  for (const Shard& shard : shards_) {
    if (!shard.parked.empty()) Fail("a push is parked where all ranks hold");
    if (shard.marks != shards_[0].marks) Fail("a checkpoint would be torn");
    if (shard.count + 1 != closers_[0].open_step()) Fail("a step is half done");
  }
  EndHold();
}

void StepSimulation::EndHold() {
  holding_ = held_ = false;
  if (bug_ != StepBug::kHoldByTime) closers_[0].Release();
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    Send(absl::StrCat("to shard ", shard),
         [this, shard] { shards_[shard].hold = false; });
  }
  StepClosers();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const int rank = static_cast<int>(i);
    Send(absl::StrCat("to rank ", i), [this, rank] { Resume(rank); });
  }
}

// By piece: what all shards have. The batches of a piece are known once some of
// them are trained.
std::vector<PieceTrained> StepSimulation::Trained() const {
  std::vector<PieceTrained> trained(pieces_.size());
  for (const BatchId& batch : all_) {
    const bool everywhere = std::all_of(
        shards_.begin(), shards_.end(),
        [&](const Shard& shard) { return shard.marks.contains(batch); });
    if (!everywhere) continue;
    PieceTrained& piece = trained[batch.piece];
    piece.num_batches = pieces_[batch.piece];
    piece.batches.resize(1);
    piece.batches[0] |= static_cast<uint8_t>(1 << batch.index);
    piece.complete = piece.batches[0] + 1 == 1 << *piece.num_batches;
  }
  return trained;
}

bool StepSimulation::Left() const {
  const std::vector<PieceTrained> trained = Trained();
  return std::any_of(trained.begin(), trained.end(),
                     [](const PieceTrained& piece) { return !piece.complete; });
}

}  // namespace shoal
