#ifndef SHOAL_BENCH_COMPARE_TEXT_FILE_H_
#define SHOAL_BENCH_COMPARE_TEXT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/file_system.h"

namespace shoal {

// The whole content of a file. RESOURCE_EXHAUSTED if the file has more than
// `max` bytes; otherwise errors are those of the file system.
absl::StatusOr<std::string> ReadTextFile(const FileSystem& files,
                                         const std::string& path,
                                         uint64_t max = uint64_t{1} << 30);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_TEXT_FILE_H_
