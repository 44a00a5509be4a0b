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

// Turns raw Criteo lines (criteo_row.h says which are rows) into examples as
// they are read, without a vocabulary: "hashing". An example has 39 features in
// the order of the columns, so that a column keeps its place:
//   Ik, k = 1 ... 13   id k - 1; value sign(x) ln(1 + |x|), 0 where missing
//   Ck, k = 1 ... 26   id 13 + floor(h (N - 13) / 2^64), value 1
// with h = StableHashCombine(13 + k, CriteoCategoryKey(category)), a missing
// category being the empty one, and N = feature_size, or 2^64 where that is 0.
// Values lie in [-41.5, 41.5]. Categories with the same id share a row of the
// table: of n distinct ones about n^2 / N do, for n well below N.
//
// These ids are a file format: a checkpoint trained with them needs them again.
//
// Thread-compatible.
class CriteoParser {
 public:
  using Line = CriteoLine;

  // INVALID_ARGUMENT unless feature_size is 0 or holds an id for a category
  // (at least 14), and field_size is at least 39.
  static absl::Status Validate(uint64_t feature_size, int field_size);

  // REQUIRES: Validate is OK.
  CriteoParser(uint64_t feature_size, int field_size);

  // Parses one line, given without its '\n', and appends the example of a row
  // to *out. For a bad one *reason says why, in printable ASCII; *out is
  // unchanged.
  Line Parse(absl::string_view line, ExampleBatch* out, std::string* reason);

 private:
  float ValueOf(int64_t integer) const;

  const uint64_t categories_;      // ids that they share: N - 13
  std::vector<float> logarithms_;  // of small integers, which most are
  CriteoRow row_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_CRITEO_PARSER_H_
