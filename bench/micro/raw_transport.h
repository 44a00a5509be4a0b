#ifndef SHOAL_BENCH_MICRO_RAW_TRANSPORT_H_
#define SHOAL_BENCH_MICRO_RAW_TRANSPORT_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"

namespace shoal {

// The ceiling of the wire: one unary gRPC method over loopback, with one thread
// on a completion queue on each side. The request and the reply are slices of
// memory that our code never writes, reads or copies.
class RawTransport {
 public:
  RawTransport(uint64_t request_bytes, uint64_t reply_bytes);
  ~RawTransport();

  // Makes one call; `done` runs on the client's thread. Aborts if the call
  // fails.
  void Call(absl::AnyInvocable<void()> done);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_RAW_TRANSPORT_H_
