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

// The frame of a TFRecord record. All numbers are little-endian:
//   u64 length; u32 masked CRC-32C of these 8 bytes; payload;
//   u32 masked CRC-32C of the payload
struct TfRecordFrame {
  static constexpr size_t kHeaderBytes = 12;
  static constexpr size_t kFooterBytes = 4;

  // True if the first kHeaderBytes of `bytes` are a header. REQUIRES:
  // bytes.size() >= kHeaderBytes.
  static bool IsHeader(absl::string_view bytes);
  static uint64_t Length(absl::string_view bytes);
};

// True if `head` begins with the header of a record.
bool BeginsTfRecords(absl::string_view head);

// The records of TFRecord data. A record is *sound* if both of its checksums
// match and it is at most max_record_bytes long. A piece does not know where a
// record begins. Therefore the piece [begin, end) has the records from the
// first sound record at or after `begin`, which is found by trying every byte,
// up to the first sound record at or after `end`; it has no record if there is
// no sound record below `end`. A piece that begins at 0 begins with the first
// record. So records that are not sound belong to the piece of the sound record
// before them, as damaged records, and no record is lost. At its end a piece
// checks that trying every byte from `end` on leads to the same place (a
// payload may itself hold TFRecord data).
//
// It holds at most max_record_bytes and a chunk of the file. Thread-compatible.
class TfRecordSource final : public RecordSource {
 public:
  // As LineSource's constructor.
  TfRecordSource(std::unique_ptr<ByteSource> bytes, uint64_t begin,
                 uint64_t end, uint64_t max_record_bytes,
                 const std::atomic<bool>* cancelled = nullptr);

  // DATA_LOSS: a header's checksum does not match, so that no later record can
  // be found; the data ends within a record; the end of the piece is ambiguous;
  // or the data ends before the piece.
  absl::StatusOr<bool> Next(Record* record) override;
  uint64_t position() const override { return base_ + next_; }
  void Seek(uint64_t position) override;

 private:
  // Reads on until at least `bytes` bytes are held from next_ on, or the data
  // ends. Returns the number of held bytes.
  absl::StatusOr<size_t> Hold(uint64_t bytes);
  // The position of the first sound record in [from, limit), found by trying
  // every byte, or `limit`.
  absl::StatusOr<uint64_t> Scan(uint64_t from, uint64_t limit);
  // True if the record of `length` bytes at `at`, whose header is valid, is
  // sound.
  absl::StatusOr<bool> IsSound(uint64_t at, uint64_t length);
  // Skips a record that is too long to hold; false if its checksum does not
  // match either.
  absl::StatusOr<bool> SkipLong(uint64_t length);
  // Checks the end of the piece, before the sound record at `at`.
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
  bool eof_ = false;    // the held bytes reach the end of the data
  bool lost_;           // next_ is not known to be at a record
  bool ended_ = false;  // the piece has no further record
  uint64_t records_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_TFRECORD_SOURCE_H_
