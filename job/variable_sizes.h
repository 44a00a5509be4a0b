#ifndef SHOAL_JOB_VARIABLE_SIZES_H_
#define SHOAL_JOB_VARIABLE_SIZES_H_

#include <cstdint>

#include "core/model_spec.h"

namespace shoal {

// The sizes of a job's variables, without the canary's table.
struct VariableSizes {
  uint64_t dense_bytes = 0;  // weights of all dense variables
  uint64_t row_bytes = 0;    // weights of one id's rows, over all tables
  // All rows of all tables with their optimizer state. 0: a table is dynamic,
  // so its size follows from the data.
  uint64_t table_bytes = 0;
  // Floating-point operations of the products of the dense matrices, for a
  // sample's forward and backward pass.
  double flop_per_sample = 0;
};
VariableSizes SizesOf(const ModelSpec& spec);

}  // namespace shoal

#endif  // SHOAL_JOB_VARIABLE_SIZES_H_
