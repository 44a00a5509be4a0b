#ifndef SHOAL_DATATOOLS_ID_GROWTH_H_
#define SHOAL_DATATOOLS_ID_GROWTH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/data_format.h"

namespace shoal {

struct IdGrowthPoint {
  uint64_t batches = 0;
  double ids = 0;
};

struct IdGrowthOptions {
  DataFormat format = DataFormat::kAuto;
  uint64_t feature_size = 0;  // 0: any id is good
  int field_size = 65535;     // most features of a row
  uint32_t batch_size = 1024;
  uint64_t most_batches = 256;
};

// The distinct ids of 1, 2, 4, … batches in a row of these files, in their
// order: the mean over the whole groups of so many batches, up to half of the
// batches that were read and at most `most_batches`. So does the number of rows
// of a step grow with the workers whose batches the step has. Labels are not
// looked at; bad rows are skipped. Errors: those of the files; INVALID_ARGUMENT
// if there is not one whole batch. Memory: 16 bytes and more for each distinct
// id.
absl::StatusOr<std::vector<IdGrowthPoint>> MeasureIdGrowth(
    const FileSystem& files, const std::vector<std::string>& paths,
    const IdGrowthOptions& options);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_ID_GROWTH_H_
