#include "worker/data/direct_batch_source.h"

#include <utility>

#include "base/status_macros.h"

namespace shoal {

DirectBatchSource::DirectBatchSource(std::unique_ptr<PieceReader> reader,
                                     Executor* strand)
    : reader_(std::move(reader)),
      strand_(strand),
      self_(std::make_shared<DirectBatchSource*>(this)) {}

void DirectBatchSource::Next(Done<std::optional<Batch>> done) {
  strand_->Post([weak = std::weak_ptr<DirectBatchSource*>(self_),
                 done = std::move(done)]() mutable {
    const std::shared_ptr<DirectBatchSource*> self = weak.lock();
    if (self == nullptr) return;
    absl::StatusOr<std::optional<Batch>> batch = (*self)->Read();
    std::move(done)(std::move(batch));  // may destroy the source
  });
}

absl::StatusOr<std::optional<Batch>> DirectBatchSource::Read() {
  Batch batch = std::exchange(spare_, Batch());
  SHOAL_ASSIGN_OR_RETURN(const bool more, reader_->Next(&batch));
  if (!more) return std::optional<Batch>();
  return std::optional<Batch>(std::move(batch));
}

void DirectBatchSource::Recycle(Batch batch) { spare_ = std::move(batch); }

}  // namespace shoal
