#ifndef SHOAL_BASE_JSON_READER_H_
#define SHOAL_BASE_JSON_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Reads JSON of a known shape from untrusted text. The first value that is
// missing or wrong becomes the document's error, with its place
// ("shards[2].file.size"). After that every value reads as zero or empty, so
// the caller checks for errors once, at the end. Thread-compatible.
class JsonDocument;

enum class JsonKind : uint8_t {
  kNull = 0,
  kBool = 1,
  kInteger = 2,  // a whole number without a point or an exponent
  kReal = 3,
  kText = 4,
  kArray = 5,
  kObject = 6,
};

// A value in a document. A view, valid as long as the document and the nodes
// that led to the value.
class JsonNode {
 public:
  // The kind of the value, for callers with their own errors; kNull if the
  // value is missing.
  JsonKind kind() const;
  bool Has(absl::string_view field) const;
  // A field of an object. A missing field is an error.
  JsonNode Field(const char* name) const;
  // The number of entries of an array. An error if the value is not an array or
  // has more than `max` entries.
  size_t Size(size_t max) const;
  // Entry `i` of an array. A missing value if there is no such entry, which is
  // not an error by itself.
  JsonNode At(size_t i) const;
  // Visits every field of an object. More than `max` fields are an error.
  void ForEachField(
      size_t max,
      absl::FunctionRef<void(const std::string&, const JsonNode&)> visit) const;

  uint64_t U64(uint64_t max = ~uint64_t{0}) const;
  // A whole number of at most `max`.
  int Int(int max) const { return static_cast<int>(U64(max)); }
  uint32_t U32() const { return static_cast<uint32_t>(U64(0xffffffff)); }
  int64_t I64() const;  // at least 0
  // A whole number that may be negative. Beyond 64 bits the upper digits are
  // lost.
  int64_t Signed() const;
  bool Bool() const;
  float Float() const;  // finite
  double Double() const;
  std::string String(size_t max_bytes) const;
  // The bytes that JsonWriter::String wrote: each character is one byte.
  std::string Bytes(size_t max_bytes) const;
  // A number as eight hexadecimal digits, and a string of at most `max` such
  // numbers.
  uint32_t Hex32() const;
  std::vector<uint32_t> Hex32s(size_t max) const;
  uint64_t Hex64() const;  // sixteen digits

  // Makes "PLACE: what" the document's error, unless the document has one
  // already.
  void Fail(absl::string_view what) const;
  bool ok() const;

 private:
  friend class JsonDocument;
  JsonNode(const void* value, const JsonDocument* document,
           const JsonNode* parent, const char* name, size_t index)
      : value_(value),
        document_(document),
        parent_(parent),
        name_(name),
        index_(index) {}
  std::string Place() const;
  JsonNode Nothing(const char* name) const;

  const void* value_;  // a value of the JSON library
  const JsonDocument* document_;
  const JsonNode* parent_;
  const char* name_;  // nullptr: an entry of an array
  size_t index_;
};

class JsonDocument {
 public:
  // INVALID_ARGUMENT: not JSON, or nested deeper than `max_depth`.
  static absl::StatusOr<std::unique_ptr<JsonDocument>> Parse(
      absl::string_view text, int max_depth = 16);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const JsonNode& root() const { return root_; }
  // OK, or INVALID_ARGUMENT with the first error of any node.
  const absl::Status& status() const { return status_; }

 private:
  friend class JsonNode;
  struct Value;
  explicit JsonDocument(std::unique_ptr<Value> value);

  const std::unique_ptr<Value> value_;
  const JsonNode root_;
  mutable absl::Status status_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_JSON_READER_H_
