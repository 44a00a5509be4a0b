#ifndef SHOAL_WORKER_DATA_TFRECORD_SOURCE_H_
#define SHOAL_WORKER_DATA_TFRECORD_SOURCE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/data/byte_source.h"
#include "worker/data/record_source.h"

namespace shoal {

// What frames a record of TFRecord, all little-endian:
//   u64 length; u32 masked CRC-32C of these 8 bytes; payload;
//   u32 masked CRC-32C of the payload
struct TfRecordFrame {
  static constexpr size_t kHeaderBytes = 12;
  static constexpr size_t kFooterBytes = 4;

  // Whether the first kHeaderBytes of `bytes` are a header.
  // REQUIRES: so many.
  static bool IsHeader(absl::string_view bytes);
  static uint64_t Length(absl::string_view bytes);
};

// The records of TFRecord data. A record is *sound* if both of its checksums
// hold and it is at most max_record_bytes long. Pieces begin without knowing
// where a record does: the piece [begin, end) has the records from the first
// sound one at or after `begin`, found by trying every byte, up to the first
// sound one at or after `end`, and none if there is none below `end`; a piece
// that begins at 0 begins with the first record. So records that are not sound
// are in the piece of the sound one before them, as damaged ones, and nothing
// is left out. At its end a piece checks that trying every byte from `end` on
// leads to the same place (a payload may hold TFRecord data of its own).
//
// Holds at most max_record_bytes and a chunk. Thread-compatible.
class TfRecordSource final : public RecordSource {
 public:
  // As LineSource's.
  TfRecordSource(std::unique_ptr<ByteSource> bytes, uint64_t begin,
                 uint64_t end, uint64_t max_record_bytes,
                 const std::atomic<bool>* cancelled = nullptr);

  // DATA_LOSS: a header whose checksum does not hold, so that nothing behind it
  // can be found; data that ends within a record; a piece whose end is
  // ambiguous; data that ends before the piece.
  absl::StatusOr<bool> Next(Record* record) override;
  uint64_t position() const override { return base_ + next_; }
  void Seek(uint64_t position) override;

 private:
  // Makes at least `bytes` bytes held from next_ on, as far as there are any,
  // and returns how many are.
  absl::StatusOr<size_t> Hold(uint64_t bytes);
  // The first sound record in [from, limit) by trying every byte, or `limit`.
  absl::StatusOr<uint64_t> Scan(uint64_t from, uint64_t limit);
  // Whether a record of `length` bytes, whose header holds, is sound.
  absl::StatusOr<bool> IsSound(uint64_t at, uint64_t length);
  // Passes over a record that is too long to hold; false if its checksum does
  // not hold either.
  absl::StatusOr<bool> SkipLong(uint64_t length);
  // The end of the piece, before the sound record at `at`.
  absl::Status CheckEnd(uint64_t at);
  absl::Status Cut(uint64_t at, absl::string_view what, uint64_t held,
                   uint64_t wanted) const;
  absl::Status CheckCancelled() const;

  const std::unique_ptr<ByteSource> bytes_;
  const uint64_t begin_;
  const uint64_t end_;
  const uint64_t max_record_bytes_;
  const std::atomic<bool>* const cancelled_;

  std::vector<char> buffer_;
  uint64_t base_;  // offset in the data of buffer_[0]
  size_t next_ = 0;
  size_t filled_ = 0;
  bool eof_ = false;    // what is held reaches the data's end
  bool lost_;           // next_ is not known to be at a record
  bool ended_ = false;  // the piece has no further record
  uint64_t records_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_TFRECORD_SOURCE_H_
