#ifndef SHOAL_DATATOOLS_EXAMPLE_FORMAT_H_
#define SHOAL_DATATOOLS_EXAMPLE_FORMAT_H_

#include "absl/strings/string_view.h"
#include "core/choice.h"

namespace shoal {

// The formats in which commands write examples: lines of LibSVM text, or
// TFRecords of tf.Example (tfrecord_writer.h). The examples are the same in
// both.
enum class ExampleFormat { kLibSvm, kTfRecord };

// The values of --format.
inline constexpr Choice<ExampleFormat> kExampleFormats[] = {
    {ExampleFormat::kLibSvm, "libsvm"}, {ExampleFormat::kTfRecord, "tfrecord"}};

// The end of the names of files in the format.
inline absl::string_view ExampleFormatSuffix(ExampleFormat format) {
  return format == ExampleFormat::kLibSvm ? ".libsvm" : ".tfrecords";
}

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_EXAMPLE_FORMAT_H_
