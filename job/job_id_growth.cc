#include "job/job_id_growth.h"

#include <string>

#include "base/status_macros.h"
#include "job/data_sources.h"
#include "job/options_from_flags.h"

namespace shoal {

absl::StatusOr<std::vector<IdGrowthPoint>> MeasureJobIdGrowth(
    const FileSystem& files, const JobFlags& flags, uint32_t batch_size,
    uint64_t most_batches) {
  SHOAL_ASSIGN_OR_RETURN(const DataSources sources,
                         SourcesFromFlags(files, flags));
  const PieceReaderOptions reader = PieceReaderOptionsFromFlags(flags);
  IdGrowthOptions options;
  options.format = reader.format;
  options.feature_size = reader.feature_size;
  options.field_size = reader.field_size;
  options.batch_size = batch_size;
  options.most_batches = most_batches;
  std::vector<std::string> paths;
  for (const LocalSource& source : sources.train) {
    paths.push_back(source.path);
  }
  return MeasureIdGrowth(files, paths, options);
}

}  // namespace shoal
