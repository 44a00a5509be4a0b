#ifndef SHOAL_WORKER_DATA_RECORD_PARSER_H_
#define SHOAL_WORKER_DATA_RECORD_PARSER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "worker/data/batch.h"

namespace shoal {

// SEAM: what makes an example of a record. Implementations: TfExampleParser,
// and LineParser around each parser of lines (LibSVM, Criteo).
// Thread-compatible.
class RecordParser {
 public:
  enum class Result { kRow, kNoRow, kBad };

  virtual ~RecordParser() = default;

  // Appends the example of a row to *out. For a bad one *reason says why in
  // printable ASCII; *out is unchanged.
  virtual Result Parse(absl::string_view record, ExampleBatch* out,
                       std::string* reason) = 0;
};

// A parser of lines: any class with a Parse as above whose result, of a type
// named Line, is one of kRow, kNoRow and kBad.
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
