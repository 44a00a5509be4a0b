#include "cluster/resume.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cluster/agreement.h"

namespace shoal {
namespace {

std::string Without(absl::Span<const std::string> names,
                    absl::string_view config) {
  std::vector<absl::string_view> lines =
      absl::StrSplit(config, '\n', absl::SkipEmpty());
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [&](absl::string_view line) {
                               return absl::c_linear_search(
                                   names, line.substr(0, line.find('=')));
                             }),
              lines.end());
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

// Other facts about a file follow from its bytes.
bool SameBytes(const SourceInfo& a, const SourceInfo& b) {
  return a.name == b.name && a.size == b.size && a.head_crc32c == b.head_crc32c;
}

std::string Describe(const SourceInfo& source) {
  return absl::StrCat("'", source.name, "' (", source.size,
                      " bytes, CRC of its head ",
                      absl::Hex(source.head_crc32c, absl::kZeroPad8), ")");
}

}  // namespace

absl::Status WithResumeAdvice(const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   "; go on with the same value, or start afresh with "
                   "--resume=never and another --model_dir"));
}

absl::Status CheckResumableConfig(absl::string_view saved,
                                  absl::string_view config,
                                  absl::Span<const std::string> may_differ) {
  const std::string difference =
      FirstDifference("this job", Without(may_differ, config), "the checkpoint",
                      Without(may_differ, saved));
  if (difference.empty()) return absl::OkStatus();
  return WithResumeAdvice(absl::FailedPreconditionError(difference));
}

absl::Status CheckSameData(const SavedData& saved, const FileList& files,
                           absl::Span<const Piece> pieces) {
  constexpr absl::string_view kWhatToDo =
      "; the same data are needed to go on: restore them, or start afresh with "
      "--resume=never and another --model_dir";
  const size_t n = std::max(saved.sources.size(), files.files.size());
  for (size_t i = 0; i < n; ++i) {
    if (i >= files.files.size()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the checkpoint was trained on ", Describe(saved.sources[i]),
          ", which --training_data_dir does not have any more", kWhatToDo));
    }
    if (i >= saved.sources.size()) {
      return absl::FailedPreconditionError(
          absl::StrCat("--training_data_dir has ", Describe(files.files[i]),
                       ", which the checkpoint does not know", kWhatToDo));
    }
    if (SameBytes(files.files[i], saved.sources[i])) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "the checkpoint was trained on ", Describe(saved.sources[i]),
        ", where there is ", Describe(files.files[i]), " now", kWhatToDo));
  }
  if (files.hosts != saved.hosts) {
    return absl::FailedPreconditionError(
        absl::StrCat("the files are on other hosts than they were when the "
                     "checkpoint was made",
                     kWhatToDo));
  }
  const bool same = std::equal(
      pieces.begin(), pieces.end(), saved.pieces.begin(), saved.pieces.end(),
      [](const Piece& now, const SavedPiece& was) {
        return now.source == was.source && now.begin == was.begin &&
               now.end == was.end;
      });
  if (!same) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the data are cut into ", pieces.size(),
        " pieces, the checkpoint's were into ", saved.pieces.size(),
        ": --piece_bytes must be what it was, or left out"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
