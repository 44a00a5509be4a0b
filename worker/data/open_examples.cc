#include "worker/data/open_examples.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "worker/data/criteo_parser.h"
#include "worker/data/libsvm_parser.h"
#include "worker/data/line_source.h"
#include "worker/data/parallel_example_reader.h"
#include "worker/data/tf_example_parser.h"
#include "worker/data/tfrecord_source.h"

namespace shoal {
namespace {

std::unique_ptr<RecordParser> NewParser(DataFormat format,
                                        const ExampleOptions& options) {
  if (format == DataFormat::kTfRecord) {
    return std::make_unique<TfExampleParser>(
        options.feature_size, options.field_size, options.any_label);
  }
  if (format == DataFormat::kCriteo) {
    return std::make_unique<LineParser<CriteoParser>>(
        CriteoParser(options.feature_size, options.field_size));
  }
  return std::make_unique<LineParser<LibSvmParser>>(LibSvmParser(
      options.feature_size, options.field_size, options.any_label));
}

}  // namespace

absl::Status CheckFits(DataFormat format, const ExampleOptions& options) {
  if (format != DataFormat::kCriteo) return absl::OkStatus();
  return CriteoParser::Validate(options.feature_size, options.field_size);
}

absl::StatusOr<std::unique_ptr<ExampleReader>> OpenExamples(
    const RandomAccessFile* file, const FileFormat& format, uint64_t begin,
    uint64_t end, const ExampleOptions& options,
    const std::atomic<bool>* cancelled) {
  SHOAL_RETURN_IF_ERROR(CheckFits(format.format, options));
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes,
                         OpenBytes(file, format.compression, cancelled));
  if (format.compression != Compression::kNone) {
    begin = 0;
    end = kToTheEnd;
  }
  std::unique_ptr<RecordSource> records;
  if (format.format == DataFormat::kTfRecord) {
    records = std::make_unique<TfRecordSource>(
        std::move(bytes), begin, end, options.max_record_bytes, cancelled);
  } else {
    records = std::make_unique<LineSource>(std::move(bytes), begin, end,
                                           options.max_record_bytes, cancelled);
  }
  if (options.parse_threads <= 1) {
    return std::make_unique<SerialExampleReader>(
        std::move(records), NewParser(format.format, options),
        options.bad_row_label);
  }
  std::vector<std::unique_ptr<RecordParser>> parsers;
  for (int i = 0; i < options.parse_threads; ++i) {
    parsers.push_back(NewParser(format.format, options));
  }
  return std::make_unique<ParallelExampleReader>(
      std::move(records), std::move(parsers), options.bad_row_label);
}

}  // namespace shoal
