#ifndef SHOAL_LAUNCH_FLAGS_OPTIMIZER_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_OPTIMIZER_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/optimizer_spec.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The optimizers that apply pushes to variables, and their constants.
struct OptimizerFlags {
  OptimizerKind optimizer = OptimizerKind::kAdam;
  double learning_rate = 5e-4;
  std::optional<OptimizerKind> table_optimizer;  // nullopt: as optimizer
  double table_learning_rate = 0;               // 0: as learning_rate
  std::optional<OptimizerKind> wide_optimizer;  // nullopt: as table_optimizer
  double wide_learning_rate = 0;                // 0: as table_learning_rate
  double scale_learning_rate = 1;               // of all three rates
  int64_t warmup_batches = 0;
  int64_t table_warmup_batches = -1;  // -1: as warmup_batches
  double l2_reg = 0;
  double wide_l2_reg = -1;  // -1: as l2_reg
  double dense_l2_reg = 0;
  L2Scope l2_scope = L2Scope::kTouched;
  double adagrad_initial_accumulator = 1e-8;
  double ftrl_initial_accumulator = 0.1;
  double ftrl_l1 = 0;
  double ftrl_l2 = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double clip_norm = 0;  // 0: no limit

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group do not go together, or do not go with
  // other flags of `job`, which this group is part of.
  absl::Status Validate(const JobFlags& job) const;

  // A copy in which every flag that leaves its value to another flag is filled
  // in, and --scale_learning_rate is applied and 1.
  OptimizerFlags Resolved() const;

  // A line with the rates in use; empty unless --scale_learning_rate changes
  // them.
  std::string ScaledRates() const;

 private:
  void AddRateRows(JobFlagRows* rows);
  void AddL2Rows(JobFlagRows* rows);
  void AddConstantRows(JobFlagRows* rows);  // constants of single optimizers
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_OPTIMIZER_FLAGS_H_
