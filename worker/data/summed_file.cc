#include "worker/data/summed_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint64_t kChunkBytes = 64 << 10;

}  // namespace

SummedFile::SummedFile(std::unique_ptr<RandomAccessFile> file, uint64_t begin,
                       uint64_t end)
    : file_(std::move(file)), end_(end), summed_to_(begin) {
  SHOAL_DCHECK(begin <= end);
}

absl::StatusOr<size_t> SummedFile::Read(uint64_t offset,
                                        absl::Span<char> out) const {
  SHOAL_ASSIGN_OR_RETURN(const size_t got, file_->Read(offset, out));
  Sum(offset, absl::string_view(out.data(), got));
  return got;
}

void SummedFile::Sum(uint64_t offset, absl::string_view bytes) const {
  const uint64_t to = std::min(offset + bytes.size(), end_);
  if (offset > summed_to_ || to <= summed_to_) return;
  crc_ = Crc32cExtend(crc_, bytes.substr(summed_to_ - offset, to - summed_to_));
  summed_to_ = to;
}

absl::StatusOr<uint32_t> SummedFile::Crc32c() const {
  std::vector<char> chunk(std::min(kChunkBytes, end_ - summed_to_));
  while (summed_to_ < end_) {
    const uint64_t at = summed_to_;
    const size_t want = std::min(kChunkBytes, end_ - at);
    SHOAL_ASSIGN_OR_RETURN(const size_t got,
                           Read(at, absl::MakeSpan(chunk).first(want)));
    if (got == want) continue;
    return absl::DataLossError(absl::StrCat(
          "the file ends at byte ", at + got,
          ", before the end of its piece at ", end_, ": the file changed"));
  }
  return crc_;
}

}  // namespace shoal
