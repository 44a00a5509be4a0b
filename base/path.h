#ifndef SHOAL_BASE_PATH_H_
#define SHOAL_BASE_PATH_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Functions on paths as text. They do not access a file system.

// The path without repeated slashes, "." steps and a slash at the end. ".."
// stays, since its meaning depends on symbolic links. "" stays ""; "./" becomes
// ".".
std::string CleanPath(absl::string_view path);

// `directory`/`name`, or only `name` if the directory is "" or ".".
std::string JoinPath(absl::string_view directory, absl::string_view name);

// The parts before and after the last slash: ("a/b", "c") for a/b/c, (".", "c")
// for c, ("/", "c") for /c.
absl::string_view Dirname(absl::string_view path);
absl::string_view Basename(absl::string_view path);

// True for a name that listings of a directory leave out. Such a name begins
// with '.' or '_', like _SUCCESS and files that are still being written.
bool IsHiddenName(absl::string_view name);

// True if the pattern holds one of the characters * ? [.
bool IsGlob(absl::string_view pattern);

// The cleaned patterns of a comma-separated list. An empty pattern is kept. A
// path that exists is one pattern, whatever commas it holds; the longest such
// path wins.
std::vector<std::string> SplitPatterns(
    absl::string_view list,
    absl::FunctionRef<bool(const std::string& path)> exists);

// A NOT_FOUND error which says that the glob or path `pattern` names no file.
absl::Status NoSuchFiles(absl::string_view pattern);

}  // namespace shoal

#endif  // SHOAL_BASE_PATH_H_
