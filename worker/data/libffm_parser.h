#ifndef SHOAL_WORKER_DATA_LIBFFM_PARSER_H_
#define SHOAL_WORKER_DATA_LIBFFM_PARSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "worker/data/batch.h"
#include "worker/data/label_range.h"

namespace shoal {

// True if `line` looks like a row of LibFFM text that has a feature
// (row_words::ColonsOfFeatures).
bool LooksLikeLibFfm(absl::string_view line);

// Parses rows of LibFFM text:
//   row     = label *(blanks feature) [blanks]
//   feature = field ":" id ":" value
//   field   = 1*digit, below field_size
// with label, id, value and blanks as in libsvm_parser.h. The field of a
// feature is its position in the row, so the features may be in any order, and
// a field that is left out moves no other. A row with two values of one field
// is bad. Lines that are not rows, and `any_label`, are as in libsvm_parser.h.
//
// Thread-compatible.
class LibFfmParser {
 public:
  enum class Line { kRow, kNoRow, kBad };

  // REQUIRES: field_size is in [1, 65536].
  LibFfmParser(uint64_t feature_size, int field_size, bool any_label = false,
               int num_labels = 2);

  // Parses one line, given without its line end. If it is a row, appends its
  // example to *out, whose other examples have fields too. If it is bad,
  // *reason says why and quotes the line in printable ASCII, and *out is
  // unchanged.
  Line Parse(absl::string_view line, ExampleBatch* out, std::string* reason);

 private:
  Line ParseFeatures(const char* p, const char* end, uint8_t label,
                     ExampleBatch* out, std::string* reason);

  const uint64_t feature_size_;
  const uint64_t largest_id_;
  const uint64_t field_size_;
  const bool any_label_;
  const LabelRange labels_;
  // The features of one row, until the row is known to be good.
  std::vector<FeatureId> ids_;
  std::vector<float> values_;
  std::vector<uint16_t> fields_;
  // By field: the number of the last row that had it.
  std::vector<uint32_t> row_of_field_;
  uint32_t row_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_LIBFFM_PARSER_H_
