#ifndef SHOAL_DATATOOLS_EXAMPLE_FORMAT_H_
#define SHOAL_DATATOOLS_EXAMPLE_FORMAT_H_

#include "absl/strings/string_view.h"

namespace shoal {

// How commands write examples: lines of LibSVM text, or TFRecord of tf.Example
// (tfrecord_writer.h). The same examples in either.
enum class ExampleFormat { kLibSvm, kTfRecord };

// As flags have it.
inline absl::string_view ExampleFormatName(ExampleFormat format) {
  return format == ExampleFormat::kLibSvm ? "libsvm" : "tfrecord";
}

// What the names of its files end in.
inline absl::string_view ExampleFormatSuffix(ExampleFormat format) {
  return format == ExampleFormat::kLibSvm ? ".libsvm" : ".tfrecords";
}

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_EXAMPLE_FORMAT_H_
