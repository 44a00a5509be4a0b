#ifndef SHOAL_WORKER_DATA_DIRECT_BATCH_SOURCE_H_
#define SHOAL_WORKER_DATA_DIRECT_BATCH_SOURCE_H_

#include <memory>
#include <optional>

#include "base/executor.h"
#include "worker/data/batch_source.h"
#include "worker/data/piece_reader.h"

namespace shoal {

// Reads each batch on the strand, in a task of its own, when it is requested.
// It has no thread and no clock, so every run under the simulator is the same.
class DirectBatchSource final : public BatchSource {
 public:
  // `strand` must outlive the source.
  DirectBatchSource(std::unique_ptr<PieceReader> reader, Executor* strand);

  void Next(Done<std::optional<Batch>> done) override;
  void Recycle(Batch batch) override;
  const PieceReport& report() const override { return reader_->report(); }

 private:
  absl::StatusOr<std::optional<Batch>> Read();

  const std::unique_ptr<PieceReader> reader_;
  Executor* const strand_;
  Batch spare_;
  // Posted tasks hold a weak pointer to this, which tells them whether the
  // source still exists.
  const std::shared_ptr<DirectBatchSource*> self_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_DIRECT_BATCH_SOURCE_H_
