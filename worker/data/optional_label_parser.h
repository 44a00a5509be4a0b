#ifndef SHOAL_WORKER_DATA_OPTIONAL_LABEL_PARSER_H_
#define SHOAL_WORKER_DATA_OPTIONAL_LABEL_PARSER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "worker/data/batch.h"
#include "worker/data/record_parser.h"

namespace shoal {

// A parser of rows that may be without a label, but whose labels are otherwise
// those of the model (ExampleOptions::may_lack_label). It asks two parsers of
// one format.
class OptionalLabelParser final : public RecordParser {
 public:
  // `strict` needs a label; `any` takes any label and none
  // (ExampleOptions::any_label).
  OptionalLabelParser(std::unique_ptr<RecordParser> strict,
                      std::unique_ptr<RecordParser> any)
      : strict_(std::move(strict)), any_(std::move(any)) {}

  // The reason of a bad row says what is bad beside an absent label.
  Result Parse(absl::string_view record, ExampleBatch* out,
               std::string* reason) override {
    const Result result = strict_->Parse(record, out, reason);
    if (result != Result::kBad) return result;
    tried_.Clear();
    if (any_->Parse(record, &tried_, &beside_) != Result::kRow) {
      *reason = beside_;
      return Result::kBad;
    }
    if (tried_.unlabelled == 0) return Result::kBad;
    return any_->Parse(record, out, reason);
  }

 private:
  const std::unique_ptr<RecordParser> strict_;
  const std::unique_ptr<RecordParser> any_;
  ExampleBatch tried_;
  std::string beside_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_OPTIONAL_LABEL_PARSER_H_
