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

// Reads JSON of a known shape from text that nobody vouches for. The first
// thing that is not as it must be is kept as the document's error, with its
// place ("shards[2].file.size"); from then on every value read is zero or
// empty, so that the code that reads need not check each. Thread-compatible.
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

// A value in a document: a view, valid as long as the document and as the nodes
// that it was reached through.
class JsonNode {
 public:
  // For code that has errors of its own; null where a value is missing.
  JsonKind kind() const;
  bool Has(absl::string_view field) const;
  // A field of an object; an error unless it is there.
  JsonNode Field(const char* name) const;
  // Entries of an array; an error if it is none or has more than `max`.
  size_t Size(size_t max) const;
  JsonNode At(size_t i) const;  // REQUIRES: i < Size()
  // Every field of an object, `max` at most.
  void ForEachField(
      size_t max,
      absl::FunctionRef<void(const std::string&, const JsonNode&)> visit) const;

  uint64_t U64(uint64_t max = ~uint64_t{0}) const;
  // Of at most `max`, as the type of the result.
  int Int(int max) const { return static_cast<int>(U64(max)); }
  uint32_t U32() const { return static_cast<uint32_t>(U64(0xffffffff)); }
  int64_t I64() const;  // of at least 0
  // With a sign; beyond 64 bits the digits above are lost.
  int64_t Signed() const;
  bool Bool() const;
  float Float() const;  // finite
  double Double() const;
  std::string String(size_t max_bytes) const;
  // What JsonWriter::String was given: each character is a byte.
  std::string Bytes(size_t max_bytes) const;
  // Eight hexadecimal digits, and a string of any number of such eights.
  uint32_t Hex32() const;
  std::vector<uint32_t> Hex32s(size_t max) const;
  uint64_t Hex64() const;  // sixteen

  // Keeps "PLACE: what" as the document's error, if it is the first.
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

  const void* value_;  // the library's
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
