#include "datatools/planted_model.h"

#include <cmath>

#include "base/check.h"
#include "base/stable_hash.h"
#include "partitioner/fixed_size.h"

namespace shoal {
namespace {

constexpr int kRank = 3;  // with w, the four words of one Philox block
constexpr double kLinearShare = 0.7;
constexpr double kLogitMean = -1.3;
constexpr double kLogitDeviation = 1.2;
constexpr uint32_t kOne = 10000;  // the value 1 in ten-thousandths

// Rows that only determine bias and scale; no row of the data has these
// numbers.
constexpr uint64_t kCalibrationRows = 8192;
constexpr uint64_t kFirstCalibrationRow = uint64_t{1} << 63;

// Uniform with deviation 1 and mean 0.
double UnitDeviation(uint32_t word) {
  constexpr double kSqrt12 = 3.4641016151377544;
  return (word * 0x1p-32 - 0.5) * kSqrt12;
}

}  // namespace

// The random numbers of one row, in the order in which they are drawn.
class PlantedModel::Random {
 public:
  Random(uint64_t key, uint64_t row) : philox_(key), row_(row) {}

  // In [0, 1), of 53 bits.
  double Uniform() {
    if (used_ == 2) {
      block_ = philox_(row_, count_++);
      used_ = 0;
    }
    const uint64_t bits =
        uint64_t{block_[2 * used_]} << 32 | block_[2 * used_ + 1];
    ++used_;
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }

 private:
  const Philox philox_;
  const uint64_t row_;
  uint64_t count_ = 0;
  Philox::Block block_ = {};
  int used_ = 2;
};

PlantedModel::PlantedModel(const PlantedModelOptions& options)
    : options_(options),
      row_key_(StableHashCombine(options.seed, StableHash("synthetic row"))),
      weights_(StableHashCombine(options.seed, StableHash("planted weights"))) {
  SHOAL_DCHECK(options.fields >= 1 && options.numeric_fields >= 0);
  SHOAL_DCHECK(options.numeric_fields <= options.fields);
  SHOAL_DCHECK(options.ids >= static_cast<uint64_t>(options.fields));
  const int categories = options.fields - options.numeric_fields;
  const uint64_t ids = options.ids - options.numeric_fields;
  for (int c = 0; c < categories; ++c) {
    category_begin_.push_back(options.numeric_fields +
                              FixedSizeBegin(ids, categories, c));
    categories_.emplace_back(FixedSizeLength(ids, categories, c), options.zipf);
  }

  PlantedRow row;
  double sum = 0;
  double sum_of_squares = 0;
  for (uint64_t i = 0; i < kCalibrationRows; ++i) {
    Random random(row_key_, kFirstCalibrationRow + i);
    const double raw = DrawFeatures(&random, &row);
    sum += raw;
    sum_of_squares += raw * raw;
  }
  const double mean = sum / kCalibrationRows;
  const double variance = sum_of_squares / kCalibrationRows - mean * mean;
  // If all rows are equal there is nothing to learn, and nothing to scale.
  scale_ = variance > 1e-12 ? kLogitDeviation / std::sqrt(variance) : 0;
  bias_ = kLogitMean - scale_ * mean;
}

void PlantedModel::Draw(uint64_t number, PlantedRow* row) const {
  Random random(row_key_, number);
  const double logit = bias_ + scale_ * DrawFeatures(&random, row);
  row->logit = static_cast<float>(logit);
  row->label = random.Uniform() < 1 / (1 + std::exp(-logit)) ? 1 : 0;
}

double PlantedModel::DrawFeatures(Random* random, PlantedRow* row) const {
  row->ids.resize(options_.fields);
  row->values.resize(options_.fields);
  double linear = 0;
  double sum[kRank] = {};
  double sum_of_squares = 0;
  for (int f = 0; f < options_.fields; ++f) {
    if (f < options_.numeric_fields) {
      const double u = random->Uniform();
      row->ids[f] = f;
      row->values[f] = static_cast<uint32_t>(u * u * u * kOne);
    } else {
      const int c = f - options_.numeric_fields;
      row->ids[f] = category_begin_[c] - 1 +
                    categories_[c].Draw([random] { return random->Uniform(); });
      row->values[f] = kOne;
    }
    const double x = row->values[f] / static_cast<double>(kOne);
    const Philox::Block words = weights_(0, row->ids[f]);
    linear += UnitDeviation(words[0]) * x;
    for (int k = 0; k < kRank; ++k) {
      const double e = UnitDeviation(words[1 + k]) * x;
      sum[k] += e;
      sum_of_squares += e * e;
    }
  }
  double pairs = -sum_of_squares;
  for (const double s : sum) pairs += s * s;
  pairs /= 2;
  // Each part divided by its deviation for independent categories. The sum over
  // pairs has F(F-1)/2 products of deviation 1 for every k.
  const double fields = options_.fields;
  const double products = kRank * fields * (fields - 1) / 2;
  double raw = std::sqrt(kLinearShare) * linear / std::sqrt(fields);
  if (products > 0) {
    raw += std::sqrt(1 - kLinearShare) * pairs / std::sqrt(products);
  }
  return raw;
}

}  // namespace shoal
