#ifndef SHOAL_BENCH_COMPARE_KNOWN_DATA_H_
#define SHOAL_BENCH_COMPARE_KNOWN_DATA_H_

#include <string>

#include "absl/types/span.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"

namespace shoal {

// What is known of the files that jobs train on before a job has read them: how
// many they are; and their rows, if they are all the training files that
// `shoal data gen` wrote into a directory, whose _meta.json tells the rows. A
// job that is stopped early never learns them.
ComparedData KnownData(const FileSystem& files,
                       absl::Span<const std::string> paths);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_KNOWN_DATA_H_
