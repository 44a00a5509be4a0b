#ifndef SHOAL_JOB_JOB_ID_GROWTH_H_
#define SHOAL_JOB_JOB_ID_GROWTH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "datatools/id_growth.h"
#include "launch/job_flags.h"

namespace shoal {

// MeasureIdGrowth of the files that the flags name to train on, in their order,
// read as the flags say, with batches of `batch_size` rows and groups of at
// most `most_batches` of them. Twice as many batches are read at most.
// REQUIRES: flags.Validate() was OK. Errors: those of the files, and of
// MeasureIdGrowth.
absl::StatusOr<std::vector<IdGrowthPoint>> MeasureJobIdGrowth(
    const FileSystem& files, const JobFlags& flags, uint32_t batch_size,
    uint64_t most_batches);

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_ID_GROWTH_H_
