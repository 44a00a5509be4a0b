#include "worker/data/format_table.h"

#include <iterator>
#include <utility>

#include "base/check.h"
#include "worker/data/criteo_parser.h"
#include "worker/data/libffm_parser.h"
#include "worker/data/libsvm_parser.h"
#include "worker/data/line_source.h"
#include "worker/data/tf_example_parser.h"
#include "worker/data/tfrecord_source.h"

namespace shoal {
namespace {

absl::Status AnyFits(const ExampleOptions&) { return absl::OkStatus(); }

absl::Status CheckCriteo(const ExampleOptions& options) {
  return CriteoParser::Validate(options.feature_size, options.field_size);
}

template <typename Source>
std::unique_ptr<RecordSource> NewSource(std::unique_ptr<ByteSource> bytes,
                                        uint64_t begin, uint64_t end,
                                        const ExampleOptions& options,
                                        const std::atomic<bool>* cancelled) {
  return std::make_unique<Source>(std::move(bytes), begin, end,
                                  options.max_record_bytes, cancelled);
}

std::unique_ptr<RecordParser> NewLibSvmParser(const ExampleOptions& options) {
  return std::make_unique<LineParser<LibSvmParser>>(
      LibSvmParser(options.feature_size, options.field_size, options.any_label,
                   options.num_labels));
}

std::unique_ptr<RecordParser> NewLibFfmParser(const ExampleOptions& options) {
  return std::make_unique<LineParser<LibFfmParser>>(
      LibFfmParser(options.feature_size, options.field_size, options.any_label,
                   options.num_labels));
}

std::unique_ptr<RecordParser> NewTfExampleParser(
    const ExampleOptions& options) {
  return std::make_unique<TfExampleParser>(
      options.feature_size, options.field_size, options.any_label,
      options.num_labels);
}

std::unique_ptr<RecordParser> NewCriteoParser(const ExampleOptions& options) {
  return std::make_unique<LineParser<CriteoParser>>(
      CriteoParser(options.feature_size, options.field_size, options.any_label,
                   options.num_labels));
}

// A line looks like a row of one format of lines at most, so their order does
// not matter.
constexpr DataFormatKind kKinds[] = {
    {DataFormat::kTfRecord, "TFRecord (the checksum of a length)",
     IdKind::kWritten, /*is_row=*/nullptr, BeginsTfRecords, AnyFits,
     NewSource<TfRecordSource>, NewTfExampleParser},
    {DataFormat::kCriteo, "Criteo (40 columns, or 39 without a label)",
     IdKind::kHashed, LooksLikeCriteo, /*is_head=*/nullptr, CheckCriteo,
     NewSource<LineSource>, NewCriteoParser},
    {DataFormat::kLibSvm, "LibSVM ([label] id:value ...)", IdKind::kWritten,
     LooksLikeLibSvm, /*is_head=*/nullptr, AnyFits, NewSource<LineSource>,
     NewLibSvmParser},
    {DataFormat::kLibFfm, "LibFFM ([label] field:id:value ...)",
     IdKind::kWritten, LooksLikeLibFfm, /*is_head=*/nullptr, AnyFits,
     NewSource<LineSource>, NewLibFfmParser},
};

constexpr bool HasRow(DataFormat format) {
  for (const DataFormatKind& kind : kKinds) {
    if (kind.format == format) return true;
  }
  return false;
}

constexpr bool FormatsAgree() {
  for (const Choice<DataFormat>& known : kDataFormats) {
    if (known.value != DataFormat::kAuto && !HasRow(known.value)) return false;
  }
  // kAuto is a word and not a format.
  return std::size(kKinds) + 1 == std::size(kDataFormats);
}
static_assert(FormatsAgree(), "core/data_format.h lists other formats");

}  // namespace

absl::Span<const DataFormatKind> DataFormatKinds() { return kKinds; }

const DataFormatKind& KindOf(DataFormat format) {
  SHOAL_DCHECK(format != DataFormat::kAuto);
  for (const DataFormatKind& kind : kKinds) {
    if (kind.format == format) return kind;
  }
  return kKinds[0];  // never: every other format has a row
}

}  // namespace shoal
