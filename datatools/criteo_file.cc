#include "datatools/criteo_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "worker/data/data_format.h"
#include "worker/data/line_source.h"

namespace shoal {
namespace {

constexpr uint64_t kMaxLineBytes = 64 << 10;

// Adds the path to the message, unless it is there already, as in errors of the
// file itself.
absl::Status WithPath(const absl::Status& status, const std::string& path) {
  return absl::StrContains(status.message(), path) ? status
                                                   : Annotate(status, path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CriteoFile>> CriteoFile::Open(
    const FileSystem* file_system, const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> opened,
                         file_system->OpenForRead(path));
  std::unique_ptr<CriteoFile> file(new CriteoFile(path, std::move(opened)));
  const auto format = DetectFormat(*file->file_, DataFormat::kCriteo);
  if (!format.ok()) return WithPath(format.status(), path);
  auto bytes = OpenBytes(file->file_.get(), format->compression, nullptr);
  if (!bytes.ok()) return WithPath(bytes.status(), path);
  file->lines_ = std::make_unique<LineSource>(*std::move(bytes), 0, kToTheEnd,
                                              kMaxLineBytes);
  return file;
}

absl::StatusOr<CriteoLine> CriteoFile::Next(CriteoRow* row) {
  for (;;) {
    const absl::StatusOr<bool> more = lines_->Next(&line_);
    if (!more.ok()) return WithPath(more.status(), path_);
    if (!*more) return CriteoLine::kNoRow;
    if (!line_.damage.empty()) {
      reason_ = line_.damage;
      return CriteoLine::kBad;
    }
    const CriteoLine kind = ParseCriteoRow(line_.bytes, row, &reason_,
                                           /*any_label=*/true);
    if (kind != CriteoLine::kNoRow) return kind;
  }
}

const std::string& CriteoFile::reason() const {
  SHOAL_DCHECK(!reason_.empty());
  return reason_;
}

std::string CriteoFile::Place() const {
  return absl::StrCat(path_, ", line ", line_.number);
}

uint64_t CriteoFile::position() const {
  return std::min(lines_->position(), file_->size());
}

}  // namespace shoal
