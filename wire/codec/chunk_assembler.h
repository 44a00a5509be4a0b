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
  // Limit on the bytes of all uploads that have begun and have not been served.
  // Each upload counts with its total size from its first chunk on. So this is
  // also the limit on the size of one upload.
  uint64_t max_staged_bytes = 512 << 20;
  // Limit on the number of uploads that are not complete.
  uint64_t max_uploads = 64;
  // Time from an upload's first chunk until the upload is dropped if it is not
  // complete.
  absl::Duration deadline = absl::Seconds(30);
};

// Joins the chunks of large pushes. Pure: the time is an argument.
// Thread-compatible.
class ChunkAssembler {
 public:
  explicit ChunkAssembler(ChunkAssemblerOptions options) : options_(options) {}

  // A whole encoded PushRequest. `owners` own the memory of `fragments`.
  struct Whole {
    std::vector<absl::string_view> fragments;
    std::vector<std::shared_ptr<const void>> owners;
    uint64_t bytes = 0;
  };

  // Stages a chunk, whose data lies in memory that `owner` owns. Returns
  // nullopt while chunks of the upload are missing, and the whole push for the
  // chunk that arrives last. Chunks may arrive in any order. A chunk that is
  // there already changes nothing. The first chunk of an upload drops older
  // uploads of the same batch (of a push of several batches: of the same first
  // batch). The bytes of a whole push count as staged until Release. Errors end
  // the upload: INVALID_ARGUMENT (the numbers are impossible, or they differ
  // from those of the upload's first chunk), DATA_LOSS (the bytes do not have
  // the announced size or digest), RESOURCE_EXHAUSTED (no room: retry later),
  // FAILED_PRECONDITION (a newer upload of the batch has begun).
  absl::StatusOr<std::optional<Whole>> Add(const PushChunk& chunk,
                                           std::shared_ptr<const void> owner,
                                           absl::Time now);

  // Tells the assembler that a whole push of `bytes` bytes was served and that
  // its memory is free.
  void Release(uint64_t bytes);

  // Drops the uploads whose deadline has passed, and returns their number.
  int Expire(absl::Time now);
  // The earliest deadline of all uploads; InfiniteFuture if there are no
  // uploads.
  absl::Time NextExpiry() const;

  uint64_t staged_bytes() const { return staged_bytes_; }
  uint64_t uploads() const { return uploads_.size(); }

 private:
  struct Part {
    std::vector<absl::string_view> data;
    std::shared_ptr<const void> owner;  // null until the chunk arrives
  };
  struct Upload {
    uint64_t number = 0;
    uint64_t total_bytes = 0;
    uint32_t crc32c = 0;
    absl::Time until;
    uint64_t bytes = 0;    // bytes of the chunks that have arrived
    uint32_t arrived = 0;  // chunks
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
