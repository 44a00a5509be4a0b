#ifndef SHOAL_LAUNCH_FLAGS_MODEL_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_MODEL_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/model_spec.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

// What is trained: the variables and how they start.
struct ModelFlags {
  enum class Kind { kDeepFm, kFm, kLr, kLinearProbe };

  Kind model = Kind::kDeepFm;
  uint64_t feature_size = 0;  // 0: dynamic tables
  uint64_t table_row_limit = 0;
  TableFull table_full = TableFull::kRefuse;
  int field_size = 0;
  int embedding_size = 32;
  std::vector<int> deep_layers = {256, 128, 64};
  std::vector<double> dropout;  // chance to keep; empty: keep all
  bool batch_norm = false;
  uint64_t seed = 1;

  // The model as it is typed, and as models/ knows it.
  std::string ModelName() const;

  // Adds the rows of these flags; they are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group that do not go together.
  absl::Status Validate() const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_MODEL_FLAGS_H_
