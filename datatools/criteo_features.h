#ifndef SHOAL_DATATOOLS_CRITEO_FEATURES_H_
#define SHOAL_DATATOOLS_CRITEO_FEATURES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "datatools/criteo_category_map.h"
#include "worker/data/criteo_row.h"

namespace shoal {

// What fitting found in the rows that it saw (criteo_fit.h).
struct CriteoFacts {
  struct Range {
    bool seen = false;  // some row has the integer
    int64_t min = 0;
    int64_t max = 0;  // after clipping
  };
  struct Category {
    std::string value;
    uint64_t count = 0;  // rows that have it
  };

  uint64_t rows = 0;
  uint64_t cutoff = 0;
  std::array<Range, kCriteoIntegers> integers;
  // By column; the first gets the column's first id after that of the unknown.
  std::array<std::vector<Category>, kCriteoCategories> categories;
};

// The fitted encoding of Criteo rows, that of the reference's feature builder:
//   Ik  id k, value (x - min_k) / (max_k - min_k) to six decimals; 0 where it
//       is missing, and where max_k = min_k. Larger ones than max_k are above
//       1, smaller ones than min_k below 0: clipping is for fitting alone.
//   Ck  id offset_k + i, value 1, of the column's i-th category; i = 0 for a
//       missing one and for all others. offset_1 = 13, and each column begins
//       where the one before it ends: offset_k+1 = offset_k + 1 + n_k.
// So id 0 is nobody's, and id 13 is both I13's and that of C1's unknown, as in
// the reference, whose models can be compared with ours therefore.
//
// Thread-compatible.
class CriteoFeatures {
 public:
  // INVALID_ARGUMENT: a category twice, empty, too long, or not printable; more
  // than 2^31 of them; a minimum above its maximum.
  static absl::StatusOr<CriteoFeatures> Make(CriteoFacts facts);

  // Ids are below it: 13 + Σ (1 + n_k).
  uint64_t feature_size() const { return offsets_[kCriteoCategories]; }
  // Of a category's column and, with i, of its i-th category.
  uint64_t offset(int category) const { return offsets_[category]; }
  const CriteoFacts& facts() const { return facts_; }

  // Appends the example: a line of LibSVM text with its '\n', or a TFRecord.
  // Values are equal, bit for bit, when both are read as floats.
  void AppendLibSvm(const CriteoRow& row, std::string* text) const;
  void AppendTfRecord(const CriteoRow& row, std::string* records) const;

  // The encoding as text, to apply it to other files (docs/criteo.md has the
  // format), and back. INVALID_ARGUMENT, with the line: not such a text.
  // DATA_LOSS: cut or damaged (its CRC does not hold).
  std::string ToText() const;
  static absl::StatusOr<CriteoFeatures> FromText(absl::string_view text);

 private:
  CriteoFeatures() = default;

  FeatureId CategoryId(int column, absl::string_view category) const;

  CriteoFacts facts_;
  std::array<uint64_t, kCriteoCategories + 1> offsets_ = {};
  std::array<CriteoCategoryMap<uint32_t>, kCriteoCategories> ranks_;
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_CRITEO_FEATURES_H_
