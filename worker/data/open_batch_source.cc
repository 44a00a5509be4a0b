#include "worker/data/open_batch_source.h"

#include <utility>

#include "base/status_macros.h"
#include "worker/data/batch_prefetcher.h"
#include "worker/data/direct_batch_source.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<BatchSource>> OpenBatchSource(
    const FileSystem* file_system, const LocalSource& file, const Lease& lease,
    const PieceReaderOptions& options, bool prefetch, Executor* strand) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<PieceReader> reader,
                         PieceReader::Open(file_system, file.path, lease,
                                           options, file.info.size,
                                           file.info.name));
  if (prefetch) {
    return std::make_unique<BatchPrefetcher>(std::move(reader), strand);
  }
  return std::make_unique<DirectBatchSource>(std::move(reader), strand);
}

}  // namespace shoal
