#ifndef SHOAL_WIRE_CODEC_CHUNK_CODEC_H_
#define SHOAL_WIRE_CODEC_CHUNK_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/parameter_service.h"

namespace shoal {

// One part of an encoded PushRequest.
struct PushChunk {
  CallIdentity identity;
  BatchId batch;
  uint64_t upload = 0;  // grows with each upload of one worker life
  uint32_t index = 0;
  uint32_t count = 0;
  uint64_t total_bytes = 0;  // of all chunks' data
  uint32_t crc32c = 0;       // of all chunks' data
  std::vector<absl::string_view> data;
};

// Everything of a PushChunkRequest before its data, which comes last:
// `data_bytes` of it.
std::string EncodePushChunkHead(const PushChunk& chunk, uint64_t data_bytes);

// The data stays where it is: in `fragments`. INVALID_ARGUMENT: malformed.
absl::Status DecodePushChunk(absl::Span<const absl::string_view> fragments,
                             PushChunk* chunk);

// `push`: an encoded PushReply, for the chunk that completed the set.
std::string EncodePushChunkReply(const CallIdentity& asked,
                                 absl::string_view push);

// nullopt while chunks are missing. Errors as DecodePushReply.
absl::Status DecodePushChunkReply(absl::Span<const absl::string_view> fragments,
                                  const CallIdentity& asked,
                                  std::optional<PushReply>* push);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_CHUNK_CODEC_H_
