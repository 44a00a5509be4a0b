#ifndef SHOAL_WORKER_DATA_LINE_NUMBERS_H_
#define SHOAL_WORKER_DATA_LINE_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "base/mutex.h"

namespace shoal {

struct LineNumbersOptions {
  // The most bytes that are read to count lines, in all files together. To
  // count takes about a second for 4 GiB that the system has in memory.
  uint64_t max_bytes = uint64_t{4} << 30;
  // The most places that are remembered, of about 100 bytes each.
  size_t max_places = 65536;
};

// The numbers of lines of files that are read from their middle on, for people
// who look for a bad row. The lines before a place are counted when its number
// is asked for, from the nearest place before it that was asked for already, so
// that a file whose places are asked for in their order is read once.
// Thread-safe.
class LineNumbers {
 public:
  // `file_system` must outlive it.
  explicit LineNumbers(const FileSystem* file_system,
                       LineNumbersOptions options = {})
      : file_system_(file_system), options_(options) {}

  // The number, from 1, of the line that begins at byte `offset` of the file;
  // nullopt if counting would pass max_bytes, or the file cannot be read.
  std::optional<uint64_t> LineAt(const std::string& path, uint64_t offset);

 private:
  // By place: the number of line ends before it.
  using Places = std::map<uint64_t, uint64_t>;

  // The number of line ends in bytes [begin, end).
  absl::StatusOr<uint64_t> Count(const std::string& path, uint64_t begin,
                                 uint64_t end) const;

  const FileSystem* const file_system_;
  const LineNumbersOptions options_;

  Mutex mu_;
  std::map<std::string, Places> places_ ABSL_GUARDED_BY(mu_);
  size_t count_ ABSL_GUARDED_BY(mu_) = 0;  // places of all files
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_LINE_NUMBERS_H_
