#ifndef SHOAL_BASE_PATH_H_
#define SHOAL_BASE_PATH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Paths as text: nothing here looks at a file system.

// Without repeated slashes, "." steps and a slash at the end. ".." stays, as
// what it means depends on symbolic links. "" stays ""; "./" is ".".
std::string CleanPath(absl::string_view path);

// `directory`/`name`, and `name` alone where the directory is "" or ".".
std::string JoinPath(absl::string_view directory, absl::string_view name);

// What is before and after the last slash: ("a/b", "c") for a/b/c, (".", "c")
// for c, ("/", "c") for /c.
absl::string_view Dirname(absl::string_view path);
absl::string_view Basename(absl::string_view path);

// A name that a directory's listing leaves out: it begins with '.' or '_', as
// of _SUCCESS and of files that are still being written.
bool IsHiddenName(absl::string_view name);

// Holds one of the characters * ? [.
bool IsGlob(absl::string_view pattern);

// The cleaned patterns of a comma-separated list; an empty one is kept.
std::vector<std::string> SplitPatterns(absl::string_view list);

// NOT_FOUND saying that `pattern` names no file, and of which kind it is.
absl::Status NoSuchFiles(absl::string_view pattern);

}  // namespace shoal

#endif  // SHOAL_BASE_PATH_H_
