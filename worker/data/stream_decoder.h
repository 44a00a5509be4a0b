#ifndef SHOAL_WORKER_DATA_STREAM_DECODER_H_
#define SHOAL_WORKER_DATA_STREAM_DECODER_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal {

// SEAM: decodes one kind of compression, as a stream of members (gzip) or
// frames (zstd) one after another. Its memory is bounded for any input.
// Thread-compatible.
class StreamDecoder {
 public:
  struct Step {
    size_t consumed = 0;
    size_t produced = 0;
    // True if a member has just ended and no other has begun, so that the file
    // may end here.
    bool between = false;
  };

  virtual ~StreamDecoder() = default;
  // Prepares the decoder for a new stream.
  virtual absl::Status Reset() = 0;
  // Decodes some of `in` into some of `out`. An empty `in` produces output that
  // the decoder still holds. DATA_LOSS says what is wrong with the bytes; the
  // caller adds the place.
  virtual absl::StatusOr<Step> Decode(absl::string_view in,
                                      absl::Span<char> out) = 0;
};

// Decodes gzip. Each member's CRC-32 and length are checked.
absl::StatusOr<std::unique_ptr<StreamDecoder>> NewGzipDecoder();

// Decodes zstd frames, and skips skippable frames. A frame's checksum is
// checked if it has one. A frame that needs a window of more than 128 MiB is
// refused.
absl::StatusOr<std::unique_ptr<StreamDecoder>> NewZstdDecoder();

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_STREAM_DECODER_H_
