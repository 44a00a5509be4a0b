#include "datatools/best_possible_auc.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/json_reader.h"
#include "base/path.h"
#include "datatools/synthetic.h"

namespace shoal {
namespace {

constexpr size_t kMaxMetaBytes = 64 << 10;

std::string ReadNote(const FileSystem& files, const std::string& path) {
  const auto file = files.OpenForRead(path);
  if (!file.ok()) return "";
  std::string text(std::min<uint64_t>((*file)->size(), kMaxMetaBytes), '\0');
  const auto size = (*file)->Read(0, absl::MakeSpan(text.data(), text.size()));
  if (!size.ok()) return "";
  text.resize(*size);
  return text;
}

bool IsSyntheticTest(absl::string_view name) {
  return absl::ConsumePrefix(&name, kSyntheticTestStem) &&
         (name == ExampleFormatSuffix(ExampleFormat::kLibSvm) ||
          name == ExampleFormatSuffix(ExampleFormat::kTfRecord));
}

}  // namespace

std::string BestPossibleAucLine(const FileSystem& files,
                                const std::string& val_data_dir) {
  if (val_data_dir.empty()) return "";
  const auto listed = files.List(val_data_dir);
  // The recorded AUC is for this one file.
  if (!listed.ok() || listed->size() != 1 ||
      !IsSyntheticTest(Basename(listed->front().path))) {
    return "";
  }
  const auto note = JsonDocument::Parse(ReadNote(
      files, JoinPath(Dirname(listed->front().path), kSyntheticMetaName)));
  if (!note.ok()) return "";
  const double best = (*note)->root().Field("best_auc").Double();
  if (!(*note)->status().ok()) return "";
  return absl::StrFormat(
      "best       %.5f is the AUC of the planted model "
      "itself: the best possible on these rows",
      best);
}

}  // namespace shoal
