#include "wire/codec/message_reader.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "wire/codec/utf8.h"

namespace shoal {
namespace {

// The limit on nesting of protobuf's own parsers.
constexpr int kMaxGroupDepth = 100;
constexpr uint64_t kMaxFieldNumber = (1u << 29) - 1;

}  // namespace

void MessageReader::Fail(absl::string_view what) {
  Merge(absl::InvalidArgumentError(absl::StrCat(message_, ": ", what)));
}

bool MessageReader::ReadField(WireField* field) {
  uint64_t tag;
  if (!body_.ReadVarint(&tag)) return false;
  const uint64_t number = tag >> 3;
  if (number == 0 || number > kMaxFieldNumber) return false;
  field->number = static_cast<uint32_t>(number);
  field->type = static_cast<WireType>(tag & 7);
  switch (field->type) {
    case WireType::kVarint:
      return body_.ReadVarint(&field->value);
    case WireType::kFixed64:
      return body_.ReadFixed64(&field->value);
    case WireType::kFixed32:
      return body_.ReadFixed32(&field->value);
    case WireType::kBytes: {
      uint64_t size;
      return body_.ReadVarint(&size) && body_.Take(size, &field->body);
    }
    case WireType::kStartGroup:
    case WireType::kEndGroup:
      return true;
  }
  return false;
}

bool MessageReader::SkipGroup(uint32_t number, int depth) {
  if (depth > kMaxGroupDepth) return false;
  WireField field;
  while (ReadField(&field)) {
    if (field.type == WireType::kEndGroup) return field.number == number;
    if (field.type == WireType::kStartGroup &&
        !SkipGroup(field.number, depth + 1)) {
      return false;
    }
  }
  return false;
}

bool MessageReader::Next(WireField* field) {
  while (status_.ok() && body_.remaining() > 0) {
    if (!ReadField(field) || field->type == WireType::kEndGroup ||
        (field->type == WireType::kStartGroup &&
         !SkipGroup(field->number, 1))) {
      Fail("malformed or truncated");
      return false;
    }
    if (field->type != WireType::kStartGroup) return true;
  }
  return false;
}

void MessageReader::Uint32(const WireField& field, absl::string_view name,
                           uint32_t* out) {
  if (field.type != WireType::kVarint) return;
  if (field.value > std::numeric_limits<uint32_t>::max()) {
    return Fail(
        absl::StrCat(name, " = ", field.value, " has more than 32 bits"));
  }
  *out = static_cast<uint32_t>(field.value);
}

void MessageReader::Uint64(const WireField& field, uint64_t* out) {
  if (field.type == WireType::kVarint) *out = field.value;
}

void MessageReader::Bool(const WireField& field, bool* out) {
  if (field.type == WireType::kVarint) *out = field.value != 0;
}

void MessageReader::Fixed32(const WireField& field, uint32_t* out) {
  if (field.type == WireType::kFixed32) {
    *out = static_cast<uint32_t>(field.value);
  }
}

void MessageReader::String(const WireField& field, absl::string_view name,
                           uint64_t max_bytes, std::string* out) {
  if (field.type != WireType::kBytes) return;
  FragmentReader body = field.body;
  if (body.remaining() > max_bytes) {
    return Fail(absl::StrCat(name, " has ", body.remaining(),
                             " bytes; the limit is ", max_bytes));
  }
  out->resize(body.remaining());
  body.CopyTo(out->data(), out->size());
  if (!IsValidUtf8(*out)) Fail(absl::StrCat(name, " is not UTF-8"));
}

void MessageReader::Body(const WireField& field, FragmentReader* out) {
  if (field.type == WireType::kBytes) *out = field.body;
}

void MessageReader::Array(const WireField& field, absl::string_view name,
                          uint64_t element_bytes, FragmentReader* out) {
  if (field.type != WireType::kBytes) return;
  if (field.body.remaining() % element_bytes != 0) {
    return Fail(absl::StrCat(name, " has ", field.body.remaining(),
                             " bytes, not a multiple of ", element_bytes));
  }
  *out = field.body;
}

}  // namespace shoal
