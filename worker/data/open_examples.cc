#include "worker/data/open_examples.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "worker/data/format_table.h"
#include "worker/data/optional_label_parser.h"
#include "worker/data/parallel_example_reader.h"

namespace shoal {
namespace {

std::unique_ptr<RecordParser> NewParser(const DataFormatKind& kind,
                                        const ExampleOptions& options) {
  if (!options.may_lack_label) return kind.new_parser(options);
  ExampleOptions any = options;
  any.any_label = true;
  return std::make_unique<OptionalLabelParser>(kind.new_parser(options),
                                               kind.new_parser(any));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExampleReader>> OpenExamples(
    const RandomAccessFile* file, const FileFormat& format, uint64_t begin,
    uint64_t end, const ExampleOptions& options,
    const std::atomic<bool>* cancelled) {
  const DataFormatKind& kind = KindOf(format.format);
  SHOAL_RETURN_IF_ERROR(kind.check(options));
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes,
                         OpenBytes(file, format.compression, cancelled));
  if (format.compression != Compression::kNone) {
    begin = 0;
    end = kToTheEnd;
  }
  std::unique_ptr<RecordSource> records =
      kind.new_source(std::move(bytes), begin, end, options, cancelled);
  if (options.parse_threads <= 1) {
    return std::make_unique<SerialExampleReader>(
        std::move(records), NewParser(kind, options), options.bad_row_label);
  }
  std::vector<std::unique_ptr<RecordParser>> parsers;
  for (int i = 0; i < options.parse_threads; ++i) {
    parsers.push_back(NewParser(kind, options));
  }
  return std::make_unique<ParallelExampleReader>(
      std::move(records), std::move(parsers), options.bad_row_label);
}

}  // namespace shoal
