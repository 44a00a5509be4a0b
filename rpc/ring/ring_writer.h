#ifndef SHOAL_RPC_RING_RING_WRITER_H_
#define SHOAL_RPC_RING_RING_WRITER_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/ring/ring_operations.h"

namespace shoal {

// Writes the frames of one connection, several in one call. Owned by one
// thread.
class RingWriter {
 public:
  // Writes ranges, as writev does: the number of bytes, or -errno.
  using WriteFunction = absl::FunctionRef<ssize_t(iovec* ranges, int count)>;

  // `operations` gives the frames; null: there are none but the last one.
  explicit RingWriter(RingOperations* operations) : operations_(operations) {}

  // Writes all that there is. False: the connection takes no more at present.
  // UNAVAILABLE: the connection is broken.
  absl::StatusOr<bool> Write(WriteFunction write);

  // Lets `frame` be the last thing that is written. A frame that was begun is
  // ended first, from a copy; afterwards no caller's memory is read.
  void Finish(absl::string_view frame);

  bool empty() const { return frames_.empty(); }
  uint64_t bytes() const { return bytes_; }  // written so far

 private:
  void Fetch();
  void Written(size_t bytes);

  RingOperations* operations_;
  std::deque<RingFrameOut> frames_;
  size_t queued_ = 0;  // bytes of frames_
  size_t begun_ = 0;   // bytes of the first frame that are written
  uint64_t bytes_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_WRITER_H_
