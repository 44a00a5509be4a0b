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

// The result of fitting to rows (criteo_fit.h).
struct CriteoFacts {
  struct Range {
    bool seen = false;  // at least one row has the integer
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
  // By column. The first category gets the first id after that of the column's
  // unknown category.
  std::array<std::vector<Category>, kCriteoCategories> categories;
};

// The fitted encoding of Criteo rows, equal to that of the reference's feature
// builder:
//   Ik  id k, value (x - min_k) / (max_k - min_k) to six decimals; value 0 if
//       the integer is missing or max_k = min_k. An integer above max_k gets a
//       value above 1, one below min_k a value below 0: only fitting clips.
//   Ck  id offset_k + i, value 1, for the column's i-th category; i = 0 for a
//       missing or unknown category. offset_1 = 13, and each column begins
//       where the column before it ends: offset_{k+1} = offset_k + 1 + n_k.
// So no feature has id 0, and I13 and the unknown category of C1 share id 13.
// The reference does the same, so its models and Shoal's can be compared.
//
// Thread-compatible.
class CriteoFeatures {
 public:
  // INVALID_ARGUMENT: a category is there twice, is empty, too long or not
  // printable; a column has 2^31 categories or more; a minimum is above its
  // maximum.
  static absl::StatusOr<CriteoFeatures> Make(CriteoFacts facts);

  // The number of ids, 13 + Σ (1 + n_k): all ids are below this.
  uint64_t feature_size() const { return offsets_[kCriteoCategories]; }
  // offset_k of the column `category` = k - 1. The id of the column's i-th
  // category is this plus i.
  uint64_t offset(int category) const { return offsets_[category]; }
  const CriteoFacts& facts() const { return facts_; }

  // Appends the example: a line of LibSVM text with its '\n', or a TFRecord. A
  // row without a label gets none there either.
  // Values are equal, bit for bit, when both are read as floats.
  void AppendLibSvm(const CriteoRow& row, std::string* text) const;
  void AppendTfRecord(const CriteoRow& row, std::string* records) const;

  // The encoding as text, to apply it to other files, and back; docs/criteo.md
  // has the format. INVALID_ARGUMENT: not such a text; the message names the
  // line. DATA_LOSS: the text was cut off or damaged (its CRC is wrong).
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
