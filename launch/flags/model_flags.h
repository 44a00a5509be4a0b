#ifndef SHOAL_LAUNCH_FLAGS_MODEL_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_MODEL_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/model_spec.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

// The model: its variables and their initial values.
struct ModelFlags {
  std::string model = "deepfm";  // one of kModelNames
  uint64_t feature_size = 0;  // 0: dynamic tables
  uint64_t table_row_limit = 0;
  TableFull table_full = TableFull::kRefuse;
  int field_size = 0;
  int embedding_size = 32;
  std::vector<int> deep_layers = {256, 128, 64};
  // Chances to keep and to drop a unit, by hidden layer. Use KeepProb().
  std::vector<double> keep_prob;
  std::vector<double> dropout;
  bool batch_norm = false;
  uint64_t seed = 1;

  // The chance to keep a unit, by hidden layer: --keep_prob, otherwise
  // 1 - --dropout; empty if all units are kept.
  std::vector<double> KeepProb() const;

  // True if the arithmetic of the model has to be exact (ModelName::exact).
  bool Exact() const;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group do not go together.
  absl::Status Validate() const;

 private:
  absl::Status ValidateDropout() const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_MODEL_FLAGS_H_
