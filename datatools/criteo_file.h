#ifndef SHOAL_DATATOOLS_CRITEO_FILE_H_
#define SHOAL_DATATOOLS_CRITEO_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "worker/data/criteo_row.h"
#include "worker/data/record_source.h"

namespace shoal {

// Reads the lines of one raw Criteo file, plain or compressed (data_format.h),
// from its beginning. A line beyond 64 KiB is bad. Holds one line and a chunk
// of the file. Thread-compatible.
class CriteoFile {
 public:
  // `file_system` must outlive the file. Errors, also of Next: those of the
  // file system and of decompression; they name the path.
  static absl::StatusOr<std::unique_ptr<CriteoFile>> Open(
      const FileSystem* file_system, const std::string& path);

  // Reads the next line that is not empty. kNoRow: the end of the file. *row is
  // valid until the next call, and may be without a label.
  absl::StatusOr<CriteoLine> Next(CriteoRow* row);

  // The reason why the line is bad. REQUIRES: Next returned kBad.
  const std::string& reason() const;
  // The place of the newest line: "path, line n".
  std::string Place() const;
  // The approximate number of bytes read so far, at most the size of the file.
  // In a compressed file decompressed bytes are counted.
  uint64_t position() const;

 private:
  CriteoFile(std::string path, std::unique_ptr<RandomAccessFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
  std::unique_ptr<RecordSource> lines_;
  Record line_;
  std::string reason_;
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_CRITEO_FILE_H_
