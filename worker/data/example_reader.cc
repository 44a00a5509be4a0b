#include "worker/data/example_reader.h"

#include "base/status_macros.h"
#include "worker/data/row_window.h"

namespace shoal {

absl::Status SerialExampleReader::ReadRows(uint32_t most, ExampleBatch* rows,
                                           BadRowSink* bad) {
  while (rows->size() < most) {
    SHOAL_ASSIGN_OR_RETURN(const bool more, records_->Next(&record_));
    if (!more) break;
    if (!record_.damage.empty()) {
      bad_.reason = record_.damage;
    } else if (parser_->Parse(record_.bytes, rows, &bad_.reason) !=
               RecordParser::Result::kBad) {
      continue;
    }
    bad_.number = record_.number;
    bad_.offset = record_.offset;
    if (bad != nullptr) SHOAL_RETURN_IF_ERROR(bad->Add(bad_));
    if (bad_row_label_.has_value()) AppendEmptyRow(*bad_row_label_, rows);
  }
  return absl::OkStatus();
}

}  // namespace shoal
