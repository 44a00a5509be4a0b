#ifndef SHOAL_LAUNCH_FLAGS_DATA_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_DATA_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/data_format.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The rows that the job reads, and how it reads them.
struct DataFlags {
  enum class Scope { kShared, kHost };

  std::string training_data_dir;
  std::string val_data_dir;
  Scope data_scope = Scope::kShared;      // of the files to train on
  Scope val_data_scope = Scope::kShared;  // of the files to evaluate on
  bool shuffle = true;
  int shuffle_rows = 65536;
  int64_t piece_bytes = -1;
  int64_t max_bad_rows = 0;
  uint64_t auc_exact_rows = 20'000'000;
  DataFormat data_format = DataFormat::kAuto;
  std::string quarantine_dir;
  int parse_threads = 1;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group do not go together, or do not go with
  // other flags of `job`, which this group is part of.
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_DATA_FLAGS_H_
