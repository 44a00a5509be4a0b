#ifndef SHOAL_WIRE_CODEC_MESSAGE_READER_H_
#define SHOAL_WIRE_CODEC_MESSAGE_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/protobuf_wire.h"
#include "wire/codec/fragment_reader.h"

namespace shoal {

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;   // for kVarint, kFixed32 and kFixed64
  FragmentReader body;  // for kBytes
};

// Reads one protobuf message field by field, in any order, and checks each
// field. After the first error Next returns false, and status() says what is
// wrong and in which message (INVALID_ARGUMENT). Thread-compatible.
//
//   MessageReader reader("BatchId", body);
//   for (WireField f; reader.Next(&f);) {
//     switch (f.number) {
//       case 1: reader.Uint32(f, "epoch", &batch->epoch); break;
//     }
//   }
//   return reader.status();
//
// As in protobuf's own parsers, a field that has a known number but an
// unexpected type is skipped like an unknown field. If a singular field comes
// several times, the last value counts.
class MessageReader {
 public:
  // `message` is the message's name in errors. It must outlive the reader.
  MessageReader(absl::string_view message, FragmentReader body)
      : message_(message), body_(body) {}

  // False at the end of the message or at the first error. Groups are skipped.
  bool Next(WireField* field);

  // Refuses a value of more than 32 bits, which protobuf would truncate.
  void Uint32(const WireField& field, absl::string_view name, uint32_t* out);
  void Uint64(const WireField& field, uint64_t* out);
  void Bool(const WireField& field, bool* out);
  void Fixed32(const WireField& field, uint32_t* out);
  // Refuses more than `max_bytes` bytes, and bytes that are not UTF-8.
  void String(const WireField& field, absl::string_view name,
              uint64_t max_bytes, std::string* out);
  void Body(const WireField& field, FragmentReader* out);
  // Refuses lengths that are not whole elements of `element_bytes`.
  void Array(const WireField& field, absl::string_view name,
             uint64_t element_bytes, FragmentReader* out);

  // Takes an error that the caller found.
  void Fail(absl::string_view what);
  // Takes the status of a nested message.
  void Merge(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  bool SkipGroup(uint32_t number, int depth);
  bool ReadField(WireField* field);

  const absl::string_view message_;
  FragmentReader body_;
  absl::Status status_;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_MESSAGE_READER_H_
