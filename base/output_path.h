#ifndef SHOAL_BASE_OUTPUT_PATH_H_
#define SHOAL_BASE_OUTPUT_PATH_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"

namespace shoal {

// Output files that a user names, for example by --summary. They appear whole
// or not at all, by a rename. A rename replaces any file of the same name, so
// without care a symbolic link or a device would be lost.

// The path to which the output `path` is written: `path` itself or, if that is
// a symbolic link, the file that the link leads to, which need not exist yet.
// FAILED_PRECONDITION: the file is a directory, a device, a FIFO or an open
// descriptor (/dev/stdout), or the links form a cycle.
absl::StatusOr<std::string> OutputPath(const std::string& path);

// Whether `path` could be written, for a program that works for long before it
// writes. Errors: those of OutputPath, and NOT_FOUND: its directory is missing.
absl::Status CheckOutputPath(const std::string& path);

// Replaces the file at OutputPath(path) by `bytes`, whole or not at all.
// Errors: those of OutputPath and of the file system.
absl::Status WriteOutput(const FileSystem& files, const std::string& path,
                         absl::string_view bytes);

}  // namespace shoal

#endif  // SHOAL_BASE_OUTPUT_PATH_H_
