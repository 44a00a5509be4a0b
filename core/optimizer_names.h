#ifndef SHOAL_CORE_OPTIMIZER_NAMES_H_
#define SHOAL_CORE_OPTIMIZER_NAMES_H_

#include "core/choice.h"
#include "core/optimizer_spec.h"

namespace shoal {

// The values of --optimizer, --table_optimizer and --wide_optimizer, which are
// also the names of optimizers in checkpoints.
inline constexpr Choice<OptimizerKind> kOptimizerNames[] = {
    {OptimizerKind::kSgd, "sgd"},
    {OptimizerKind::kAdagrad, "adagrad"},
    {OptimizerKind::kRowwiseAdagrad, "rowwise_adagrad"},
    {OptimizerKind::kAdam, "adam"},
    {OptimizerKind::kFtrl, "ftrl"}};

// Optimizers that are planned. The flags refuse them as not there yet.
inline constexpr const char* kPlannedOptimizers[] = {"momentum"};

}  // namespace shoal

#endif  // SHOAL_CORE_OPTIMIZER_NAMES_H_
