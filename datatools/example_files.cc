#include "datatools/example_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/path.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kFlushBytes = 1 << 20;

}  // namespace

absl::Status CheckOutDir(const std::string& out_dir) {
  if (!out_dir.empty() && !IsGlob(out_dir) &&
      out_dir.find(',') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "out_dir is '", out_dir,
      "'; it must be a path without any of * ? [ and commas, which have "
      "another meaning in the flags that name data"));
}

std::string PartialPath(absl::string_view directory, absl::string_view name) {
  return JoinPath(directory, absl::StrCat(".", name, kPartialSuffix));
}

ExampleFiles::ExampleFiles(const FileSystem* file_system, std::string directory,
                           std::string stem, ExampleFormat format,
                           uint64_t file_bytes)
    : file_system_(file_system),
      directory_(std::move(directory)),
      stem_(std::move(stem)),
      format_(format),
      file_bytes_(file_bytes) {}

ExampleFiles::~ExampleFiles() {
  file_.reset();
  for (size_t i = published_; i < names_.size(); ++i) {
    // Best effort: the caller has a more important error already.
    file_system_->Remove(PartialPath(directory_, names_[i])).IgnoreError();
  }
}

absl::Status ExampleFiles::Added() {
  if (in_file_ + text_.size() >= file_bytes_) {
    SHOAL_RETURN_IF_ERROR(Flush());
    return CloseFile();
  }
  return text_.size() >= kFlushBytes ? Flush() : absl::OkStatus();
}

absl::Status ExampleFiles::Close() {
  if (!text_.empty()) SHOAL_RETURN_IF_ERROR(Flush());
  return file_ == nullptr ? absl::OkStatus() : CloseFile();
}

absl::Status ExampleFiles::Flush() {
  if (file_ == nullptr) {
    const std::string name = absl::StrFormat("%s-%05d%s", stem_, names_.size(),
                                             ExampleFormatSuffix(format_));
    SHOAL_ASSIGN_OR_RETURN(file_,
                           file_system_->Create(PartialPath(directory_, name)));
    names_.push_back(name);
  }
  in_file_ += text_.size();
  bytes_ += text_.size();
  const absl::Status status = file_->Append(text_);
  text_.clear();
  return status;
}

absl::Status ExampleFiles::CloseFile() {
  in_file_ = 0;
  absl::Status status = file_->Sync();
  if (status.ok()) status = file_->Close();
  file_.reset();
  return status;
}

absl::Status ExampleFiles::Publish() {
  SHOAL_DCHECK(file_ == nullptr && text_.empty());
  for (; published_ < names_.size(); ++published_) {
    SHOAL_RETURN_IF_ERROR(
        file_system_->Rename(PartialPath(directory_, names_[published_]),
                             JoinPath(directory_, names_[published_])));
  }
  return absl::OkStatus();
}

}  // namespace shoal
