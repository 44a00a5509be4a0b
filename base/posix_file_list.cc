#include "base/posix_file_list.h"

#include <glob.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/posix_file.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

struct Globbed {
  ~Globbed() { globfree(&result); }
  glob_t result = {};
};

// The names in a directory that a listing takes, sorted.
absl::StatusOr<std::vector<std::string>> VisibleNames(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> names, DirectoryNames(path));
  std::erase_if(names, [](const std::string& name) {
    // lost+found belongs to the file system, and only root may read it.
    return IsHiddenName(name) || name == "lost+found";
  });
  return names;
}

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

bool IsLink(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

// True if `directory` is on the way to `path`.
bool Holds(const std::string& directory, const std::string& path) {
  if (directory == ".") return !absl::StartsWith(path, "/");
  return directory == "/" || absl::StartsWith(path, directory + "/");
}

// The files found so far.
class FileList {
 public:
  explicit FileList(const FileListLimits& limits) : limits_(limits) {}

  absl::Status AddPattern(const std::string& pattern);
  std::vector<FileInfo> Take();

 private:
  // A directory whose files are to be added.
  struct Directory {
    std::string path;
    std::string name;     // the path below the named directory, which has ""
    int depth = 0;        // levels below the named directory
    bool linked = false;  // the directory or one above it is a link
  };
  // A directory that was read.
  struct Entered {
    std::string path;
    bool linked = false;
  };

  absl::Status AddGlob(const std::string& pattern);
  absl::Status AddDirectory(const Directory& directory,
                            const struct stat& info);
  // Notes that the directory is read, and checks that no link leads to a
  // directory that was read by another path.
  absl::Status Enter(const Directory& directory, const struct stat& info);
  // Counts one more file or directory.
  absl::Status Count(const std::string& path);
  void AddFile(const std::string& path, const struct stat& info,
               const std::string& name) {
    ++named_;
    found_.try_emplace(
        path, FileInfo{path, static_cast<uint64_t>(info.st_size), name});
  }

  const FileListLimits limits_;
  std::map<std::string, FileInfo> found_;  // by path
  size_t named_ = 0;    // files that were added, each time that they were
  size_t counted_ = 0;  // files and directories
  std::map<std::pair<dev_t, ino_t>, Entered> entered_;
};

absl::Status FileList::Count(const std::string& path) {
  if (++counted_ <= limits_.entries) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": more than ", limits_.entries,
      " files and directories are named; name fewer, or join small files"));
}

absl::Status FileList::Enter(const Directory& directory,
                             const struct stat& info) {
  const auto [it, added] = entered_.try_emplace(
      {info.st_dev, info.st_ino}, Entered{directory.path, directory.linked});
  const Entered& other = it->second;
  // Without a link it is another directory, on a file system whose numbers of
  // files are not unique.
  if (added || other.path == directory.path ||
      !(other.linked || directory.linked)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      directory.path,
      Holds(other.path, directory.path)
          ? absl::StrCat(": a link makes a circle: it leads back to ",
                         other.path)
          : absl::StrCat(": a link makes it the same directory as ", other.path,
                         ", so its files would be read twice"),
      "; remove the link, or give it a name that begins with '.' or '_'"));
}

absl::Status FileList::AddDirectory(const Directory& directory,
                                    const struct stat& info) {
  SHOAL_RETURN_IF_ERROR(Enter(directory, info));
  if (directory.depth > limits_.depth) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory.path, ": is more than ", limits_.depth,
                     " levels below the directory that is named"));
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         VisibleNames(directory.path));
  for (const std::string& name : names) {
    Directory below;
    below.path = JoinPath(directory.path, name);
    below.name = JoinPath(directory.name, name);
    below.depth = directory.depth + 1;
    SHOAL_RETURN_IF_ERROR(Count(below.path));
    struct stat found;
    // The entry may have been removed since its name was read, or be a broken
    // link.
    if (stat(below.path.c_str(), &found) != 0) continue;
    if (S_ISREG(found.st_mode)) AddFile(below.path, found, below.name);
    if (!S_ISDIR(found.st_mode)) continue;
    below.linked = directory.linked || IsLink(below.path);
    SHOAL_RETURN_IF_ERROR(AddDirectory(below, found));
  }
  return absl::OkStatus();
}

absl::Status FileList::AddGlob(const std::string& pattern) {
  Globbed globbed;
  const int error =
      glob(pattern.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &globbed.result);
  if (error == GLOB_NOMATCH) return NoSuchFiles(pattern);
  if (error == GLOB_NOSPACE) return PosixError(ENOMEM, pattern);
  if (error != 0) return PosixError(errno, pattern);
  const size_t before = named_;
  for (size_t i = 0; i < globbed.result.gl_pathc; ++i) {
    const std::string path = globbed.result.gl_pathv[i];
    SHOAL_RETURN_IF_ERROR(Count(path));
    const std::string name(Basename(path));
    struct stat info;
    if (IsHiddenName(name) || stat(path.c_str(), &info) != 0) continue;
    if (S_ISREG(info.st_mode)) AddFile(path, info, name);
    if (!S_ISDIR(info.st_mode)) continue;
    SHOAL_RETURN_IF_ERROR(AddDirectory({path, name, 0, IsLink(path)}, info));
  }
  return named_ > before ? absl::OkStatus() : NoSuchFiles(pattern);
}

absl::Status FileList::AddPattern(const std::string& pattern) {
  struct stat info;
  // A path that exists takes precedence over files that it matches as a glob.
  if (stat(pattern.c_str(), &info) != 0) {
    if (IsGlob(pattern)) return AddGlob(pattern);
    if (errno == ENOENT) return NoSuchFiles(pattern);
    return PosixError(errno, pattern);
  }
  if (S_ISDIR(info.st_mode)) {
    const size_t before = named_;
    SHOAL_RETURN_IF_ERROR(
        AddDirectory({pattern, "", 0, IsLink(pattern)}, info));
    if (named_ > before) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat(pattern, ": the directory has no file in or below it"));
  }
  SHOAL_RETURN_IF_ERROR(CheckRegular(info.st_mode, pattern));
  AddFile(pattern, info, std::string(Basename(pattern)));
  return absl::OkStatus();
}

std::vector<FileInfo> FileList::Take() {
  std::vector<FileInfo> files;
  files.reserve(found_.size());
  for (auto& [path, info] : found_) files.push_back(std::move(info));
  found_.clear();
  return files;
}

}  // namespace

absl::StatusOr<std::vector<FileInfo>> ListPosixFiles(
    const std::string& pattern, const FileListLimits& limits) {
  FileList files(limits);
  for (const std::string& one : SplitPatterns(pattern, Exists)) {
    SHOAL_RETURN_IF_ERROR(files.AddPattern(one));
  }
  return files.Take();
}

}  // namespace shoal
