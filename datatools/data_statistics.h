#ifndef SHOAL_DATATOOLS_DATA_STATISTICS_H_
#define SHOAL_DATATOOLS_DATA_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/ids.h"
#include "worker/data/data_format.h"

namespace shoal {

struct DataStatisticsOptions {
  DataFormat format = DataFormat::kAuto;
  // As to train with: ids at or above it, and rows of more features, are bad.
  // 0: none are. Raw Criteo rows are hashed by it.
  uint64_t feature_size = 0;
  int field_size = 0;
  // Distinct ids that are counted one by one (id_counts.h has their memory).
  uint64_t max_ids = 20'000'000;
};

// What rows have, of one file or of all.
struct RowStatistics {
  uint64_t rows = 0;
  uint64_t bad_rows = 0;
  std::string first_bad;  // "record n: reason"
  uint64_t ones = 0;      // rows of label 1
  uint64_t features = 0;
  uint32_t min_features = 0;  // of a row; 0 without rows
  uint32_t max_features = 0;
  // Without a feature all 0.
  FeatureId min_id = 0;
  FeatureId max_id = 0;
  float min_value = 0;
  float max_value = 0;

  // Takes what `other` has.
  void Merge(const RowStatistics& other);
};

struct FileStatistics {
  std::string path;
  uint64_t bytes = 0;
  std::optional<FileFormat> format;  // nullopt: it was not recognised
  RowStatistics rows;                // as far as it was read
  absl::Status status;               // why it was not read to its end
};

struct DataStatistics {
  std::vector<FileStatistics> files;  // by path
  RowStatistics all;
  uint64_t bytes = 0;
  uint64_t distinct_ids = 0;
  bool distinct_is_exact = true;
  // Share of the look-ups that the most frequent 1 % of the ids take; nullopt
  // where they are too many to tell.
  std::optional<double> top_share;
  // What to train with, for these rows at least: 0 is to leave it out, as ids
  // are too spread for tables of as many rows.
  uint64_t feature_size = 0;
  int field_size = 0;
};

struct DataStatisticsProgress {
  uint64_t rows = 0;
  uint64_t bytes = 0;  // read, of
  uint64_t total_bytes = 0;
};

// Reads the files that `pattern` names (FileSystem::List) once. A file that
// cannot be read says so in its status; errors are those of the listing, and
// INVALID_ARGUMENT for options that make no sense.
absl::StatusOr<DataStatistics> CollectDataStatistics(
    const FileSystem* file_system, const std::string& pattern,
    const DataStatisticsOptions& options,
    absl::FunctionRef<void(const DataStatisticsProgress&)> progress);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_DATA_STATISTICS_H_
