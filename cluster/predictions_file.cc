#include "cluster/predictions_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

static_assert(std::endian::native == std::endian::little);

// Predictions that are turned into bytes at a time.
constexpr size_t kAtOnce = 64 << 10;

void AppendText(float probability, std::string* to) {
  if (std::isnan(probability)) {
    to->append("nan");
    return;
  }
  char text[32];
  const std::to_chars_result end =
      std::to_chars(text, text + sizeof(text), probability,
                    std::chars_format::general, /*precision=*/9);
  to->append(text, static_cast<size_t>(end.ptr - text));
}

void AppendBinary(float probability, std::string* to) {
  char bytes[sizeof(float)];
  std::memcpy(bytes, &probability, sizeof(float));
  to->append(bytes, sizeof(float));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PredictionsFile>> PredictionsFile::Create(
    const FileSystem* files, std::string path, PredictionsFormat format,
    const ScoreMetrics* metrics) {
  // Otherwise the rename would fail, or put a file where a device was.
  const absl::Status there = files->OpenForRead(path).status();
  if (absl::IsFailedPrecondition(there)) return there;
  std::string temporary = absl::StrCat(path, ".unfinished");
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                         files->Create(temporary));
  return std::unique_ptr<PredictionsFile>(
      new PredictionsFile(files, std::move(path), std::move(temporary), format,
                          metrics, std::move(file)));
}

PredictionsFile::PredictionsFile(const FileSystem* files, std::string path,
                                 std::string temporary,
                                 PredictionsFormat format,
                                 const ScoreMetrics* metrics,
                                 std::unique_ptr<WritableFile> file)
    : files_(files),
      path_(std::move(path)),
      temporary_(std::move(temporary)),
      format_(format),
      metrics_(metrics),
      file_(std::move(file)) {}

PredictionsFile::~PredictionsFile() {
  if (finished_) return;
  file_ = nullptr;
  files_->Remove(temporary_).IgnoreError();
}

absl::Status PredictionsFile::Write(absl::Span<const float> logits, bool last) {
  const size_t C = metrics_->num_scores();
  SHOAL_DCHECK(logits.size() % C == 0);
  const size_t most = std::max<size_t>(kAtOnce / C, 1) * C;
  while (!logits.empty()) {
    const size_t n = std::min(logits.size(), most);
    predictions_.resize(n);
    metrics_->Predict(logits.first(n), absl::MakeSpan(predictions_));
    buffer_.clear();
    for (size_t i = 0; i < n; ++i) {
      if (format_ == PredictionsFormat::kBinary) {
        AppendBinary(predictions_[i], &buffer_);
        continue;
      }
      AppendText(predictions_[i], &buffer_);
      buffer_.push_back((i + 1) % C == 0 ? '\n' : ' ');
    }
    SHOAL_RETURN_IF_ERROR(Annotate(file_->Append(buffer_), path_));
    logits.remove_prefix(n);
  }
  if (!last) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(Annotate(file_->Sync(), path_));
  SHOAL_RETURN_IF_ERROR(Annotate(file_->Close(), path_));
  SHOAL_RETURN_IF_ERROR(files_->Rename(temporary_, path_));
  finished_ = true;
  return absl::OkStatus();
}

}  // namespace shoal
