#ifndef SHOAL_LAUNCH_CONFIG_FILE_H_
#define SHOAL_LAUNCH_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "launch/flag_set.h"

namespace shoal {

// Reads the text of a --config file (proto/config.proto, docs/operations.md).
// Returns every field that the text sets, in the order of the schema, as the
// text of a flag, with `name:line:column` as its place. The field write_config
// is skipped: older releases wrote it into the files that it names.
// INVALID_ARGUMENT, whose message begins with that place: there is no field of
// this name (the message names the nearest one), a value is of another type, a
// field is given twice, or the text is not in protobuf's text format.
absl::StatusOr<std::vector<FlagSetting>> ParseConfig(absl::string_view text,
                                                     const std::string& name);

// The same for a file. Errors also: those of the file system;
// RESOURCE_EXHAUSTED if the file is larger than 1 MiB.
absl::StatusOr<std::vector<FlagSetting>> ReadConfigFile(
    const FileSystem& files, const std::string& path);

// The present values of the flags of `set`, in the form that ParseConfig reads.
// Flags without a value, flags that do not work yet, --config and
// --write_config are left out.
std::string ConfigText(const FlagSet& set);

// The names of the schema's fields.
std::vector<std::string> ConfigFieldNames();

}  // namespace shoal

#endif  // SHOAL_LAUNCH_CONFIG_FILE_H_
