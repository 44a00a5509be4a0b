#ifndef SHOAL_CORE_PAYLOAD_BYTES_H_
#define SHOAL_CORE_PAYLOAD_BYTES_H_

#include <atomic>
#include <cstdint>

namespace shoal {

// Bytes that went in each direction.
struct ByteFlow {
  uint64_t sent = 0;
  uint64_t received = 0;
};

// The payload that a process, or several, exchanged with others, by method: ids
// and rows, dense values and gradients of pulls and pushes, and the data of a
// ring's operations. The rest of a message, such as the batches that it names,
// and the messages of sessions do not count. What was sent again counts again.
struct PayloadBytes {
  ByteFlow pull;
  ByteFlow push;
  ByteFlow ring;
};

// The payload of one process since its start. All of its connections add to the
// same counters, one atomic addition for each part of a message. Thread-safe.
struct PayloadCounters {
  struct Flow {
    std::atomic<uint64_t> sent{0};
    std::atomic<uint64_t> received{0};

    ByteFlow Read() const {
      return {sent.load(std::memory_order_relaxed),
              received.load(std::memory_order_relaxed)};
    }
  };

  Flow pull;
  Flow push;
  Flow ring;

  PayloadBytes Read() const { return {pull.Read(), push.Read(), ring.Read()}; }
};

}  // namespace shoal

#endif  // SHOAL_CORE_PAYLOAD_BYTES_H_
