#ifndef SHOAL_WORKER_DATA_OPEN_BATCH_SOURCE_H_
#define SHOAL_WORKER_DATA_OPEN_BATCH_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "core/lease.h"
#include "worker/data/batch_source.h"
#include "worker/data/piece_reader.h"
#include "worker/data/source_list.h"

namespace shoal {

// Opens the batches of `lease`. `file` is the lease's source on this host, with
// its size when the job began. With `prefetch` the batches are read ahead on a
// thread of their own; without, they are read on the strand when they are
// requested. `file_system` and `strand` must outlive the result. Errors: those
// of PieceReader::Open.
absl::StatusOr<std::unique_ptr<BatchSource>> OpenBatchSource(
    const FileSystem* file_system, const LocalSource& file, const Lease& lease,
    const PieceReaderOptions& options, bool prefetch, Executor* strand);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_OPEN_BATCH_SOURCE_H_
