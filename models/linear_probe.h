#ifndef SHOAL_MODELS_LINEAR_PROBE_H_
#define SHOAL_MODELS_LINEAR_PROBE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "models/layers/loss.h"
#include "models/model.h"
#include "models/model_options.h"

namespace shoal {

// A model for the tests of exact arithmetic. Its trained weights do not depend,
// bit for bit, on the order of updates, so an asynchronous job must end with
// the weights of a serial job.
//
// The gradient does not depend on the weights, and it is a SUM over the batch,
// which no ModelInput::loss_divisor divides: each occurrence of a row, and each
// example for the dense variables, adds a whole number of units of 1/64, at
// most 4 in size. Under SGD with rate 2^-r and zero initial values every weight
// is a whole number of 2^-(r+6), so all float32 arithmetic is exact while that
// number stays below 2^24 in size. It certainly does if neither the occurrences
// of any row nor the job's examples times epochs exceed 2^22 - 1 = 4,194,303.
//
// Options must be SGD with powers of two as rates, no L2 and no warm-up
// (ValidateLinearProbe).

// The amount that one occurrence adds to element `column` of its row's
// gradient, in units of 1/64.
int ProbeRowUnits(uint8_t label, float value, int field, int column);

// The hash of one example from which its dense gradients follow: over its label
// and its present fields (position and bits of the value), in order.
uint64_t ProbeExampleHash(uint8_t label, absl::Span<const int32_t> row_index,
                          absl::Span<const float> values);

// The amount that one example adds to element `i` of the flat dense gradient,
// in units of 1/64.
int ProbeDenseUnits(uint64_t example_hash, int64_t i);

// Checks that the options keep the arithmetic exact. INVALID_ARGUMENT names the
// flag that does not.
absl::Status ValidateLinearProbe(const ModelOptions& options);

// As DeepFmMemoryBytes (models/deepfm.h).
uint64_t LinearProbeMemoryBytes(const ModelOptions& options, int batch_size,
                                uint64_t distinct_rows);

// The variables of the linear probe. Table "probe": column "probe_w"
// (embedding_size). Dense: "probe_dense" [64, 8] and "probe_b" [1]. All initial
// values are 0. REQUIRES: valid options.
ModelSpec LinearProbeSpec(const ModelOptions& options);

// The model's logits are b + Σ_j row_j[0] x_j, so that there is a loss and an
// AUC to compute. No gradient depends on the logits.
class LinearProbe final : public Model {
 public:
  // `spec` is LinearProbeSpec(…). The objective takes one score per example.
  // `objective` and `backend` must outlive the model.
  LinearProbe(ModelSpec spec, const Objective* objective, Backend* backend);

  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return loss_.objective(); }
  void Predict(const ModelInput& input, absl::Span<float> logits) override;
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override;

 private:
  const ModelSpec spec_;
  const int row_dim_;
  LossLayer loss_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LINEAR_PROBE_H_
