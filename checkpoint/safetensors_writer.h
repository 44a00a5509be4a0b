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

// A file as it was written: what a manifest says of it.
struct WrittenTensor {
  TensorInfo info;
  TensorChecksums checksums;

  friend bool operator==(const WrittenTensor&, const WrittenTensor&) = default;
};
struct WrittenFile {
  std::string file;  // its name, without the directory
  uint64_t size = 0;
  uint64_t data_begin = 0;
  uint32_t header_crc32c = 0;  // of bytes [0, data_begin)
  std::vector<WrittenTensor> tensors;

  friend bool operator==(const WrittenFile&, const WrittenFile&) = default;
};

// Writes one safetensors file tensor after tensor, so that nothing larger than
// a block is held. It writes to `.NAME.attempt-A` beside `path`, a name that no
// other attempt has and listings leave out, and takes its own name when it is
// whole and on the disk. Thread-compatible.
//
// Errors are those of the file system and name the file; after one the file is
// void. INTERNAL: the caller's tensors are not those that it declared.
class SafetensorsWriter {
 public:
  // `tensors` are declared in the order in which they come (begin and end are
  // set here). INVALID_ARGUMENT as BuildSafetensorsHeader. `files` outlives
  // the writer.
  static absl::StatusOr<std::unique_ptr<SafetensorsWriter>> Create(
      const FileSystem* files, const std::string& path, uint64_t attempt,
      const std::map<std::string, std::string>& metadata,
      std::vector<TensorInfo> tensors);

  // Removes the temporary file unless Commit was there first.
  ~SafetensorsWriter();

  // The next bytes of tensor `index` of those declared. A tensor is complete
  // before the next one begins.
  absl::Status Append(size_t index, absl::string_view bytes);

  // All tensors are complete: hands the last bytes to the system. What they
  // were made of may change from then on.
  absl::StatusOr<WrittenFile> Finish();
  // Every byte is on the disk when this returns, which a bad disk may put off
  // for ever. After Finish.
  absl::Status Sync();
  // Closes the file and gives it its own name, which is on the disk then too;
  // calls Finish and Sync unless the caller has. Call once.
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
  ChecksumStream checksums_;  // of tensor current_
  enum class Stage { kTensors, kFinished, kSynced, kCommitted };
  Stage stage_ = Stage::kTensors;
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SAFETENSORS_WRITER_H_
