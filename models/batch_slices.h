#ifndef SHOAL_MODELS_BATCH_SLICES_H_
#define SHOAL_MODELS_BATCH_SLICES_H_

#include "absl/functional/function_ref.h"
#include "models/model.h"

namespace shoal {

// Examples of a batch that follow one another.
struct BatchSlice {
  ModelInput input;  // only these examples
  int first = 0;     // position of the first of them in the batch
};

// Divides `whole` into slices of at most `most` examples and about equal sizes,
// and calls visit(slice) for each, in order. To divide a whole batch, pass
// {input}. REQUIRES: most >= 1.
void ForEachSlice(const BatchSlice& whole, int most,
                  absl::FunctionRef<void(const BatchSlice&)> visit);

}  // namespace shoal

#endif  // SHOAL_MODELS_BATCH_SLICES_H_
