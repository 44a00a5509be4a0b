#ifndef SHOAL_WORKER_DATA_SOURCE_LIST_H_
#define SHOAL_WORKER_DATA_SOURCE_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/id_kind.h"
#include "core/registration.h"
#include "worker/data/data_format.h"

namespace shoal {

// A file: its name on all hosts, and its path on this host.
struct LocalSource {
  SourceInfo info;
  std::string path;
  // Bytes and rows of whole rows in the first 64 KiB. Both are 0 for compressed
  // files.
  uint32_t head_bytes = 0;
  uint32_t head_rows = 0;
  IdKind ids = IdKind::kUnknown;  // as in FileFormat; kUnknown without bytes
};

// Mean size in bytes of the rows in the heads of the files, rounded up; 0: not
// known.
uint32_t MeanRowBytes(const std::vector<LocalSource>& sources);

// Lists the files that `pattern` names (FileSystem::List: a file, a directory,
// a glob, or several of these separated by commas), sorted by name. The name of
// a file is its path below the directory that is named, or its base name, so
// that hosts with different mount points agree on names and order. Errors:
// those of the file system; INVALID_ARGUMENT, with both paths, if two files
// have the same name; INVALID_ARGUMENT if a file that is not empty does not
// have the format `format` (data_format.h); DATA_LOSS if compressed data is
// damaged at its beginning.
absl::StatusOr<std::vector<LocalSource>> ListSources(
    const FileSystem* file_system, const std::string& pattern,
    DataFormat format = DataFormat::kAuto);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_SOURCE_LIST_H_
