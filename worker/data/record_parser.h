#ifndef SHOAL_WORKER_DATA_RECORD_PARSER_H_
#define SHOAL_WORKER_DATA_RECORD_PARSER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "worker/data/batch.h"

namespace shoal {

// SEAM: turns a record into an example. Implementations: TfExampleParser, and
// LineParser around each parser of lines (LibSVM, LibFFM, Criteo).
// Thread-compatible.
class RecordParser {
 public:
  enum class Result { kRow, kNoRow, kBad };

  virtual ~RecordParser() = default;

  // If `record` is a row, appends its example to *out. If it is bad, *reason
  // says why in printable ASCII, and *out is unchanged.
  virtual Result Parse(absl::string_view record, ExampleBatch* out,
                       std::string* reason) = 0;
};

// Adapts a parser of lines: any class with a Parse as above whose result type
// is named Line and has the values kRow, kNoRow and kBad.
template <typename Parser>
class LineParser final : public RecordParser {
 public:
  explicit LineParser(Parser parser) : parser_(std::move(parser)) {}

  Result Parse(absl::string_view record, ExampleBatch* out,
               std::string* reason) override {
    using Line = typename Parser::Line;
    switch (parser_.Parse(record, out, reason)) {
      case Line::kRow:
        return Result::kRow;
      case Line::kNoRow:
        return Result::kNoRow;
      case Line::kBad:
        break;
    }
    return Result::kBad;
  }

 private:
  Parser parser_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_RECORD_PARSER_H_
