#ifndef SHOAL_WORKER_DATA_LABEL_RANGE_H_
#define SHOAL_WORKER_DATA_LABEL_RANGE_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "core/label.h"

namespace shoal {

// The labels of rows, as text formats and tf.Example write them: 0 … C - 1 for
// C classes. With two classes -1 is another way to write 0. A constant.
class LabelRange {
 public:
  // REQUIRES: 2 <= num_labels <= kMostLabels (core/label.h).
  explicit LabelRange(int num_labels) : num_labels_(num_labels) {
    SHOAL_DCHECK(num_labels >= 2 && num_labels <= kMostLabels);
  }

  // True if `number`, which may be NaN, is a label, which goes to *label;
  // otherwise *label is 0.
  template <typename Number>
  bool Find(Number number, uint8_t* label) const {
    *label = 0;
    if (number == -1 && num_labels_ == 2) return true;
    if (!(number >= 0 && number < num_labels_)) return false;
    const auto whole = static_cast<uint8_t>(number);
    if (whole != number) return false;
    *label = whole;
    return true;
  }

  // The end of a message about a number that is no label: "is not one of 0, 1,
  // -1".
  std::string Refusal() const {
    return num_labels_ == 2 ? "is not one of 0, 1, -1"
                            : absl::StrCat("is not an integer in [0, ",
                                           num_labels_ - 1, "]");
  }

 private:
  const int num_labels_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_LABEL_RANGE_H_
