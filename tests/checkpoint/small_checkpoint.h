#ifndef SHOAL_TESTS_CHECKPOINT_SMALL_CHECKPOINT_H_
#define SHOAL_TESTS_CHECKPOINT_SMALL_CHECKPOINT_H_

#include <cstdint>
#include <string>

#include "base/file_system.h"
#include "checkpoint/manifest.h"

namespace shoal {

// Writes a checkpoint of two shards with a table of 4 rows and a dense variable
// into `directory`, as two PSs and a coordinator would. Returns its manifest.
Manifest WriteSmallCheckpoint(const FileSystem& files,
                              const std::string& directory, uint64_t step);

}  // namespace shoal

#endif  // SHOAL_TESTS_CHECKPOINT_SMALL_CHECKPOINT_H_
