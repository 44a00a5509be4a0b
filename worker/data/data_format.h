#ifndef SHOAL_WORKER_DATA_DATA_FORMAT_H_
#define SHOAL_WORKER_DATA_DATA_FORMAT_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/data_format.h"
#include "core/id_kind.h"
#include "worker/data/byte_source.h"

namespace shoal {

enum class Compression { kNone, kGzip, kZstd };

// The format of a file. It is a function of the file's first 64 KiB, never of
// its name, so that all workers and all pieces agree.
struct FileFormat {
  DataFormat format = DataFormat::kLibSvm;  // never kAuto
  Compression compression = Compression::kNone;
  // The kind of ids of the rows. kUnknown: the file has no row in these bytes,
  // and may have none at all.
  IdKind ids = IdKind::kUnknown;
};

// Detects the format of `file`. `wanted`, unless it is kAuto, decides the
// format of the rows, but not the compression. Errors: those of the file;
// DATA_LOSS if the compressed data is damaged; INVALID_ARGUMENT, quoting the
// file's first bytes, if kAuto recognises no format.
absl::StatusOr<FileFormat> DetectFormat(const RandomAccessFile& file,
                                        DataFormat wanted);

// Opens the decompressed bytes of `file`. `file` and `cancelled` must outlive
// the result.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenBytes(
    const RandomAccessFile* file, Compression compression,
    const std::atomic<bool>* cancelled);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_DATA_FORMAT_H_
