#ifndef SHOAL_CORE_DATA_FORMAT_H_
#define SHOAL_CORE_DATA_FORMAT_H_

#include "core/choice.h"

namespace shoal {

// The format of rows; see docs/data_formats.md. kAuto: detected from the data.
// Each other format is a row of the table in worker/data/format_table.cc, which
// does not compile if a format is missing there.
enum class DataFormat { kAuto, kLibSvm, kLibFfm, kTfRecord, kCriteo };

// The values of --data_format.
inline constexpr Choice<DataFormat> kDataFormats[] = {
    {DataFormat::kAuto, "auto"},
    {DataFormat::kLibSvm, "libsvm"},
    {DataFormat::kLibFfm, "libffm"},
    {DataFormat::kTfRecord, "tfrecord"},
    {DataFormat::kCriteo, "criteo"}};

}  // namespace shoal

#endif  // SHOAL_CORE_DATA_FORMAT_H_
