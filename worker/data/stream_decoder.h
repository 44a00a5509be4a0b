#ifndef SHOAL_WORKER_DATA_STREAM_DECODER_H_
#define SHOAL_WORKER_DATA_STREAM_DECODER_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal {

// SEAM: one kind of compression, as a stream of members (gzip) or frames (zstd)
// one behind the other. Memory is bounded whatever the bytes say.
// Thread-compatible.
class StreamDecoder {
 public:
  struct Step {
    size_t consumed = 0;
    size_t produced = 0;
    // A member has just ended and no other begun: the file may end here.
    bool between = false;
  };

  virtual ~StreamDecoder() = default;
  // Begins anew.
  virtual absl::Status Reset() = 0;
  // Decodes some of `in` into some of `out`; an empty `in` yields what is still
  // held back. DATA_LOSS says what is wrong with the bytes, not where.
  virtual absl::StatusOr<Step> Decode(absl::string_view in,
                                      absl::Span<char> out) = 0;
};

// Members with their CRC-32 and length, which are checked.
absl::StatusOr<std::unique_ptr<StreamDecoder>> NewGzipDecoder();

// Frames, their checksums checked where they have any, and skippable ones. A
// frame that asks for a window of more than 128 MiB is refused.
absl::StatusOr<std::unique_ptr<StreamDecoder>> NewZstdDecoder();

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_STREAM_DECODER_H_
