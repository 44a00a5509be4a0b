#include "rpc/ring/ring_operations.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "core/add_floats.h"

namespace shoal {
namespace {

absl::Status Breach(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("a frame out of order: ", what));
}

}  // namespace

RingOperations::RingOperations(RingSettings settings, uint64_t max_queued,
                               PayloadCounters::Flow* data)
    : settings_(std::move(settings)), max_queued_(max_queued), data_(data) {
  SHOAL_DCHECK(settings_.chunk_bytes > 0 &&
               settings_.chunk_bytes % sizeof(float) == 0);
}

RingOperations::Slot* RingOperations::Find(uint64_t number) {
  if (number < first_ || number - first_ >= slots_.size()) return nullptr;
  return &slots_[static_cast<size_t>(number - first_)];
}

const RingOperations::Slot* RingOperations::Find(uint64_t number) const {
  return const_cast<RingOperations*>(this)->Find(number);
}

RingOperations::Slot* RingOperations::Make(uint64_t number) {
  if (number < first_ || number - first_ >= max_queued_) return nullptr;
  while (slots_.size() <= number - first_) {
    slots_.emplace_back();
    slots_.back().said.resize(static_cast<size_t>(settings_.size));
  }
  return Find(number);
}

bool RingOperations::AllSaid(const Slot& slot) const {
  return slot.said_count == settings_.size;
}

bool RingOperations::SendsDone(const Slot& slot) const {
  return slot.called && (slot.differs || slot.flow->SendsDone());
}

bool RingOperations::ReceivesDone(const Slot& slot) const {
  return slot.called && (slot.differs || slot.flow->ReceivesDone());
}

bool RingOperations::MayPassOn(const Slot& slot) const {
  const bool next_said =
      slot.said[static_cast<size_t>(settings_.next())].has_value();
  return slot.said_count >= settings_.size - (next_said ? 0 : 1);
}

void RingOperations::Call(RingCall call) {
  if (!over_.ok()) {
    refused_.push_back({std::move(call.done), over_});
    return;
  }
  Slot* const slot = Make(called_);
  if (slot == nullptr) {
    refused_.push_back({std::move(call.done),
                        absl::ResourceExhaustedError(absl::StrCat(
                            max_queued_, " operations of rank ",
                            settings_.rank, " are queued already"))});
    return;
  }
  slot->called = true;
  slot->call = std::move(call);
  deadline_ = std::min(deadline_, slot->call.deadline);
  const CollectiveOperation own = slot->call.operation;
  for (const std::optional<CollectiveOperation>& said : slot->said) {
    slot->differs |= said.has_value() && said->Digest() != own.Digest();
  }
  Say(slot, called_, settings_.rank, own);
  ++called_;
}

// Notes what a rank says, and passes it on.
void RingOperations::Say(Slot* slot, uint64_t number, int origin,
                         CollectiveOperation operation) {
  if (origin != settings_.next() && settings_.size > 1) {
    announcements_.push_back(
        {EncodeAnnouncement(number, origin, operation), {}, number});
    ++slot->unsent;
  }
  if (slot->called) {
    const CollectiveOperation& own = slot->call.operation;
    if (operation.Digest() != own.Digest() ||
        (own.kind == CollectiveKind::kAllGather &&
         operation.length > settings_.max_part_bytes) ||
        (own.kind == CollectiveKind::kBroadcast &&
         own.root >= static_cast<uint32_t>(settings_.size))) {
      slot->differs = true;
    }
  }
  slot->said[static_cast<size_t>(origin)] = std::move(operation);
  ++slot->said_count;
  if (!slot->called || slot->differs) return;
  if (origin == settings_.rank) {
    MakeFlow(slot);
  } else {
    slot->flow->OnLength(origin,
                         slot->said[static_cast<size_t>(origin)]->length);
  }
}

void RingOperations::MakeFlow(Slot* slot) {
  RingCall& call = slot->call;
  switch (call.operation.kind) {
    case CollectiveKind::kAllReduce:
      slot->flow = MakeReduceFlow(settings_, call.values);
      return;
    case CollectiveKind::kBroadcast:
      slot->flow = MakeBroadcastFlow(
          settings_, static_cast<int>(call.operation.root), call.bytes);
      return;
    case CollectiveKind::kAllGather:
      break;
  }
  for (const std::optional<CollectiveOperation>& said : slot->said) {
    if (said.has_value() && said->length > settings_.max_part_bytes) {
      slot->differs = true;
      return;
    }
  }
  slot->flow = MakeGatherFlow(settings_, call.given, call.parts);
  for (int rank = 0; rank < settings_.size; ++rank) {
    const auto& said = slot->said[static_cast<size_t>(rank)];
    if (said.has_value()) slot->flow->OnLength(rank, said->length);
  }
}

absl::Status RingOperations::OnAnnouncement(const RingFrameHeader& header,
                                            CollectiveOperation operation) {
  if (header.position >= static_cast<uint64_t>(settings_.size) ||
      header.position == static_cast<uint64_t>(settings_.rank)) {
    return Breach(absl::StrCat("an announcement of rank ", header.position));
  }
  Slot* const slot = Make(header.number);
  if (slot == nullptr) {
    return Breach(absl::StrCat("an announcement of operation ", header.number,
                               " after ", first_, " operations"));
  }
  const int origin = static_cast<int>(header.position);
  if (slot->said[static_cast<size_t>(origin)].has_value()) {
    return Breach(absl::StrCat("a second announcement of rank ", origin));
  }
  Say(slot, header.number, origin, std::move(operation));
  return absl::OkStatus();
}

absl::StatusOr<RingOperations::Landing> RingOperations::OnData(
    const RingFrameHeader& header) {
  if (header.number < first_) return Landing{Landing::kDrop, {}};
  if (header.number - first_ >= max_queued_) {
    return Breach(absl::StrCat("data of operation ", header.number, " after ",
                               first_, " operations"));
  }
  landing_ = std::max(landing_, first_);
  const Slot* at = Find(landing_);
  while (at != nullptr && landing_ < header.number && ReceivesDone(*at)) {
    at = Find(++landing_);
  }
  if (at == nullptr || !at->called) return Landing{Landing::kWait, {}};
  if (landing_ != header.number) {
    return Breach(absl::StrCat("data of operation ", header.number,
                               " during operation ", landing_));
  }
  Slot* const slot = Find(landing_);
  if (slot->differs) return Landing{Landing::kDrop, {}};
  if (!slot->said[static_cast<size_t>(settings_.previous())].has_value()) {
    return Breach("data before the announcement");
  }
  if (slot->flow->ReceivesDone() || header.position != slot->received) {
    return Breach(absl::StrCat("data frame ", header.position,
                               " of an operation, ", slot->received,
                               " have come"));
  }
  const std::optional<RingFlow::Landing> landing = slot->flow->NextReceive();
  if (!landing.has_value()) return Breach("data before their length");
  if (landing->memory.size() != header.length) {
    return Breach(absl::StrCat(header.length, " bytes of data where ",
                               landing->memory.size(), " belong"));
  }
  if (!landing->reduce) return Landing{Landing::kInto, landing->memory};
  addend_.ResizeDiscard(landing->memory.size());
  return Landing{Landing::kInto, {addend_.data(), addend_.size()}};
}

void RingOperations::Landed() {
  Slot* const slot = Find(landing_);
  SHOAL_DCHECK(slot != nullptr && slot->flow != nullptr);
  const std::optional<RingFlow::Landing> landing = slot->flow->NextReceive();
  SHOAL_DCHECK(landing.has_value());
  if (landing->reduce) {
    AddFloats(reinterpret_cast<const float*>(addend_.data()),
              landing->memory.size() / sizeof(float),
              reinterpret_cast<float*>(landing->memory.data()));
  }
  ++slot->received;
  if (data_ != nullptr) {
    data_->received.fetch_add(landing->memory.size(),
                              std::memory_order_relaxed);
  }
  slot->flow->Received();
}

std::optional<RingFrameOut> RingOperations::NextFrame() {
  if (!announcements_.empty()) {
    RingFrameOut frame = std::move(announcements_.front());
    announcements_.pop_front();
    return frame;
  }
  sending_ = std::max(sending_, first_);
  Slot* slot = Find(sending_);
  while (slot != nullptr && SendsDone(*slot) && MayPassOn(*slot)) {
    slot = Find(++sending_);
  }
  if (slot == nullptr || !slot->called || SendsDone(*slot)) {
    return std::nullopt;
  }
  const std::optional<absl::Span<const char>> chunk = slot->flow->NextSend();
  if (!chunk.has_value()) return std::nullopt;
  RingFrameHeader header;
  header.kind = RingFrameKind::kData;
  header.length = static_cast<uint32_t>(chunk->size());
  header.number = sending_;
  header.position = slot->sent++;
  RingFrameOut frame;
  AppendHeader(header, &frame.head);
  frame.payload = *chunk;
  frame.number = sending_;
  slot->flow->Sent();
  ++slot->unsent;
  return frame;
}

void RingOperations::OnSent(const RingFrameOut& frame) {
  Slot* const slot = Find(frame.number);
  if (slot != nullptr) --slot->unsent;
  if (data_ != nullptr) {
    data_->sent.fetch_add(frame.payload.size(), std::memory_order_relaxed);
  }
}

std::vector<RingOperations::Completed> RingOperations::TakeCompleted() {
  std::vector<Completed> completed = std::exchange(refused_, {});
  while (!slots_.empty()) {
    Slot& slot = slots_.front();
    if (!AllSaid(slot) || slot.unsent > 0 || !SendsDone(slot) ||
        !ReceivesDone(slot)) {
      break;
    }
    absl::Status status;
    if (slot.differs) {
      std::vector<CollectiveOperation> by_rank;
      for (auto& said : slot.said) by_rank.push_back(std::move(*said));
      status = CheckOperations(by_rank, settings_.max_part_bytes);
      SHOAL_DCHECK(!status.ok());
    }
    completed.push_back({std::move(slot.call.done), std::move(status)});
    slots_.pop_front();
    ++first_;
  }
  return completed;
}

void RingOperations::End(const absl::Status& status,
                         std::optional<uint64_t> late,
                         const absl::Status& its_status) {
  SHOAL_DCHECK(!status.ok());
  if (over_.ok()) over_ = status;
  uint64_t number = first_;
  for (Slot& slot : slots_) {
    if (slot.called) {
      refused_.push_back({std::move(slot.call.done),
                          late == number ? its_status : status});
    }
    ++number;
  }
  first_ += slots_.size();
  slots_.clear();
  announcements_.clear();
  deadline_ = absl::InfiniteFuture();
}

bool RingOperations::NeedsPrevious() const {
  for (const Slot& slot : slots_) {
    if (slot.called && !(AllSaid(slot) && ReceivesDone(slot))) return true;
  }
  return false;
}

bool RingOperations::NeedsNext() const {
  if (!announcements_.empty()) return true;
  for (const Slot& slot : slots_) {
    if (slot.called && (slot.unsent > 0 || !SendsDone(slot))) return true;
  }
  return false;
}

std::optional<uint64_t> RingOperations::Late(absl::Time now) {
  if (now < deadline_) return std::nullopt;
  deadline_ = absl::InfiniteFuture();
  std::optional<uint64_t> late;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].called) break;
    deadline_ = std::min(deadline_, slots_[i].call.deadline);
    if (!late.has_value() && slots_[i].call.deadline <= now) late = first_ + i;
  }
  return late;
}

// Operations are done in their order: the first one shows who is waited for.
int RingOperations::Culprit(const Slot& first) const {
  int culprit = settings_.previous();
  if (AllSaid(first)) {
    return ReceivesDone(first) ? settings_.next() : culprit;
  }
  // The nearest rank before this one of which nothing has come.
  while (first.said[static_cast<size_t>(culprit)].has_value()) {
    culprit = (culprit + settings_.size - 1) % settings_.size;
  }
  return culprit;
}

std::optional<RingOperations::Waiting> RingOperations::waiting() const {
  if (slots_.empty() || !slots_.front().called || settings_.size < 2) {
    return std::nullopt;
  }
  const Slot& first = slots_.front();
  return Waiting{first.call.operation.index, Culprit(first)};
}

std::string RingOperations::WaitsFor(uint64_t number) const {
  const Slot* const slot = Find(number);
  SHOAL_DCHECK(slot != nullptr && slot->called);
  const Slot& first = slots_.front();
  const std::string behind =
      number == first_
          ? ""
          : absl::StrCat(" behind ", first.call.operation.ToString());
  return absl::StrCat(slot->call.operation.ToString(), behind, " of ",
                      settings_.Name(settings_.rank), " waits for ",
                      settings_.Name(Culprit(first)));
}

}  // namespace shoal
