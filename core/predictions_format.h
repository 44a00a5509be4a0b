#ifndef SHOAL_CORE_PREDICTIONS_FORMAT_H_
#define SHOAL_CORE_PREDICTIONS_FORMAT_H_

#include "core/choice.h"

namespace shoal {

// The format of the file that an inference writes
// (cluster/predictions_file.h).
enum class PredictionsFormat {
  kText,    // a line a row: its C floats as %.9g or nan, blanks between them
  kBinary,  // binary32 or NaN, little-endian, no header
};

// The values of --predictions_format.
inline constexpr Choice<PredictionsFormat> kPredictionsFormats[] = {
    {PredictionsFormat::kText, "text", "is one line of 9 digits per row"},
    {PredictionsFormat::kBinary, "binary", "is little-endian float32"}};

}  // namespace shoal

#endif  // SHOAL_CORE_PREDICTIONS_FORMAT_H_
