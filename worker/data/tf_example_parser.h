#ifndef SHOAL_WORKER_DATA_TF_EXAMPLE_PARSER_H_
#define SHOAL_WORKER_DATA_TF_EXAMPLE_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "worker/data/batch.h"
#include "worker/data/label_range.h"
#include "worker/data/record_parser.h"

namespace shoal {

// Parses tf.Example messages, straight from protobuf's wire format:
//   label   one number, float or int64, equal to a label (label_range.h)
//   ids     at most field_size int64, below feature_size; if that is 0, the
//           64 bits are the id, so that a negative number is an id too
//   values  as many finite floats; may be absent, and is 1 for every id then
// Lists may be packed or not. Other features are skipped. If a feature occurs
// twice, the last one counts, as in protobuf; a feature without a list counts
// as absent. Any other record is a bad row, including bytes that are not a
// message.
//
// With any_label the label may be absent or have any value, and counts as 0
// unless it is a single number that is a label.
//
// Thread-compatible.
class TfExampleParser final : public RecordParser {
 public:
  TfExampleParser(uint64_t feature_size, int field_size,
                  bool any_label = false, int num_labels = 2);

  Result Parse(absl::string_view record, ExampleBatch* out,
               std::string* reason) override;

 private:
  struct Bytes {
    const uint8_t* p = nullptr;
    const uint8_t* end = nullptr;
  };
  enum class Kind : uint8_t { kNone, kBytes, kFloats, kInts };

  // The first numbers of one feature, and the number of all.
  template <typename T>
  struct List {
    std::vector<T> numbers;  // as many as are kept
    size_t count = 0;
  };
  struct Feature {
    Kind kind = Kind::kNone;
    List<float> floats;
    List<uint64_t> ints;
    void Clear() {
      kind = Kind::kNone;
      floats.count = ints.count = 0;
    }
  };

  // Each function returns false if the bytes are not such a message.
  static bool Tag(Bytes* in, uint32_t* field, uint32_t* type);
  static bool Varint(Bytes* in, uint64_t* value);
  static bool Delimited(Bytes* in, Bytes* inner);
  static bool Skip(Bytes* in, uint32_t type);
  bool ParseFeatures(Bytes in);
  bool ParseEntry(Bytes in);
  Feature* Named(Bytes key);
  static bool ParseFeature(Bytes in, Feature* feature);
  static bool ParseFloats(Bytes in, List<float>* list);
  static bool ParseInts(Bytes in, List<uint64_t>* list);

  bool CheckLabel(uint8_t* label, std::string* reason) const;
  bool CheckIds(std::string* reason) const;
  bool CheckValues(std::string* reason) const;

  const uint64_t feature_size_;
  const size_t field_size_;
  const bool any_label_;
  const LabelRange labels_;
  Feature label_;
  Feature ids_;
  Feature values_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_TF_EXAMPLE_PARSER_H_
