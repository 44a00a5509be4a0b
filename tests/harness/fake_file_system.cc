#include "tests/harness/fake_file_system.h"

#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

absl::Status DiskFull(const std::string& path) {
  return absl::ResourceExhaustedError(
      absl::StrCat(path, ": No space left on device"));
}

// The base name of `path`, and `name` below it.
std::string Below(absl::string_view path, const std::string& name) {
  const std::string base(Basename(path));
  return name.empty() ? base : JoinPath(base, name);
}

absl::Status IsDirectory(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": is a directory; a regular file is needed"));
}

}  // namespace

class FakeFileSystem::Reader final : public RandomAccessFile {
 public:
  explicit Reader(std::shared_ptr<const File> file) : file_(std::move(file)) {
    MutexLock lock(&file_->mu);
    size_ = file_->bytes.size();
  }

  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override {
    MutexLock lock(&file_->mu);
    const uint64_t end = file_->bytes.size();
    const size_t n =
        std::min<uint64_t>(out.size(), end - std::min<uint64_t>(offset, end));
    if (!file_->read_error.ok() && offset + n > file_->read_error_from) {
      return file_->read_error;
    }
    if (n > 0) file_->bytes.copy(out.data(), n, offset);
    return n;
  }

  uint64_t size() const override { return size_; }

 private:
  const std::shared_ptr<const File> file_;
  uint64_t size_ = 0;
};

class FakeFileSystem::Writer final : public WritableFile {
 public:
  Writer(std::string path, std::shared_ptr<File> file, uint64_t limit)
      : path_(std::move(path)), file_(std::move(file)), limit_(limit) {}

  absl::Status Append(absl::string_view bytes) override {
    if (closed_) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ": the file is closed"));
    }
    MutexLock lock(&file_->mu);
    if (file_->bytes.size() + bytes.size() > limit_) status_ = DiskFull(path_);
    if (status_.ok()) file_->bytes.append(bytes.data(), bytes.size());
    return status_;
  }

  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Sync() override { return status_; }

  absl::Status Close() override {
    closed_ = true;
    return status_;
  }

 private:
  const std::string path_;
  const std::shared_ptr<File> file_;
  const uint64_t limit_;
  bool closed_ = false;
  absl::Status status_;
};

void FakeFileSystem::AddFile(const std::string& path, std::string bytes) {
  const std::string clean = CleanPath(path);
  const absl::Status status = CreateDirectories(std::string(Dirname(clean)));
  auto file = std::make_shared<File>();
  {
    MutexLock lock(&file->mu);
    file->bytes = std::move(bytes);
  }
  MutexLock lock(&mu_);
  if (status.ok()) files_[clean] = std::move(file);
}

std::shared_ptr<FakeFileSystem::File> FakeFileSystem::Find(
    const std::string& path) const {
  MutexLock lock(&mu_);
  const auto it = files_.find(CleanPath(path));
  return it == files_.end() ? nullptr : it->second;
}

absl::StatusOr<std::string> FakeFileSystem::Contents(
    const std::string& path) const {
  const std::shared_ptr<File> file = Find(path);
  if (file == nullptr) return NoSuchFiles(path);
  MutexLock lock(&file->mu);
  return file->bytes;
}

void FakeFileSystem::FailReads(const std::string& path, absl::Status error,
                               uint64_t from) {
  const std::shared_ptr<File> file = Find(path);
  if (file == nullptr) return;
  MutexLock lock(&file->mu);
  file->read_error = std::move(error);
  file->read_error_from = from;
}

void FakeFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  const std::shared_ptr<File> file = Find(path);
  if (file == nullptr) return;
  MutexLock lock(&file->mu);
  file->bytes.resize(std::min<uint64_t>(bytes, file->bytes.size()));
}

void FakeFileSystem::Overwrite(const std::string& path, std::string bytes) {
  const std::shared_ptr<File> file = Find(path);
  if (file == nullptr) return;
  MutexLock lock(&file->mu);
  file->bytes = std::move(bytes);
}

void FakeFileSystem::LimitWrites(const std::string& path, uint64_t bytes) {
  MutexLock lock(&mu_);
  write_limits_[CleanPath(path)] = bytes;
}

uint64_t FakeFileSystem::WriteLimit(const std::string& path) const {
  const auto it = write_limits_.find(path);
  return it == write_limits_.end() ? kNoLimit : it->second;
}

absl::Status FakeFileSystem::CheckPlace(const std::string& path) const {
  if (directories_.count(path) > 0) return IsDirectory(path);
  if (directories_.count(std::string(Dirname(path))) > 0) {
    return absl::OkStatus();
  }
  return NoSuchFiles(path);
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> FakeFileSystem::OpenForRead(
    const std::string& path) const {
  std::shared_ptr<const File> file = Find(path);
  if (file != nullptr) return std::make_unique<Reader>(std::move(file));
  MutexLock lock(&mu_);
  if (directories_.count(CleanPath(path)) > 0) return IsDirectory(path);
  return NoSuchFiles(path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> FakeFileSystem::Create(
    const std::string& path) const {
  const std::string clean = CleanPath(path);
  MutexLock lock(&mu_);
  SHOAL_RETURN_IF_ERROR(CheckPlace(clean));
  // As O_TRUNC does: those who have the old file open see it emptied.
  std::shared_ptr<File>& file = files_[clean];
  if (file == nullptr) file = std::make_shared<File>();
  MutexLock file_lock(&file->mu);
  file->bytes.clear();
  return std::make_unique<Writer>(clean, file, WriteLimit(clean));
}

absl::Status FakeFileSystem::ListPattern(
    const std::string& pattern, std::map<std::string, FileInfo>* found) const {
  const bool directory = directories_.count(pattern) > 0;
  const bool literal = files_.count(pattern) > 0;
  size_t count = 0;
  for (const auto& [path, file] : files_) {
    std::string name;
    if (literal) {
      if (path == pattern) name = std::string(Basename(path));
    } else {
      // The file, or a directory above it, is named by the pattern.
      for (std::string step = path;; step = std::string(Dirname(step))) {
        const bool named =
            directory ? step == pattern
                      : !IsHiddenName(Basename(step)) &&
                            fnmatch(pattern.c_str(), step.c_str(),
                                    FNM_PATHNAME | FNM_PERIOD) == 0;
        if (named) {
          if (!directory) name = Below(step, name);
          break;
        }
        if (step == "." || step == "/" || IsHiddenName(Basename(step))) {
          name.clear();
          break;
        }
        name = Below(step, name);
      }
    }
    if (name.empty()) continue;
    MutexLock lock(&file->mu);
    found->try_emplace(path, FileInfo{path, file->bytes.size(), name});
    ++count;
  }
  return count > 0 ? absl::OkStatus() : NoSuchFiles(pattern);
}

absl::StatusOr<std::vector<FileInfo>> FakeFileSystem::List(
    const std::string& pattern) const {
  std::map<std::string, FileInfo> found;
  MutexLock lock(&mu_);
  const auto exists = [&](const std::string& path)
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return files_.count(path) > 0 || directories_.count(path) > 0;
  };
  const std::vector<std::string> patterns = SplitPatterns(pattern, exists);
  for (const std::string& one : patterns) {
    SHOAL_RETURN_IF_ERROR(ListPattern(one, &found));
  }
  std::vector<FileInfo> files;
  for (auto& [path, info] : found) files.push_back(std::move(info));
  return files;
}

absl::Status FakeFileSystem::CreateDirectories(const std::string& path) const {
  MutexLock lock(&mu_);
  std::vector<std::string> missing;
  for (std::string step = CleanPath(path); directories_.count(step) == 0;
       step = std::string(Dirname(step))) {
    if (files_.count(step) > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat(step, ": Not a directory"));
    }
    missing.push_back(step);
  }
  directories_.insert(missing.begin(), missing.end());
  return absl::OkStatus();
}

absl::Status FakeFileSystem::WriteFileAtomically(
    const std::string& path, absl::string_view bytes) const {
  const std::string clean = CleanPath(path);
  auto file = std::make_shared<File>();
  {
    MutexLock lock(&file->mu);
    file->bytes = std::string(bytes);
  }
  MutexLock lock(&mu_);
  SHOAL_RETURN_IF_ERROR(CheckPlace(clean));
  if (bytes.size() > WriteLimit(clean)) return DiskFull(path);
  files_[clean] = std::move(file);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DirectoryEntry>> FakeFileSystem::ListDirectory(
    const std::string& path) const {
  const std::string clean = CleanPath(path);
  MutexLock lock(&mu_);
  if (directories_.count(clean) == 0) {
    if (files_.count(clean) == 0) return NoSuchFiles(path);
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": Not a directory"));
  }
  std::map<std::string, DirectoryEntry> found;
  for (const std::string& directory : directories_) {
    const std::string name(Basename(directory));
    if (directory == clean || Dirname(directory) != clean) continue;
    found[name] = {name, /*is_directory=*/true, 0};
  }
  for (const auto& [file_path, file] : files_) {
    const std::string name(Basename(file_path));
    if (Dirname(file_path) != clean) continue;
    MutexLock file_lock(&file->mu);
    found[name] = {name, /*is_directory=*/false, file->bytes.size()};
  }
  std::vector<DirectoryEntry> entries;
  for (auto& [name, entry] : found) entries.push_back(std::move(entry));
  return entries;
}

absl::Status FakeFileSystem::Rename(const std::string& from,
                                    const std::string& to) const {
  MutexLock lock(&mu_);
  const auto it = files_.find(CleanPath(from));
  if (it == files_.end()) return NoSuchFiles(from);
  const std::string clean = CleanPath(to);
  SHOAL_RETURN_IF_ERROR(CheckPlace(clean));
  std::shared_ptr<File> file = std::move(it->second);
  files_.erase(it);
  files_[clean] = std::move(file);
  return absl::OkStatus();
}

absl::Status FakeFileSystem::Remove(const std::string& path) const {
  const std::string clean = CleanPath(path);
  MutexLock lock(&mu_);
  if (files_.erase(clean) > 0) return absl::OkStatus();
  if (directories_.count(clean) == 0) return NoSuchFiles(path);
  const auto under = [&](const std::string& other) {
    return other != clean && Dirname(other) == clean;
  };
  for (const auto& [file_path, file] : files_) {
    if (!under(file_path)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": Directory not empty"));
  }
  for (const std::string& directory : directories_) {
    if (!under(directory)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": Directory not empty"));
  }
  directories_.erase(clean);
  return absl::OkStatus();
}

absl::Status FakeFileSystem::SyncDirectory(const std::string& path) const {
  return ListDirectory(path).status();
}

}  // namespace shoal
