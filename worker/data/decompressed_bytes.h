#ifndef SHOAL_WORKER_DATA_DECOMPRESSED_BYTES_H_
#define SHOAL_WORKER_DATA_DECOMPRESSED_BYTES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "worker/data/byte_source.h"
#include "worker/data/stream_decoder.h"

namespace shoal {

// The decompressed bytes of a compressed file. Positions count decompressed
// bytes. Members are read one after another, as gzip and zstd do. DATA_LOSS,
// with the byte of the file, if the file ends within a member (even if the data
// so far ends with a whole record), or if the bytes after a member begin no
// other member.
//
// It holds one chunk of the file and the decoder's window. Thread-compatible.
class DecompressedBytes final : public ByteSource {
 public:
  // `file` and `cancelled`, which may be nullptr, must outlive the source.
  DecompressedBytes(const RandomAccessFile* file,
                    std::unique_ptr<StreamDecoder> decoder,
                    const std::atomic<bool>* cancelled = nullptr);

  // Also CANCELLED, soon after *cancelled is true.
  absl::StatusOr<size_t> Read(uint64_t position, absl::Span<char> out) override;

 private:
  // Decodes until `out` is full or the file has ended.
  absl::StatusOr<size_t> ReadNext(absl::Span<char> out);
  absl::Status Restart();
  absl::Status Fill();

  const RandomAccessFile* const file_;
  const std::unique_ptr<StreamDecoder> decoder_;
  const std::atomic<bool>* const cancelled_;

  uint64_t position_ = 0;  // offset of the next decompressed byte
  std::vector<char> input_;
  uint64_t input_base_ = 0;  // offset in the file of input_[0]
  size_t next_ = 0;          // in input_
  size_t filled_ = 0;
  bool input_ended_ = false;
  bool between_ = true;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_DECOMPRESSED_BYTES_H_
