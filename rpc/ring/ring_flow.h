#ifndef SHOAL_RPC_RING_RING_FLOW_H_
#define SHOAL_RPC_RING_RING_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "core/gathered_parts.h"
#include "core/ring_schedule.h"
#include "rpc/ring/ring_settings.h"

namespace shoal {

// The data of one operation as one rank sends and receives them, chunk by
// chunk. The chunks that a rank receives are those that the rank before sends,
// in the same order. REQUIRES of all: the ranks agree on the operation. Pure.
// Owned by one thread.
class RingFlow {
 public:
  // Where the next chunk belongs.
  struct Landing {
    absl::Span<char> memory;
    // True: the chunk is to be added to the floats that are there.
    bool reduce = false;
  };

  virtual ~RingFlow() = default;

  virtual bool SendsDone() const = 0;
  // The next chunk to send, never empty; nullopt while it waits for a receive.
  // REQUIRES: !SendsDone().
  virtual std::optional<absl::Span<const char>> NextSend() const = 0;
  // That chunk is being sent.
  virtual void Sent() = 0;

  virtual bool ReceivesDone() const = 0;
  // Where the next chunk that comes belongs; nullopt while its length is not
  // known. REQUIRES: !ReceivesDone().
  virtual std::optional<Landing> NextReceive() const = 0;
  // That chunk is there.
  virtual void Received() = 0;

  // A rank said how many bytes its part has.
  virtual void OnLength(int /*rank*/, uint64_t /*bytes*/) {}
};

std::unique_ptr<RingFlow> MakeReduceFlow(const RingSettings& settings,
                                         absl::Span<float> values);
// `parts` is reset at once, and gets memory as lengths are known.
std::unique_ptr<RingFlow> MakeGatherFlow(const RingSettings& settings,
                                         absl::Span<const char> bytes,
                                         GatheredParts* parts);
// REQUIRES: 0 <= root < settings.size.
std::unique_ptr<RingFlow> MakeBroadcastFlow(const RingSettings& settings,
                                            int root, absl::Span<char> bytes);

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_FLOW_H_
