#ifndef SHOAL_WIRE_CODEC_CHUNK_ASSEMBLER_H_
#define SHOAL_WIRE_CODEC_CHUNK_ASSEMBLER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "wire/codec/chunk_codec.h"

namespace shoal {

struct ChunkAssemblerOptions {
  // Bytes of all uploads that have begun and are not served, each counted whole
  // from its first chunk on. Also the most that one upload may have.
  uint64_t max_staged_bytes = 512 << 20;
  uint64_t max_uploads = 64;
  // An upload that is not complete so long after its first chunk is dropped.
  absl::Duration deadline = absl::Seconds(30);
};

// Joins the chunks of large pushes. Pure: time comes in as an argument.
// Thread-compatible.
class ChunkAssembler {
 public:
  explicit ChunkAssembler(ChunkAssemblerOptions options) : options_(options) {}

  // A whole PushRequest: `fragments` lie in what `owners` hold.
  struct Whole {
    std::vector<absl::string_view> fragments;
    std::vector<std::shared_ptr<const void>> owners;
    uint64_t bytes = 0;
  };

  // Stages a chunk, whose data lies in what `owner` holds. nullopt while chunks
  // are missing; the last one, whichever it is, gets the whole. A chunk that is
  // there already changes nothing. An upload ends the same batch's older ones.
  // The bytes of a whole count as staged until they are released.
  // Errors end the upload: INVALID_ARGUMENT (impossible numbers, or other ones
  // than the upload's first chunk had), DATA_LOSS (the bytes do not have the
  // size or the digest), RESOURCE_EXHAUSTED (no room: retry later),
  // FAILED_PRECONDITION (a newer upload of the batch has begun).
  absl::StatusOr<std::optional<Whole>> Add(const PushChunk& chunk,
                                           std::shared_ptr<const void> owner,
                                           absl::Time now);

  // The whole of so many bytes was served, and its memory is free.
  void Release(uint64_t bytes);

  // Drops the uploads whose deadline has passed; how many these were.
  int Expire(absl::Time now);
  // When the first upload's deadline passes; InfiniteFuture if there is none.
  absl::Time NextExpiry() const;

  uint64_t staged_bytes() const { return staged_bytes_; }
  uint64_t uploads() const { return uploads_.size(); }

 private:
  struct Part {
    std::vector<absl::string_view> data;
    std::shared_ptr<const void> owner;  // null: not there yet
  };
  struct Upload {
    uint64_t number = 0;
    uint64_t total_bytes = 0;
    uint32_t crc32c = 0;
    absl::Time until;
    uint64_t bytes = 0;  // that have arrived
    uint32_t arrived = 0;
    std::vector<Part> parts;
  };
  // Two workers may send the same batch at once.
  using Key = std::pair<Life, BatchId>;
  using Uploads = std::map<Key, Upload>;

  absl::StatusOr<Uploads::iterator> Find(const PushChunk& chunk,
                                         absl::Time now);
  void Drop(Uploads::iterator upload);

  const ChunkAssemblerOptions options_;
  Uploads uploads_;
  uint64_t staged_bytes_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_CHUNK_ASSEMBLER_H_
