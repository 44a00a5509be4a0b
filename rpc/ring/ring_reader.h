#ifndef SHOAL_RPC_RING_RING_READER_H_
#define SHOAL_RPC_RING_RING_READER_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rpc/ring/ring_frame.h"
#include "rpc/ring/ring_operations.h"

namespace shoal {

// Reads the frames of one connection. Data go straight to the memory where they
// belong, but for the few KiB that were read together with a header. Owned by
// one thread.
class RingReader {
 public:
  // Reads into up to two ranges, as readv does: the number of bytes, 0 at the
  // end of the connection, or -errno.
  using ReadFunction = absl::FunctionRef<ssize_t(iovec* ranges, int count)>;

  enum class Result {
    kBlocked,  // nothing more has come
    kWaits,    // this rank was not called for the operation that comes
    kChunk,    // a chunk has come; read again
    kFailure,  // the other side says that the ring is over: failure()
    kEnd,      // the connection has ended
  };
  struct Failure {
    int rank = 0;  // at fault
    std::string text;
  };

  // `operations` gets the frames; null: no frames but failures are allowed.
  RingReader(RingSettings settings, RingOperations* operations)
      : settings_(std::move(settings)), operations_(operations) {}

  // Reads until one of the results. DATA_LOSS: the bytes are not frames.
  // UNAVAILABLE: the connection is broken.
  absl::StatusOr<Result> Read(ReadFunction read);

  // True if the connection must not end here: a frame has begun.
  bool within_frame() const { return state_ != kHead || had_ > 0; }
  const Failure& failure() const { return failure_; }

 private:
  enum State { kHead, kBody, kInto, kDrop, kWait };

  // Uses bytes that were read. True if a whole frame has come.
  absl::StatusOr<bool> Use();
  absl::Status OnHead();
  absl::Status OnBody();
  absl::Status Land();
  // Reads more: 0, or as ReadFunction.
  ssize_t Fill(ReadFunction read);
  size_t Take(char* to, size_t most);

  const RingSettings settings_;
  RingOperations* const operations_;
  State state_ = kHead;
  std::array<char, RingFrameHeader::kBytes> head_;
  size_t had_ = 0;  // bytes of the head, the body or the data that are there
  RingFrameHeader header_;
  std::string body_;
  absl::Span<char> memory_;  // kInto
  bool failed_ = false;
  Failure failure_;
  // Bytes that were read and not used: [begin_, end_) of buffer_.
  static constexpr size_t kBufferBytes = 4096;
  std::array<char, kBufferBytes> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::unique_ptr<char[]> dropped_;  // room for bytes that nobody needs
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_READER_H_
