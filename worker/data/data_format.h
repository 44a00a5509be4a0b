#ifndef SHOAL_WORKER_DATA_DATA_FORMAT_H_
#define SHOAL_WORKER_DATA_DATA_FORMAT_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "worker/data/byte_source.h"

namespace shoal {

// How rows are written; docs/data_formats.md. kAuto: as the data shows.
enum class DataFormat { kAuto, kLibSvm, kTfRecord, kCriteo };

// "auto", "libsvm", "tfrecord", "criteo".
std::string ToString(DataFormat format);

enum class Compression { kNone, kGzip, kZstd };

// What the first bytes of a file say, never its name. A function of its first
// 64 KiB, so that all workers and all pieces agree.
struct FileFormat {
  DataFormat format = DataFormat::kLibSvm;  // never kAuto
  Compression compression = Compression::kNone;
};

// `wanted` overrides what the rows look like, not the compression. Errors:
// those of the file; DATA_LOSS where its compression is damaged;
// INVALID_ARGUMENT, quoting its first bytes, where kAuto recognises nothing.
absl::StatusOr<FileFormat> DetectFormat(const RandomAccessFile& file,
                                        DataFormat wanted);

// What `file` holds, decompressed. `file` and `cancelled` must outlive it.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenBytes(
    const RandomAccessFile* file, Compression compression,
    const std::atomic<bool>* cancelled);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_DATA_FORMAT_H_
