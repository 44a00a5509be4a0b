#include "base/path.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace shoal {

std::string CleanPath(absl::string_view path) {
  if (path.empty()) return "";
  std::vector<absl::string_view> steps;
  for (const absl::string_view step :
       absl::StrSplit(path, '/', absl::SkipEmpty())) {
    if (step != ".") steps.push_back(step);
  }
  const bool absolute = path.front() == '/';
  if (steps.empty()) return absolute ? "/" : ".";
  return absl::StrCat(absolute ? "/" : "", absl::StrJoin(steps, "/"));
}

std::string JoinPath(absl::string_view directory, absl::string_view name) {
  if (directory.empty() || directory == ".") return std::string(name);
  if (directory.back() == '/') return absl::StrCat(directory, name);
  return absl::StrCat(directory, "/", name);
}

absl::string_view Dirname(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::string_view Basename(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

bool IsHiddenName(absl::string_view name) {
  return !name.empty() && (name.front() == '.' || name.front() == '_');
}

bool IsGlob(absl::string_view pattern) {
  return pattern.find_first_of("*?[") != absl::string_view::npos;
}

std::vector<std::string> SplitPatterns(absl::string_view list) {
  std::vector<std::string> patterns;
  for (const absl::string_view pattern : absl::StrSplit(list, ',')) {
    patterns.push_back(CleanPath(pattern));
  }
  return patterns;
}

absl::Status NoSuchFiles(absl::string_view pattern) {
  if (pattern.empty()) {
    return absl::NotFoundError("an empty path names no file");
  }
  return absl::NotFoundError(
      IsGlob(pattern) ? absl::StrCat(pattern, ": no file matches")
                      : absl::StrCat(pattern, ": no such file or directory"));
}

}  // namespace shoal
