#include "worker/data/line_numbers.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint64_t kChunkBytes = 1 << 20;

}  // namespace

std::optional<uint64_t> LineNumbers::LineAt(const std::string& path,
                                            uint64_t offset) {
  uint64_t begin = 0;
  uint64_t before = 0;
  {
    MutexLock lock(&mu_);
    const Places& places = places_[path];
    auto after = places.upper_bound(offset);
    if (after != places.begin()) {
      --after;
      begin = after->first;
      before = after->second;
    }
    if (offset - begin > options_.max_bytes - bytes_) return std::nullopt;
    bytes_ += offset - begin;
  }
  if (begin == offset) return before + 1;
  const absl::StatusOr<uint64_t> count = Count(path, begin, offset);
  if (!count.ok()) return std::nullopt;
  MutexLock lock(&mu_);
  if (count_ < options_.max_places &&
      places_[path].emplace(offset, before + *count).second) {
    ++count_;
  }
  return before + *count + 1;
}

absl::StatusOr<uint64_t> LineNumbers::Count(const std::string& path,
                                            uint64_t begin,
                                            uint64_t end) const {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         file_system_->OpenForRead(path));
  std::vector<char> chunk(std::min(kChunkBytes, end - begin));
  uint64_t count = 0;
  while (begin < end) {
    const size_t want = std::min<uint64_t>(chunk.size(), end - begin);
    SHOAL_ASSIGN_OR_RETURN(
        const size_t got,
        file->Read(begin, absl::MakeSpan(chunk).first(want)));
    if (got == 0) return absl::DataLossError("the file became shorter");
    count += std::count(chunk.begin(), chunk.begin() + got, '\n');
    begin += got;
  }
  return count;
}

}  // namespace shoal
