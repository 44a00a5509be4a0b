#ifndef SHOAL_WORKER_DATA_OPEN_EXAMPLES_H_
#define SHOAL_WORKER_DATA_OPEN_EXAMPLES_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "worker/data/data_format.h"
#include "worker/data/example_options.h"
#include "worker/data/example_reader.h"

namespace shoal {

// Opens the rows of bytes [begin, end) of `file`, which has the format
// `format`. A compressed file is one piece: it is read whole for any `begin`
// and `end`. `file` and `cancelled` must outlive the reader. INVALID_ARGUMENT,
// naming the flag, if the format and the options do not fit.
absl::StatusOr<std::unique_ptr<ExampleReader>> OpenExamples(
    const RandomAccessFile* file, const FileFormat& format, uint64_t begin,
    uint64_t end, const ExampleOptions& options,
    const std::atomic<bool>* cancelled = nullptr);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_OPEN_EXAMPLES_H_
