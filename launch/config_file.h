#ifndef SHOAL_LAUNCH_CONFIG_FILE_H_
#define SHOAL_LAUNCH_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "launch/flag_set.h"

namespace shoal {

// Reads the text of a --config file (proto/config.proto, docs/operations.md):
// each field that it sets, in the order of the schema, as the text of a flag,
// with `name:line:column` as its place. INVALID_ARGUMENT, which begins with
// that place: no field of this name (the nearest is named), a value of another
// type, a field given twice, anything that is not protobuf's text format.
absl::StatusOr<std::vector<FlagSetting>> ParseConfig(absl::string_view text,
                                                     const std::string& name);

// The same of a file. Errors: the file system's; RESOURCE_EXHAUSTED if it is
// larger than 1 MiB.
absl::StatusOr<std::vector<FlagSetting>> ReadConfigFile(
    const FileSystem& files, const std::string& path);

// The flags of `set` as they stand, in the form that ParseConfig reads. Flags
// that have no value, and --config itself, are left out.
std::string PrintConfig(const FlagSet& set);

// The names of the schema's fields.
std::vector<std::string> ConfigFieldNames();

}  // namespace shoal

#endif  // SHOAL_LAUNCH_CONFIG_FILE_H_
