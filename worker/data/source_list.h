#ifndef SHOAL_WORKER_DATA_SOURCE_LIST_H_
#define SHOAL_WORKER_DATA_SOURCE_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/registration.h"
#include "worker/data/data_format.h"

namespace shoal {

// A file as all hosts name it, and where it is on this one.
struct LocalSource {
  SourceInfo info;
  std::string path;
};

// The files that `pattern` names (FileSystem::List: a file, a directory, a
// glob, or several separated by commas), by name. The name of a file is its
// base name, so that hosts with other mount points agree on names and order.
// Errors: those of the file system; INVALID_ARGUMENT where two files have one
// name, with both paths, and where a file that is not empty is of no format
// that `format` allows (data_format.h); DATA_LOSS where its compression is
// damaged at its very beginning.
absl::StatusOr<std::vector<LocalSource>> ListSources(
    const FileSystem* file_system, const std::string& pattern,
    DataFormat format = DataFormat::kAuto);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_SOURCE_LIST_H_
