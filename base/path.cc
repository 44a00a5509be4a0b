#include "base/path.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace shoal {
namespace {

// PATH_MAX of Linux: a longer path does not exist.
constexpr size_t kMaxPathBytes = 4096;

}  // namespace

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

std::vector<std::string> SplitPatterns(
    absl::string_view list,
    absl::FunctionRef<bool(const std::string& path)> exists) {
  const std::vector<absl::string_view> parts = absl::StrSplit(list, ',');
  std::vector<std::string> patterns;
  for (size_t i = 0; i < parts.size();) {
    std::string pattern(parts[i]);
    std::string run = pattern;
    size_t next = i + 1;
    for (size_t k = i + 1; k < parts.size(); ++k) {
      absl::StrAppend(&run, ",", parts[k]);
      if (run.size() > kMaxPathBytes) break;
      if (!exists(CleanPath(run))) continue;
      pattern = run;
      next = k + 1;
    }
    patterns.push_back(CleanPath(pattern));
    i = next;
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
