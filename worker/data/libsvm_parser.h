#ifndef SHOAL_WORKER_DATA_LIBSVM_PARSER_H_
#define SHOAL_WORKER_DATA_LIBSVM_PARSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "worker/data/batch.h"
#include "worker/data/label_range.h"

namespace shoal {

// True if `line` looks like a row of LibSVM text that has a feature
// (row_words::ColonsOfFeatures).
bool LooksLikeLibSvm(absl::string_view line);

// Parses rows of LibSVM text:
//   row     = label *(blanks feature) [blanks]
//   label   = number equal to a label (label_range.h)
//   feature = id ":" value
//   id      = 1*digit, below feature_size, or below 2^64 if that is 0
//   value   = number (parse_number.h), finite
//   blanks  = 1*(space / tab)
// The features keep the order of the line, and an id may be repeated. A row has
// between 0 and field_size features. A line that is empty, blank or begins with
// '#' is not a row. Any other line is a bad row, for example one with an id
// without a value. A '\r' at the end is not part of the line.
//
// With any_label a label may be any number, which counts as 0 unless it is a
// label, and may be left out, which counts as 0: a row has no label if its
// first word has a colon. This is for rows whose labels are not known.
//
// Thread-compatible.
class LibSvmParser {
 public:
  enum class Line { kRow, kNoRow, kBad };

  LibSvmParser(uint64_t feature_size, int field_size, bool any_label = false,
               int num_labels = 2);

  // Parses one line, given without its line end. If it is a row, appends its
  // example to *out. If it is bad, *reason says why and quotes the line in
  // printable ASCII, and *out is unchanged.
  Line Parse(absl::string_view line, ExampleBatch* out, std::string* reason);

 private:
  Line ParseFeatures(const char* p, const char* end, uint8_t label,
                     ExampleBatch* out, std::string* reason);

  const uint64_t feature_size_;
  const uint64_t largest_id_;
  const bool any_label_;
  const LabelRange labels_;
  // The features of one row, until the row is known to be good.
  std::vector<FeatureId> ids_;
  std::vector<float> values_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_LIBSVM_PARSER_H_
