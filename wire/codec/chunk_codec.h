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
  BatchId batch;        // the first of the push
  uint64_t upload = 0;  // number of the upload; grows within a worker's life
  uint32_t index = 0;
  uint32_t count = 0;
  uint64_t total_bytes = 0;  // size of all chunks' data
  uint32_t crc32c = 0;       // CRC-32C of all chunks' data
  std::vector<absl::string_view> data;
};

// Encodes all of a PushChunkRequest but its data. The data is the last field:
// the caller sends its `data_bytes` bytes after the returned bytes.
std::string EncodePushChunkHead(const PushChunk& chunk, uint64_t data_bytes);

// Copies no data: chunk->data points into `fragments`. INVALID_ARGUMENT: the
// request is malformed.
absl::Status DecodePushChunk(absl::Span<const absl::string_view> fragments,
                             PushChunk* chunk);

// `push` is an encoded PushReply for the chunk that completed the push, and
// empty for the other chunks.
std::string EncodePushChunkReply(const CallIdentity& asked,
                                 absl::string_view push);

// `push` is nullopt while the server lacks chunks. Errors as DecodePushReply.
absl::Status DecodePushChunkReply(absl::Span<const absl::string_view> fragments,
                                  const CallIdentity& asked,
                                  std::optional<PushReply>* push);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_CHUNK_CODEC_H_
