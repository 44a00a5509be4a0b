#include "rpc/ring/ring_flow.h"

#include <algorithm>

#include "base/check.h"

namespace shoal {
namespace {

class ReduceFlow final : public RingFlow {
 public:
  ReduceFlow(const RingSettings& settings, absl::Span<float> values)
      : schedule_(settings.reduction, settings.size, settings.rank,
                  values.size(), settings.chunk_bytes / sizeof(float)),
        values_(values) {
    SkipEmptySends();
    SkipEmptyReceives();
  }

  bool SendsDone() const override { return sent_ == schedule_.sends(); }
  std::optional<absl::Span<const char>> NextSend() const override {
    if (schedule_.Needs(sent_) > received_) return std::nullopt;
    return Bytes(schedule_.Send(sent_));
  }
  void Sent() override {
    ++sent_;
    SkipEmptySends();
  }

  bool ReceivesDone() const override {
    return received_ == schedule_.receives();
  }
  std::optional<Landing> NextReceive() const override {
    const RingTransfer transfer = schedule_.Receive(received_);
    return Landing{Bytes(transfer), transfer.reduce};
  }
  void Received() override {
    ++received_;
    SkipEmptyReceives();
  }

 private:
  absl::Span<char> Bytes(const RingTransfer& transfer) const {
    return {reinterpret_cast<char*>(values_.data() + transfer.begin),
            static_cast<size_t>(transfer.length) * sizeof(float)};
  }
  void SkipEmptySends() {
    while (!SendsDone() && schedule_.Send(sent_).length == 0) ++sent_;
  }
  void SkipEmptyReceives() {
    while (!ReceivesDone() && schedule_.Receive(received_).length == 0) {
      ++received_;
    }
  }

  const RingSchedule schedule_;
  const absl::Span<float> values_;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
};

// Parts go round the ring: a rank sends its own, then that of the rank before,
// and so on. It never sends the part of the next rank.
class GatherFlow final : public RingFlow {
 public:
  GatherFlow(const RingSettings& settings, absl::Span<const char> bytes,
             GatheredParts* parts)
      : rank_(settings.rank),
        size_(settings.size),
        chunk_(settings.chunk_bytes),
        parts_(parts),
        known_(static_cast<size_t>(settings.size)) {
    parts_->Reset(size_);
    parts_->Refer(rank_, bytes);
    known_[static_cast<size_t>(rank_)] = true;
    SkipEmpty();
  }

  bool SendsDone() const override { return send_.hop == size_ - 1; }
  std::optional<absl::Span<const char>> NextSend() const override {
    const int origin = Origin(send_.hop);
    if (!Known(origin)) return std::nullopt;
    const absl::Span<const char> part = parts_->part(origin);
    const size_t bytes = std::min(chunk_, part.size() - send_.offset);
    const bool there = send_.hop == 0 || send_.hop - 1 < receive_.hop ||
                       (send_.hop - 1 == receive_.hop &&
                        send_.offset + bytes <= receive_.offset);
    if (!there) return std::nullopt;
    return part.subspan(send_.offset, bytes);
  }
  void Sent() override { Advance(&send_, Origin(send_.hop)); }

  bool ReceivesDone() const override { return receive_.hop == size_ - 1; }
  std::optional<Landing> NextReceive() const override {
    const int origin = Origin(receive_.hop + 1);
    if (!Known(origin)) return std::nullopt;
    const absl::Span<const char> part = parts_->part(origin);
    // The room that Allocate returned.
    char* const room = const_cast<char*>(part.data());
    return Landing{{room + receive_.offset,
                    std::min(chunk_, part.size() - receive_.offset)},
                   /*reduce=*/false};
  }
  void Received() override { Advance(&receive_, Origin(receive_.hop + 1)); }

  void OnLength(int rank, uint64_t bytes) override {
    if (Known(rank)) return;
    parts_->Allocate(rank, static_cast<size_t>(bytes));
    known_[static_cast<size_t>(rank)] = true;
    SkipEmpty();
  }

 private:
  // A place in the sequence of parts. hop: how many ranks the part has come
  // from, counted from the one that sends it.
  struct Place {
    int hop = 0;
    size_t offset = 0;
  };

  int Origin(int hops) const { return (rank_ + size_ - hops) % size_; }
  bool Known(int rank) const { return known_[static_cast<size_t>(rank)]; }

  void Advance(Place* place, int origin) {
    place->offset += std::min(chunk_, parts_->part(origin).size() -
                                          place->offset);
    SkipEmpty();
  }
  void SkipEmpty() {
    while (!SendsDone() && AtEnd(send_, Origin(send_.hop))) {
      send_ = {send_.hop + 1, 0};
    }
    while (!ReceivesDone() && AtEnd(receive_, Origin(receive_.hop + 1))) {
      receive_ = {receive_.hop + 1, 0};
    }
  }
  bool AtEnd(const Place& place, int origin) const {
    return Known(origin) && place.offset == parts_->part(origin).size();
  }

  const int rank_;
  const int size_;
  const size_t chunk_;
  GatheredParts* const parts_;
  std::vector<bool> known_;  // by rank: the part has its length
  Place send_;
  Place receive_;
};

class BroadcastFlow final : public RingFlow {
 public:
  BroadcastFlow(const RingSettings& settings, int root,
                absl::Span<char> bytes)
      : chunk_(settings.chunk_bytes),
        bytes_(bytes),
        sends_(settings.size > 1 && settings.next() != root),
        receives_(settings.rank != root) {}

  bool SendsDone() const override {
    return !sends_ || sent_ == bytes_.size();
  }
  std::optional<absl::Span<const char>> NextSend() const override {
    const absl::Span<const char> next = Chunk(sent_);
    if (receives_ && sent_ + next.size() > received_) return std::nullopt;
    return next;
  }
  void Sent() override { sent_ += Chunk(sent_).size(); }

  bool ReceivesDone() const override {
    return !receives_ || received_ == bytes_.size();
  }
  std::optional<Landing> NextReceive() const override {
    return Landing{Chunk(received_), /*reduce=*/false};
  }
  void Received() override { received_ += Chunk(received_).size(); }

 private:
  absl::Span<char> Chunk(size_t at) const {
    return bytes_.subspan(at, chunk_);
  }

  const size_t chunk_;
  const absl::Span<char> bytes_;
  const bool sends_;
  const bool receives_;
  size_t sent_ = 0;      // bytes
  size_t received_ = 0;  // bytes
};

}  // namespace

std::unique_ptr<RingFlow> MakeReduceFlow(const RingSettings& settings,
                                         absl::Span<float> values) {
  return std::make_unique<ReduceFlow>(settings, values);
}

std::unique_ptr<RingFlow> MakeGatherFlow(const RingSettings& settings,
                                         absl::Span<const char> bytes,
                                         GatheredParts* parts) {
  return std::make_unique<GatherFlow>(settings, bytes, parts);
}

std::unique_ptr<RingFlow> MakeBroadcastFlow(const RingSettings& settings,
                                            int root,
                                            absl::Span<char> bytes) {
  SHOAL_DCHECK(root >= 0 && root < settings.size);
  return std::make_unique<BroadcastFlow>(settings, root, bytes);
}

}  // namespace shoal
