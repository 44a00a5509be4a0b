#ifndef SHOAL_BASE_OUTPUT_PATH_H_
#define SHOAL_BASE_OUTPUT_PATH_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"

namespace shoal {

// Output files that a user names (--summary, say). They appear whole or not at
// all, by a rename, which replaces what has the name: so a symbolic link would
// be lost, and so would a device.

// Where the output `path` is written: `path` itself, or where that is a
// symbolic link, the file that the link leads to, which need not be there yet.
// FAILED_PRECONDITION: it is a directory, a device, a FIFO, or a name of an
// open descriptor (/dev/stdout), or the links go in a circle.
absl::StatusOr<std::string> OutputPath(const std::string& path);

// Replaces the file at OutputPath(path) by `bytes`, whole or not at all.
// Errors: OutputPath's and those of the file system.
absl::Status WriteOutput(const FileSystem& files, const std::string& path,
                         absl::string_view bytes);

}  // namespace shoal

#endif  // SHOAL_BASE_OUTPUT_PATH_H_
