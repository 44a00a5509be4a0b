#include "worker/data/row_window.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {

absl::Status ReadRows(LineSource* lines, LibSvmParser* parser, uint32_t most,
                      uint64_t max_line_bytes, ExampleBatch* rows,
                      BadRows* bad) {
  LineSource::Line line;
  std::string reason;
  while (rows->size() < most) {
    SHOAL_ASSIGN_OR_RETURN(const bool more, lines->Next(&line));
    if (!more) break;
    if (line.too_long) {
      reason = absl::StrCat("line longer than ", max_line_bytes, " bytes");
    } else if (parser->Parse(line.text, rows, &reason) !=
               LibSvmParser::Line::kBad) {
      continue;
    }
    if (bad->count++ == 0) {
      bad->first_number = line.number;
      bad->first_offset = line.offset;
      bad->first_reason = reason;
    }
  }
  return absl::OkStatus();
}

void AppendRow(const ExampleBatch& from, uint32_t row, ExampleBatch* to) {
  const uint32_t begin = from.offsets[row];
  const uint32_t end = from.offsets[row + 1];
  to->labels.push_back(from.labels[row]);
  to->ids.insert(to->ids.end(), from.ids.begin() + begin,
                 from.ids.begin() + end);
  to->values.insert(to->values.end(), from.values.begin() + begin,
                    from.values.begin() + end);
  to->offsets.push_back(static_cast<uint32_t>(to->ids.size()));
}

void PrefetchRow(const ExampleBatch& from, uint32_t row) {
  constexpr uint32_t kLineBytes = 64;
  const uint32_t begin = from.offsets[row];
  const uint32_t end = from.offsets[row + 1];
  for (uint32_t i = begin; i < end; i += kLineBytes / sizeof(FeatureId)) {
    __builtin_prefetch(&from.ids[i]);
  }
  for (uint32_t i = begin; i < end; i += kLineBytes / sizeof(float)) {
    __builtin_prefetch(&from.values[i]);
  }
}

void AppendRows(const ExampleBatch& from, ExampleBatch* to) {
  const uint32_t shift = to->offsets.back();
  to->labels.insert(to->labels.end(), from.labels.begin(), from.labels.end());
  to->ids.insert(to->ids.end(), from.ids.begin(), from.ids.end());
  to->values.insert(to->values.end(), from.values.begin(), from.values.end());
  for (size_t i = 1; i < from.offsets.size(); ++i) {
    to->offsets.push_back(shift + from.offsets[i]);
  }
}

}  // namespace shoal
