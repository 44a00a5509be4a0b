// The reader, and the part of the writer that needs the JSON library. Only this
// source includes the library, which takes a second to parse.

#include "base/json_reader.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_writer.h"
#include "nlohmann/json.hpp"

namespace shoal {
namespace {

using Json = nlohmann::json;

const Json& Of(const void* value) { return *static_cast<const Json*>(value); }

const Json& NullJson() {
  static const Json* const null = new Json();
  return *null;
}

// True if more than `max_depth` brackets are open at once, outside of strings.
// The result for text that is not JSON does not matter: the parser refuses such
// text.
bool DeeperThan(absl::string_view text, int max_depth) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if ((c == '{' || c == '[') && ++depth > max_depth) return true;
    if (c == '}' || c == ']') --depth;
  }
  return false;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// False unless all of `text` are digits.
bool ParseHex(absl::string_view text, uint64_t* number) {
  *number = 0;
  for (const char c : text) {
    const int digit = HexDigit(c);
    if (digit < 0) return false;
    *number = *number << 4 | static_cast<uint64_t>(digit);
  }
  return true;
}

}  // namespace

struct JsonDocument::Value {
  Json json;
};

JsonDocument::JsonDocument(std::unique_ptr<Value> value)
    : value_(std::move(value)),
      root_(&value_->json, this, nullptr, nullptr, 0) {}

JsonDocument::~JsonDocument() = default;

absl::StatusOr<std::unique_ptr<JsonDocument>> JsonDocument::Parse(
    absl::string_view text, int max_depth) {
  if (DeeperThan(text, max_depth)) {
    return absl::InvalidArgumentError(
        absl::StrCat("nested deeper than ", max_depth, " brackets"));
  }
  auto value = std::make_unique<Value>();
  try {
    value->json = Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    // The library counts from 1, and its words may hold bytes of the text.
    const size_t at = error.byte == 0 ? 0 : error.byte - 1;
    return absl::InvalidArgumentError(
        at >= text.size()
            ? absl::StrCat("not JSON: it ends too early, after byte ",
                           text.size())
            : absl::StrCat("not JSON from byte ", at, " on"));
  } catch (const Json::exception& error) {
    // A number out of range; these words too may hold bytes of the text.
    std::string what = error.what();
    for (char& c : what) {
      if (c < ' ' || c > '~') c = '?';
    }
    return absl::InvalidArgumentError(
        absl::StrCat("not JSON: ", absl::string_view(what).substr(0, 200)));
  }
  return std::unique_ptr<JsonDocument>(new JsonDocument(std::move(value)));
}

bool JsonNode::ok() const { return document_->status_.ok(); }

std::string JsonNode::Place() const {
  if (parent_ == nullptr) return "";
  const std::string before = parent_->Place();
  if (name_ == nullptr) return absl::StrCat(before, "[", index_, "]");
  return absl::StrCat(before, before.empty() ? "" : ".", name_);
}

void JsonNode::Fail(absl::string_view what) const {
  if (!document_->status_.ok()) return;
  const std::string place = Place();
  document_->status_ = absl::InvalidArgumentError(
      absl::StrCat(place.empty() ? "the document" : place, ": ", what));
}

JsonNode JsonNode::Nothing(const char* name) const {
  return JsonNode(&NullJson(), document_, this, name, 0);
}

JsonKind JsonNode::kind() const {
  switch (Of(value_).type()) {
    case Json::value_t::boolean:
      return JsonKind::kBool;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return JsonKind::kInteger;
    case Json::value_t::number_float:
      return JsonKind::kReal;
    case Json::value_t::string:
      return JsonKind::kText;
    case Json::value_t::array:
      return JsonKind::kArray;
    case Json::value_t::object:
      return JsonKind::kObject;
    default:
      return JsonKind::kNull;
  }
}

bool JsonNode::Has(absl::string_view field) const {
  const Json& json = Of(value_);
  return ok() && json.is_object() && json.contains(std::string(field));
}

JsonNode JsonNode::Field(const char* name) const {
  const Json& json = Of(value_);
  if (!ok()) return Nothing(name);
  if (!json.is_object()) {
    Fail("is not an object");
    return Nothing(name);
  }
  const auto it = json.find(name);
  const JsonNode node(it == json.end() ? &NullJson() : &*it, document_, this,
                      name, 0);
  if (it == json.end()) node.Fail("is missing");
  return node;
}

size_t JsonNode::Size(size_t max) const {
  const Json& json = Of(value_);
  if (!ok()) return 0;
  if (!json.is_array()) {
    Fail("is not an array");
    return 0;
  }
  if (json.size() > max) {
    Fail(absl::StrCat("has ", json.size(), " entries; at most ", max,
                      " are read"));
    return 0;
  }
  return json.size();
}

JsonNode JsonNode::At(size_t i) const {
  const Json& json = Of(value_);
  if (!json.is_array() || i >= json.size()) return Nothing(nullptr);
  return JsonNode(&json[i], document_, this, nullptr, i);
}

void JsonNode::ForEachField(
    size_t max,
    absl::FunctionRef<void(const std::string&, const JsonNode&)> visit) const {
  const Json& json = Of(value_);
  if (!ok()) return;
  if (!json.is_object() || json.size() > max) {
    Fail(absl::StrCat("must be an object with at most ", max,
                      " fields"));
    return;
  }
  for (auto it = json.begin(); it != json.end() && ok(); ++it) {
    visit(it.key(),
          JsonNode(&it.value(), document_, this, it.key().c_str(), 0));
  }
}

uint64_t JsonNode::U64(uint64_t max) const {
  const Json& json = Of(value_);
  if (!ok()) return 0;
  if (!json.is_number_unsigned()) {
    Fail("is not a whole number of at least 0");
    return 0;
  }
  const auto number = json.get<uint64_t>();
  if (number > max) {
    Fail(absl::StrCat(number, " is above ", max));
    return 0;
  }
  return number;
}

int64_t JsonNode::I64() const {
  return static_cast<int64_t>(
      U64(static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

int64_t JsonNode::Signed() const {
  const Json& json = Of(value_);
  if (!ok()) return 0;
  if (!json.is_number_integer()) {
    Fail("is not a whole number");
    return 0;
  }
  return json.get<int64_t>();
}

bool JsonNode::Bool() const {
  const Json& json = Of(value_);
  if (!ok()) return false;
  if (!json.is_boolean()) {
    Fail("is neither true nor false");
    return false;
  }
  return json.get<bool>();
}

float JsonNode::Float() const {
  const Json& json = Of(value_);
  if (!ok()) return 0;
  if (!json.is_number()) {
    Fail("is not a number");
    return 0;
  }
  const auto wide = json.get<double>();
  if (!(std::abs(wide) <= std::numeric_limits<float>::max())) {
    Fail("is not a number in the range of a float");
    return 0;
  }
  return static_cast<float>(wide);
}

double JsonNode::Double() const {
  const Json& json = Of(value_);
  if (!ok()) return 0;
  if (!json.is_number()) {
    Fail("is not a number");
    return 0;
  }
  return json.get<double>();
}

std::string JsonNode::String(size_t max_bytes) const {
  const Json& json = Of(value_);
  if (!ok()) return "";
  if (!json.is_string()) {
    Fail("is not a text");
    return "";
  }
  const auto& text = json.get_ref<const std::string&>();
  if (text.size() > max_bytes) {
    Fail(absl::StrCat("has ", text.size(), " bytes; at most ", max_bytes,
                      " are read"));
    return "";
  }
  return text;
}

std::string JsonNode::Bytes(size_t max_bytes) const {
  // Two bytes of UTF-8 are one character below U+0100.
  const std::string text = String(2 * max_bytes);
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      bytes.push_back(text[i]);
    } else if ((c == 0xc2 || c == 0xc3) && i + 1 < text.size()) {
      bytes.push_back(static_cast<char>((c & 3) << 6 | (text[++i] & 0x3f)));
    } else {
      Fail("has a character above U+00FF");
      return "";
    }
  }
  if (bytes.size() > max_bytes) {
    Fail(absl::StrCat("has ", bytes.size(), " bytes; at most ", max_bytes,
                      " are read"));
    return "";
  }
  return bytes;
}

std::vector<uint32_t> JsonNode::Hex32s(size_t max) const {
  std::vector<uint32_t> numbers;
  const Json& json = Of(value_);
  if (!ok()) return numbers;
  if (!json.is_string()) {
    Fail("is not a text");
    return numbers;
  }
  const auto& text = json.get_ref<const std::string&>();
  if (text.size() % 8 != 0 || text.size() / 8 > max) {
    Fail(absl::StrCat("has ", text.size(),
                      " bytes; it must have eight digits for each of at most ",
                      max, " numbers"));
    return numbers;
  }
  numbers.reserve(text.size() / 8);
  for (size_t i = 0; i < text.size(); i += 8) {
    uint64_t number = 0;
    if (!ParseHex(absl::string_view(text).substr(i, 8), &number)) {
      Fail("has a character that is not a hexadecimal digit");
      return {};
    }
    numbers.push_back(static_cast<uint32_t>(number));
  }
  return numbers;
}

uint32_t JsonNode::Hex32() const {
  const std::vector<uint32_t> numbers = Hex32s(1);
  if (numbers.size() == 1) return numbers[0];
  Fail("is not a text of eight hexadecimal digits");
  return 0;
}

uint64_t JsonNode::Hex64() const {
  const std::vector<uint32_t> numbers = Hex32s(2);
  if (numbers.size() == 2) return uint64_t{numbers[0]} << 32 | numbers[1];
  Fail("is not a text of sixteen hexadecimal digits");
  return 0;
}

JsonWriter& JsonWriter::Text(absl::string_view utf8) {
  BeforeValue();
  out_->append(Json(std::string(utf8))
                   .dump(-1, ' ', ascii_, Json::error_handler_t::replace));
  return *this;
}

JsonWriter& JsonWriter::Double(double number) {
  BeforeValue();
  out_->append(Json(number).dump());
  return *this;
}

}  // namespace shoal
