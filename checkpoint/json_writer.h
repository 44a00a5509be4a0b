#ifndef SHOAL_CHECKPOINT_JSON_WRITER_H_
#define SHOAL_CHECKPOINT_JSON_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal {

// Appends JSON to a string, value after value: the same calls give the same
// bytes. What is opened with `lines` has each of its entries on a line of its
// own; the rest is on one line. Thread-compatible.
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  JsonWriter& BeginObject(bool lines = false) { return Open('{', lines); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray(bool lines = false) { return Open('[', lines); }
  JsonWriter& EndArray() { return Close(']'); }
  // The name of the value that comes next, in an object.
  JsonWriter& Key(absl::string_view name);

  // Any bytes: those that are not printable ASCII are written as \u00XX, which
  // JsonNode::Bytes reads back.
  JsonWriter& String(absl::string_view text);
  JsonWriter& U64(uint64_t number);
  JsonWriter& Bool(bool value);
  JsonWriter& Float(float number);  // in digits that give the same float back
  JsonWriter& Hex32s(absl::Span<const uint32_t> numbers);
  JsonWriter& Hex32(uint32_t number) { return Hex32s({number}); }
  JsonWriter& Hex64(uint64_t number);

 private:
  JsonWriter& Open(char bracket, bool lines);
  JsonWriter& Close(char bracket);
  void BeforeValue();
  void NewLine();
  void Quoted(absl::string_view text);

  std::string* const out_;
  std::string open_lines_;  // 'l' or ' ' by what is open
  bool first_ = true;       // of what is open
  bool after_key_ = false;
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_JSON_WRITER_H_
