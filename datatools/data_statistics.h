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
  // As for training: rows with an id at or above feature_size, or with more
  // than field_size features, are bad. 0: no limit. Raw Criteo values are
  // hashed to ids below feature_size.
  uint64_t feature_size = 0;
  int field_size = 0;
  // Most distinct ids that are counted exactly (id_counts.h says how much
  // memory they take).
  uint64_t max_ids = 20'000'000;
};

// Statistics of the rows of one file, or of all files.
struct RowStatistics {
  uint64_t rows = 0;
  uint64_t unlabelled = 0;  // rows without a label, which count in `rows`
  uint64_t bad_rows = 0;
  std::string first_bad;  // "file:line: reason", "file: record n: reason"
  uint64_t ones = 0;      // rows of label 1
  uint64_t features = 0;
  uint32_t min_features = 0;  // fewest features of a row; 0 without rows
  uint32_t max_features = 0;
  // Fields of the rows: the largest field of a feature, plus 1.
  uint32_t fields = 0;
  // All 0 if no row has a feature.
  FeatureId min_id = 0;
  FeatureId max_id = 0;
  float min_value = 0;
  float max_value = 0;

  // Adds the statistics of `other`.
  void Merge(const RowStatistics& other);
};

struct FileStatistics {
  std::string path;
  uint64_t bytes = 0;
  std::optional<FileFormat> format;  // nullopt: it was not recognised
  RowStatistics rows;                // facts of the part that was read
  absl::Status status;               // OK: the file was read to its end
};

struct DataStatistics {
  std::vector<FileStatistics> files;  // by path
  RowStatistics all;
  uint64_t bytes = 0;
  uint64_t distinct_ids = 0;
  bool distinct_is_exact = true;
  // Share of the look-ups that go to the most frequent 1 % of the ids; nullopt
  // if there are too many ids to count exactly.
  std::optional<double> top_share;
  // Suggested flags for training on these rows. feature_size 0 means to leave
  // the flag out: the ids are spread too widely for tables with that many rows.
  uint64_t feature_size = 0;
  int field_size = 0;
};

struct DataStatisticsProgress {
  uint64_t rows = 0;
  uint64_t bytes = 0;  // read so far
  uint64_t total_bytes = 0;
};

// Reads the files that `pattern` names (FileSystem::List) once. A row without a
// label is no bad row. An error of one
// file is in its FileStatistics::status. Errors: those of the listing;
// INVALID_ARGUMENT for options out of range.
absl::StatusOr<DataStatistics> CollectDataStatistics(
    const FileSystem* file_system, const std::string& pattern,
    const DataStatisticsOptions& options,
    absl::FunctionRef<void(const DataStatisticsProgress&)> progress);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_DATA_STATISTICS_H_
