#ifndef SHOAL_WORKER_DATA_BATCH_SOURCE_H_
#define SHOAL_WORKER_DATA_BATCH_SOURCE_H_

#include <optional>

#include "core/done.h"
#include "core/parameter_service.h"
#include "core/session_messages.h"
#include "worker/data/batch.h"

namespace shoal {

// SEAM: delivers the batches of one lease to the train loop without blocking
// it. Implementations: DirectBatchSource (reads when a batch is requested, for
// the simulator and exact tests) and BatchPrefetcher (reads ahead on a thread
// of its own).
//
// Owned by the strand that it was given: it is called there and completes
// there, never inside the call. It may be destroyed at any time; a completion
// that has not run by then is dropped.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // Delivers the next batch that the lease does not skip, or nullopt at the
  // end. Only one call may be in progress. After an error or the end no call is
  // allowed except the destructor.
  virtual void Next(Done<std::optional<Batch>> done) = 0;

  // True if all batches are read, so that Next takes what is left from memory,
  // and another lease may be opened beside this one. A source that reads when
  // it is asked never says so.
  virtual bool all_read() const { return false; }

  // Gives a batch's memory back for use by a later Next.
  virtual void Recycle(Batch batch) = 0;

  // The report on the whole piece. REQUIRES: Next delivered nullopt.
  virtual const PieceReport& report() const = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BATCH_SOURCE_H_
