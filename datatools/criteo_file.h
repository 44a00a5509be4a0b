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

// The lines of one raw Criteo file, plain or compressed (data_format.h), from
// its beginning. Holds a line, which is bad beyond 64 KiB, and a chunk of the
// file. Thread-compatible.
class CriteoFile {
 public:
  // `file_system` must outlive the file. Errors, also of Next: those of the
  // file system and of what decompresses, with the path.
  static absl::StatusOr<std::unique_ptr<CriteoFile>> Open(
      const FileSystem* file_system, const std::string& path);

  // What the next line that is not empty is; kNoRow at the file's end. *row is
  // valid until the next call.
  absl::StatusOr<CriteoLine> Next(CriteoRow* row);

  // Of a bad line: "path, line n: reason".
  std::string Complaint() const;
  // Bytes of the file that were read, about; at most its size. Of a compressed
  // one they are counted decompressed.
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
