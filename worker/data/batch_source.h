#ifndef SHOAL_WORKER_DATA_BATCH_SOURCE_H_
#define SHOAL_WORKER_DATA_BATCH_SOURCE_H_

#include <optional>

#include "core/done.h"
#include "core/parameter_service.h"
#include "core/session_messages.h"
#include "worker/data/batch.h"

namespace shoal {

// SEAM: the batches of one lease as the train loop takes them, without waiting.
// Implementations: DirectBatchSource (reads when it is asked: the simulator,
// exact tests) and BatchPrefetcher (reads ahead on a thread of its own).
//
// Owned by the strand whose executor it was given: called there, completes
// there, never inside the call. May be destroyed at any time; a completion that
// has not run by then is dropped.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // The next batch that the lease does not skip, or nullopt at the end. One
  // call at a time. After an error or the end: only destruction.
  virtual void Next(Done<std::optional<Batch>> done) = 0;

  // Gives a batch's memory back for use by a later Next.
  virtual void Recycle(Batch batch) = 0;

  // What the whole piece holds. REQUIRES: Next delivered nullopt.
  virtual const PieceReport& report() const = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BATCH_SOURCE_H_
