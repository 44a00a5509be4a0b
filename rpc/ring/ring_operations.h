#ifndef SHOAL_RPC_RING_RING_OPERATIONS_H_
#define SHOAL_RPC_RING_RING_OPERATIONS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/collective.h"
#include "core/collective_operation.h"
#include "core/payload_bytes.h"
#include "rpc/ring/ring_flow.h"
#include "rpc/ring/ring_frame.h"
#include "rpc/ring/ring_settings.h"

namespace shoal {

// A caller's operation, with the memory that it is about.
struct RingCall {
  CollectiveOperation operation;
  absl::Span<float> values;      // AllReduce
  absl::Span<const char> given;  // AllGather
  GatheredParts* parts = nullptr;
  absl::Span<char> bytes;  // Broadcast
  absl::Time deadline = absl::InfiniteFuture();
  Done<CollectiveReply> done;
};

// A frame to send: `head`, then `payload`, which is a caller's memory.
struct RingFrameOut {
  std::string head;
  absl::Span<const char> payload;
  uint64_t number = 0;  // the operation
};

// The operations of one rank of a ring: which frame is sent next, where the
// bytes that come belong, and which calls are complete. Pure: no sockets, no
// clock. Owned by one thread.
//
// Each rank says once to every other rank what it knows about an operation: an
// announcement goes round the ring and is passed on at once, before data, also
// for operations that this rank was not called for yet. Data go only to the
// next rank. A rank that hears of a difference sends no more data of that
// operation and drops what comes. The operation is complete when all ranks have
// spoken: so every rank has the same list and decides alike. Data of an
// operation follow all announcements of the operation before it, so a rank that
// was not called yet may leave them unread.
class RingOperations {
 public:
  struct Completed {
    Done<CollectiveReply> done;
    absl::Status status;
  };
  // What to do with the bytes of a data frame.
  struct Landing {
    enum What { kInto, kDrop, kWait } what = kDrop;
    absl::Span<char> memory;  // kInto
  };

  // `max_queued`: limit on the operations that one rank is ahead of another.
  // The bytes of data are added to `data`, which may be null.
  RingOperations(RingSettings settings, uint64_t max_queued,
                 PayloadCounters::Flow* data = nullptr);

  // Takes a call, which is complete at once after End, or if too many are
  // queued.
  void Call(RingCall call);

  // An announcement came. DATA_LOSS: no rank that keeps the protocol sends it.
  absl::Status OnAnnouncement(const RingFrameHeader& header,
                              CollectiveOperation operation);
  // A data frame's header came: where do its bytes belong? kWait: this rank was
  // not called for the operation yet; ask again later. DATA_LOSS as above.
  absl::StatusOr<Landing> OnData(const RingFrameHeader& header);
  // The bytes of the last OnData, which said kInto, are all there.
  void Landed();

  // The next frame to send; nullopt if there is none at present. Its payload
  // stays valid until OnSent.
  std::optional<RingFrameOut> NextFrame();
  // The frame is sent, or the ring is over and it never will be.
  void OnSent(const RingFrameOut& frame);

  // The calls that are complete, in their order.
  std::vector<Completed> TakeCompleted();
  // Ends all calls, and all later ones: call number `late` with `its_status`,
  // the others with `status`. REQUIRES: !status.ok().
  void End(const absl::Status& status, std::optional<uint64_t> late,
           const absl::Status& its_status);

  bool idle() const { return slots_.empty(); }
  // True if a call needs something from the rank before, or has something for
  // the next rank.
  bool NeedsPrevious() const;
  bool NeedsNext() const;

  // The first deadline of a call, or a time before it.
  absl::Time deadline() const { return deadline_; }
  // The number of a call whose deadline has come.
  std::optional<uint64_t> Late(absl::Time now);
  // What the oldest call waits for; nullopt if there is none.
  struct Waiting {
    uint32_t index = 0;  // of the operation in its step
    int rank = 0;
  };
  std::optional<Waiting> waiting() const;
  // For people: "AllReduce 'a' … of rank 0 waits for rank 2". REQUIRES: there
  // is such a call.
  std::string WaitsFor(uint64_t number) const;

 private:
  // One operation that is not complete.
  struct Slot {
    bool called = false;
    RingCall call;
    std::unique_ptr<RingFlow> flow;  // null until called, or if it differs
    std::vector<std::optional<CollectiveOperation>> said;  // by rank
    int said_count = 0;
    bool differs = false;    // the ranks cannot do it together
    int unsent = 0;          // frames that are to be sent or being sent
    uint64_t sent = 0;       // data frames
    uint64_t received = 0;   // data frames
  };

  Slot* Find(uint64_t number);
  const Slot* Find(uint64_t number) const;
  // Makes slots up to `number`. Null: it is too far ahead.
  Slot* Make(uint64_t number);
  void Say(Slot* slot, uint64_t number, int origin,
           CollectiveOperation operation);
  void MakeFlow(Slot* slot);
  // The rank that the oldest operation waits for. REQUIRES: it was called.
  int Culprit(const Slot& first) const;
  bool SendsDone(const Slot& slot) const;
  bool ReceivesDone(const Slot& slot) const;
  bool AllSaid(const Slot& slot) const;
  // True if everything that the next rank must hear about the operation before
  // the next operation's data is on its way.
  bool MayPassOn(const Slot& slot) const;

  const RingSettings settings_;
  const uint64_t max_queued_;
  PayloadCounters::Flow* const data_;
  std::deque<Slot> slots_;
  uint64_t first_ = 0;    // number of slots_.front()
  uint64_t called_ = 0;   // calls so far
  uint64_t sending_ = 0;  // the operation whose data are sent
  uint64_t landing_ = 0;  // the operation whose data come
  std::deque<RingFrameOut> announcements_;  // to be sent
  std::vector<Completed> refused_;  // calls that ended without a result
  absl::Status over_;               // why; OK: no end so far
  AlignedBuffer<char> addend_;  // a chunk that is to be added
  absl::Time deadline_ = absl::InfiniteFuture();
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_OPERATIONS_H_
