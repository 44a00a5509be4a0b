#include "job/start_number.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/random_bits.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr int kRandomBits = 22;
constexpr size_t kFileBytes = 17;  // sixteen digits and a line feed

// The number in the file; 0 if there is no file yet.
absl::StatusOr<StartNumber> ReadStart(const FileSystem& files,
                                      const std::string& path) {
  const auto file = files.OpenForRead(path);
  if (absl::IsNotFound(file.status())) return StartNumber{0};
  SHOAL_RETURN_IF_ERROR(file.status());
  std::string text(kFileBytes + 1, '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t size,
                         (*file)->Read(0, absl::MakeSpan(text)));
  StartNumber start = 0;
  const absl::string_view digits = absl::string_view(text).substr(0, 16);
  if (size != kFileBytes || text[16] != '\n' ||
      !absl::SimpleHexAtoi(digits, &start)) {
    return absl::DataLossError(absl::StrCat(
        path,
        " does not hold sixteen hexadecimal digits and a line feed; remove the "
        "file once no process of an earlier job in this directory runs any "
        "more"));
  }
  return start;
}

}  // namespace

StartNumber MakeStartNumber(absl::Time now, uint64_t random, StartNumber last) {
  const auto millis = static_cast<uint64_t>(absl::ToUnixMillis(now));
  const uint64_t low = random & ((uint64_t{1} << kRandomBits) - 1);
  return std::max(millis << kRandomBits | low, last + 1);
}

absl::StatusOr<StartNumber> DrawStartNumber(
    const FileSystem& files, const JobFlags& flags,
    const CheckpointOptions& checkpoints, absl::Time now) {
  const uint64_t random = RandomBits();
  if (!flags.Saves()) return MakeStartNumber(now, random, 0);
  const std::string path =
      absl::StrCat(flags.checkpoints.model_dir, "/", kStartFile);
  SHOAL_ASSIGN_OR_RETURN(StartNumber last, ReadStart(files, path));
  if (checkpoints.resume != nullptr) {
    last = std::max(last, checkpoints.resume->start);
  }
  const StartNumber start = MakeStartNumber(now, random, last);
  SHOAL_RETURN_IF_ERROR(files.WriteFileAtomically(
      path, absl::StrCat(absl::Hex(start, absl::kZeroPad16), "\n")));
  return start;
}

}  // namespace shoal
