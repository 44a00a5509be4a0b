#ifndef SHOAL_BASE_JSON_WRITER_H_
#define SHOAL_BASE_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal {

// The layout of a document.
enum class JsonLayout : uint8_t {
  // An array or object that was begun with `lines` has each entry on a line of
  // its own, indented by one blank for each open bracket. The rest is on one
  // line.
  kByBracket = 0,
  kIndented = 1,  // every entry on its own line, two blanks for each bracket
  kCompact = 2,   // no line breaks, no blanks
};

// Appends JSON to a string, value after value. The same calls give the same
// bytes. Thread-compatible.
//
//   std::string text;
//   JsonWriter w(&text, JsonLayout::kCompact);
//   w.BeginObject().Field("step", step).Key("shape");
//   w.Values(shape).EndObject();
class JsonWriter {
 public:
  // With `ascii`, Text writes characters other than ASCII as \uXXXX.
  explicit JsonWriter(std::string* out,
                      JsonLayout layout = JsonLayout::kByBracket,
                      bool ascii = false)
      : out_(out), layout_(layout), ascii_(ascii) {}

  JsonWriter& BeginObject(bool lines = false) { return Open('{', lines); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray(bool lines = false) { return Open('[', lines); }
  JsonWriter& EndArray() { return Close(']'); }
  // Writes the name of the next value of an object.
  JsonWriter& Key(absl::string_view name);

  // Writes any bytes. Bytes that are not printable ASCII become \u00XX, which
  // JsonNode::Bytes reads back.
  JsonWriter& String(absl::string_view bytes);
  // Writes UTF-8 for people and other programs. Bytes that are not valid UTF-8
  // become U+FFFD.
  JsonWriter& Text(absl::string_view utf8);
  JsonWriter& U64(uint64_t number);
  JsonWriter& I64(int64_t number);
  JsonWriter& Bool(bool value);
  JsonWriter& Float(float number);  // in digits that give the same float back
  // The same for a double; writes null unless the number is finite.
  JsonWriter& Double(double number);
  JsonWriter& Null();
  JsonWriter& Hex32s(absl::Span<const uint32_t> numbers);
  JsonWriter& Hex32(uint32_t number) { return Hex32s({number}); }
  JsonWriter& Hex64(uint64_t number);
  // Writes a value that is JSON already, as it is.
  JsonWriter& Raw(absl::string_view json);

  // Writes a value by its type. Text is written by Text.
  template <typename T>
  JsonWriter& Value(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return Bool(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return Double(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      return U64(value);
    } else if constexpr (std::is_integral_v<T>) {
      return I64(value);
    } else {
      return Text(value);
    }
  }
  template <typename T>
  JsonWriter& Field(absl::string_view name, const T& value) {
    return Key(name).Value(value);
  }
  // Writes an array of values.
  template <typename Container>
  JsonWriter& Values(const Container& values) {
    BeginArray();
    for (const auto& value : values) Value(value);
    return EndArray();
  }

 private:
  JsonWriter& Open(char bracket, bool lines);
  JsonWriter& Close(char bracket);
  void BeforeValue();
  void NewLine();
  void Quoted(absl::string_view bytes);

  std::string* const out_;
  const JsonLayout layout_;
  const bool ascii_;
  std::string open_lines_;  // 'l' or ' ' by what is open
  bool first_ = true;       // nothing was written into the open container
  bool after_key_ = false;
};

// The same document in the layout kIndented. REQUIRES: `json` is JSON in the
// layout kCompact.
std::string IndentJson(absl::string_view json);

}  // namespace shoal

#endif  // SHOAL_BASE_JSON_WRITER_H_
