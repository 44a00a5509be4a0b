#ifndef SHOAL_BENCH_COMPARE_MODEL_JOBS_H_
#define SHOAL_BENCH_COMPARE_MODEL_JOBS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bench/compare/cell_flags.h"

namespace shoal {

// The jobs of a model of a comparison.
struct ModelJob {
  // Those of all models, and the model's own, as FlagSet::Given has them.
  FlagMap flags;
  // The --learning_rate of these flags, or its default.
  double learning_rate = 0;
};

// By the names of --models, or one of `only_name`. `job`: the flags of all
// models. INVALID_ARGUMENT: an entry that ParseModels refuses, or a flag in
// it that jobs do not have, that the comparison gives, or that all models must
// have in common.
absl::StatusOr<std::map<std::string, ModelJob>> ModelJobs(
    absl::string_view models, const FlagMap& job, const std::string& only_name);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_MODEL_JOBS_H_
