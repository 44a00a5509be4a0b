#ifndef SHOAL_WORKER_DATA_CRITEO_PARSER_H_
#define SHOAL_WORKER_DATA_CRITEO_PARSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "worker/data/batch.h"
#include "worker/data/criteo_row.h"

namespace shoal {

// Turns raw Criteo lines (the format is in criteo_row.h) into examples without
// a vocabulary, by hashing. An example has 39 features in the order of the
// columns, so that a column always is the same field:
//   Ik, k = 1 ... 13   id k - 1; value sign(x) ln(1 + |x|), 0 where missing
//   Ck, k = 1 ... 26   id 13 + floor(h (N - 13) / 2^64), value 1
// with h = StableHashCombine(13 + k, CriteoCategoryKey(category)), where a
// missing category is the empty string, and N = feature_size, or 2^64 if
// feature_size is 0. Values lie in [-41.5, 41.5]. Categories with the same id
// share a row of the table. Of n distinct categories about n^2 / N share a row,
// if n is far below N.
//
// These ids are a file format and must not change: a checkpoint that was
// trained with them needs the same ids again.
//
// Thread-compatible.
class CriteoParser {
 public:
  using Line = CriteoLine;

  // INVALID_ARGUMENT unless feature_size is 0 or at least 14, which leaves an
  // id for categories, and field_size is at least 39.
  static absl::Status Validate(uint64_t feature_size, int field_size);

  // With `any_label` a line needs no label (criteo_row.h). REQUIRES: Validate
  // is OK.
  CriteoParser(uint64_t feature_size, int field_size, bool any_label = false,
               int num_labels = 2);

  // Parses one line, given without its '\n'. If it is a row, appends its
  // example to *out. If it is bad, *reason says why, in printable ASCII, and
  // *out is unchanged.
  Line Parse(absl::string_view line, ExampleBatch* out, std::string* reason);

 private:
  float ValueOf(int64_t integer) const;

  const uint64_t categories_;      // number of ids for categories: N - 13
  const bool any_label_;
  const int num_labels_;
  std::vector<float> logarithms_;  // by integer, for small integers, which are
                                   // the most frequent
  CriteoRow row_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_CRITEO_PARSER_H_
