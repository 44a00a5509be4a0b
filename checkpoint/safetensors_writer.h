#ifndef SHOAL_CHECKPOINT_SAFETENSORS_WRITER_H_
#define SHOAL_CHECKPOINT_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "checkpoint/block_checksums.h"
#include "checkpoint/safetensors_format.h"

namespace shoal {

// A tensor and a file as they were written: their entries in a manifest.
struct WrittenTensor {
  TensorInfo info;
  TensorChecksums checksums;

  friend bool operator==(const WrittenTensor&, const WrittenTensor&) = default;
};
struct WrittenFile {
  std::string file;  // its name, without the directory
  uint64_t size = 0;
  uint64_t data_begin = 0;
  uint32_t header_crc32c = 0;  // CRC-32C of bytes [0, data_begin)
  std::vector<WrittenTensor> tensors;

  friend bool operator==(const WrittenFile&, const WrittenFile&) = default;
};

// Writes one safetensors file, tensor after tensor, and holds at most one block
// in memory. The bytes go to the temporary file `.NAME.attempt-A` beside
// `path`, a name that no other attempt has and that listings leave out. The
// file gets the name `path` when it is whole and on the disk.
// Thread-compatible.
//
// Errors are those of the file system and name the file. INTERNAL: the tensors
// written are not those declared. After an error the file cannot be completed.
class SafetensorsWriter {
 public:
  // `tensors` declares the tensors in the order in which they will be written;
  // their begin and end are set here. INVALID_ARGUMENT as
  // BuildSafetensorsHeader. `files` outlives the writer.
  static absl::StatusOr<std::unique_ptr<SafetensorsWriter>> Create(
      const FileSystem* files, const std::string& path, uint64_t attempt,
      const std::map<std::string, std::string>& metadata,
      std::vector<TensorInfo> tensors);

  // Removes the temporary file, unless Commit succeeded.
  ~SafetensorsWriter();

  // Writes the next bytes of the declared tensor `index`. Each tensor must be
  // complete before the next one begins.
  absl::Status Append(size_t index, absl::string_view bytes);

  // Hands the last bytes to the operating system. The memory that was written
  // may change from then on. INTERNAL: a tensor is not complete.
  absl::StatusOr<WrittenFile> Finish();
  // Returns when every byte is on the disk, which a bad disk may delay for
  // ever. Call after Finish.
  absl::Status Sync();
  // Closes the file and gives it the name `path`, which is then on the disk,
  // too. Calls Finish and Sync unless the caller has done so. Call once.
  absl::StatusOr<WrittenFile> Commit();

 private:
  SafetensorsWriter(const FileSystem* files, std::string path,
                    std::string temporary);
  absl::Status FinishTensor();

  const FileSystem* const files_;
  const std::string path_;
  const std::string temporary_;
  std::unique_ptr<WritableFile> out_;
  WrittenFile written_;
  size_t current_ = 0;
  ChecksumStream checksums_;  // checksums of tensor current_
  enum class Stage { kTensors, kFinished, kSynced, kCommitted };
  Stage stage_ = Stage::kTensors;
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SAFETENSORS_WRITER_H_
