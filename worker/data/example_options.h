#ifndef SHOAL_WORKER_DATA_EXAMPLE_OPTIONS_H_
#define SHOAL_WORKER_DATA_EXAMPLE_OPTIONS_H_

#include <cstdint>
#include <optional>

namespace shoal {

struct ExampleOptions {
  uint64_t feature_size = 0;  // ids at or above it make a bad row; 0: no limit
  int field_size = 0;         // rows with more features are bad
  // A line or record longer than this is a bad row, and is not held in memory.
  uint64_t max_record_bytes = 1 << 20;
  // Number of parsing threads. 1 parses on the caller's thread. More parse on
  // threads of their own, which is faster if a worker waits for its data and
  // cores are idle.
  int parse_threads = 1;
  // Labels are 0 … num_labels - 1; a row with another label is bad. With 2, -1
  // counts as 0 where a label may have a sign. At most kMostLabels
  // (core/label.h).
  int num_labels = 2;
  // True for rows whose labels are not known: labels may be any numbers, and
  // count as 0 unless they are one of the above, or may be absent. (In Criteo
  // lines a label that is present is one of the above.)
  bool any_label = false;
  // True for rows that may be without a label, and whose labels are otherwise
  // one of the above. Not together with any_label.
  bool may_lack_label = false;
  // Label of bad rows. With a value, bad rows keep their places, as rows of
  // this label without features, so that the place of a score identifies its
  // row. Without a value, bad rows take no place.
  std::optional<uint8_t> bad_row_label;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_EXAMPLE_OPTIONS_H_
