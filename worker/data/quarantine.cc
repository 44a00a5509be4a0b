#include "worker/data/quarantine.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr int kMostFiles = 1000;

}  // namespace

Quarantine::Quarantine(const FileSystem* file_system, QuarantineOptions options)
    : file_system_(file_system), options_(std::move(options)) {}

Quarantine::~Quarantine() {
  MutexLock lock(&mu_);
  // Rows whose loss must be reported are already synced.
  if (file_ != nullptr) file_->Close().IgnoreError();
}

absl::Status Quarantine::Open() {
  SHOAL_RETURN_IF_ERROR(file_system_->CreateDirectories(options_.directory));
  for (int n = 1; n <= kMostFiles; ++n) {
    const std::string path =
        JoinPath(options_.directory,
                 absl::StrCat("bad-rows-", options_.name,
                              n == 1 ? "" : absl::StrCat("-", n), ".tsv"));
    if (file_system_->OpenForRead(path).ok()) continue;
    SHOAL_ASSIGN_OR_RETURN(file_, file_system_->Create(path));
    path_ = path;
    constexpr absl::string_view kHeader = "file\trecord\tbyte\treason\n";
    bytes_ += kHeader.size();
    return file_->Append(kHeader);
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      options_.directory, " already has ", kMostFiles,
      " files of bad rows of ", options_.name, "; move them away"));
}

absl::Status Quarantine::Judge(absl::Status written) {
  if (written.ok() || options_.on_failure == nullptr) return written;
  {
    MutexLock lock(&mu_);
    if (std::exchange(given_up_, true)) return absl::OkStatus();
  }
  options_.on_failure(written);
  return absl::OkStatus();
}

absl::Status Quarantine::Add(absl::string_view path, uint64_t piece_begin,
                             const BadRow& row) {
  absl::Status written;
  {
    MutexLock lock(&mu_);
    if (!given_up_) written = Write(path, piece_begin, row);
  }
  return Judge(std::move(written));
}

absl::Status Quarantine::Write(absl::string_view path, uint64_t piece_begin,
                               const BadRow& row) {
  if (rows_ >= options_.max_rows || bytes_ >= options_.max_bytes) {
    return absl::OkStatus();
  }
  uint64_t& unwritten = written_[{std::string(path), piece_begin}];
  if (row.offset < unwritten) return absl::OkStatus();
  if (file_ == nullptr) SHOAL_RETURN_IF_ERROR(Open());
  const std::string line =
      absl::StrCat(absl::CHexEscape(path), "\t",
                   row.number != 0 ? absl::StrCat(row.number) : "-", "\t",
                   row.offset, "\t", row.reason, "\n");
  SHOAL_RETURN_IF_ERROR(file_->Append(line));
  unsynced_ = true;
  unwritten = row.offset + 1;
  ++rows_;
  bytes_ += line.size();
  return absl::OkStatus();
}

absl::Status Quarantine::Sync() {
  absl::Status written;
  {
    MutexLock lock(&mu_);
    if (given_up_ || !unsynced_) return absl::OkStatus();
    unsynced_ = false;
    written = file_->Sync();
  }
  return Judge(std::move(written));
}

std::string Quarantine::path() const {
  MutexLock lock(&mu_);
  return path_;
}

}  // namespace shoal
