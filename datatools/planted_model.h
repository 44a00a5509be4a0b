#ifndef SHOAL_DATATOOLS_PLANTED_MODEL_H_
#define SHOAL_DATATOOLS_PLANTED_MODEL_H_

#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "core/ids.h"
#include "datatools/zipf.h"

namespace shoal {

struct PlantedModelOptions {
  int fields = 39;
  int numeric_fields = 13;  // the first ones; the others are categories
  uint64_t ids = 1'000'000;
  double zipf = 1.1;  // exponent of the categories' frequencies
  uint64_t seed = 1;
};

// One example of the planted model.
struct PlantedRow {
  std::vector<FeatureId> ids;  // one for each field
  // Values in ten-thousandths, so that text and number are equal.
  std::vector<uint32_t> values;
  uint8_t label = 0;
  float logit = 0;  // logit of the probability with which the label was drawn
};

// The truth behind synthetic data: a factorisation machine with random weights,
//   logit = bias + scale (a Σ w x + b ½ Σ_k ((Σ v_k x)² − Σ (v_k x)²)),
// k = 1 … 3. The linear part has 70 % of the variance. Numeric field f has the
// single id f and values u³, u uniform in [0, 1). The categorical fields share
// the other ids in equal ranges; their ids are drawn by Zipf's law, the most
// frequent first, with value 1. Labels are drawn by sigmoid(logit), so no model
// ranks better than the logits. bias and scale give the logits a mean of −1.3
// and a deviation of 1.2: about 26 % of the labels are 1, and the best AUC is
// near .78.
//
// A row is a function of (options, number) alone. Thread-safe once made.
// REQUIRES: 0 <= numeric_fields <= fields, fields >= 1, ids >= fields.
class PlantedModel {
 public:
  explicit PlantedModel(const PlantedModelOptions& options);

  // Overwrites *row, reusing its memory.
  void Draw(uint64_t number, PlantedRow* row) const;

 private:
  class Random;

  // Draws ids and values; returns the logit before bias and scale.
  double DrawFeatures(Random* random, PlantedRow* row) const;

  const PlantedModelOptions options_;
  const uint64_t row_key_;
  const Philox weights_;
  std::vector<ZipfSampler> categories_;  // by categorical field
  std::vector<FeatureId> category_begin_;
  double bias_ = 0;
  double scale_ = 1;
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_PLANTED_MODEL_H_
