#ifndef SHOAL_PS_SHARD_MARKS_H_
#define SHOAL_PS_SHARD_MARKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/mark.h"
#include "core/mark_run.h"
#include "core/pushed_batch.h"

namespace shoal {

struct MarksOptions {
  // Most chunks of 64 batches, of about 100 bytes each. At the limit, batches
  // of new chunks are refused.
  size_t chunks_max = kMaxMarkChunks;
  // Most marks, of 32 bytes each, that Take has not yet returned.
  size_t pending_max = size_t{1} << 20;
  // Most batches of copies that wait for a push that is being applied.
  size_t waiting_max = 1024;
};

// Records which batches this shard has applied or rejected, and decides what to
// do with a push:
//   unknown --Begin: kApply--> being applied --Finish--> marked
// A copy of a marked batch is a repeat, answered with the first copy's verdict.
// A copy of a batch that is being applied waits for that verdict. A push of
// several batches is admitted and marked whole, or changes nothing;
// ParameterService::Push says what becomes of a push of which only some batches
// are known. Pure protocol logic: no threads, no clocks. Thread-compatible (the
// shard locks it).
//
//   SHOAL_ASSIGN_OR_RETURN(const Marks::Admitted admitted,
//                          marks.Begin(push.batches, ticket));
//   if (admitted.admission == Marks::Admission::kApply) {
//     // … apply the push …
//     for (const Marks::Answer& copy :
//          marks.Finish(push.batches, Verdict::kApplied)) { … }
//   }
//
// Every list of batches passes CheckPushedBatches (REQUIRES).
class Marks {
 public:
  enum class Admission {
    kApply,   // apply the push, then call Finish
    kRepeat,  // the batches are marked, with `verdict`; change nothing
    kWait,    // Finish of the other copy returns this copy's answer
  };
  struct Admitted {
    Admission admission = Admission::kApply;
    Verdict verdict = Verdict::kApplied;  // the repeat's verdict
  };
  // The answer to a copy that waited.
  struct Answer {
    uint64_t ticket = 0;
    absl::StatusOr<Verdict> verdict;  // a repeat's
  };

  explicit Marks(MarksOptions options) : options_(options) {}

  // If all batches are marked, counts this copy of each as a repeat and returns
  // the verdict (PushReply::verdict); nullopt if none is marked. Errors, which
  // change nothing: RESOURCE_EXHAUSTED if there is no room to report the
  // repeats (pending_max); UNAVAILABLE and FAILED_PRECONDITION as
  // ParameterService::Push.
  absl::StatusOr<std::optional<Verdict>> Repeat(
      absl::Span<const PushedBatch> batches);

  // Admits a push that is validated and whose memory is reserved. `ticket`,
  // which the caller chooses, names this copy if it has to wait. At a limit of
  // the options nothing is changed: RESOURCE_EXHAUSTED if a later call may
  // succeed, OUT_OF_RANGE if the chunks that are kept already leave no room
  // (chunks_max). Other errors: those of Repeat; FAILED_PRECONDITION
  // (RefuseLeases).
  absl::StatusOr<Admitted> Begin(absl::Span<const PushedBatch> batches,
                                 uint64_t ticket);

  // Marks the batches of a push: kRejected if the push rejects them, else
  // `verdict`. Returns the answers to the copies that waited, in the order of
  // their arrival. REQUIRES: Begin returned kApply for this very list.
  std::vector<Answer> Finish(absl::Span<const PushedBatch> batches,
                             Verdict verdict);

  // From now on a push under a lease up to `newest` is not admitted, unless the
  // batch is marked or being applied: such a copy is answered as ever. A lower
  // number than in an earlier call changes nothing.
  void RefuseLeases(uint64_t newest);
  // No push is being applied: every push that was admitted has its marks.
  bool idle() const { return applying_.empty(); }

  // Returns the marks made since the last call, in order, and the number of all
  // repeats so far.
  MarkDelta Take();

  // Adds loaded marks, before the first push. Their leases are not known, and
  // Take does not return them. INVALID_ARGUMENT if `runs` is not a complete set
  // as core/mark_run.h defines it. RESOURCE_EXHAUSTED: chunks_max.
  absl::Status Restore(absl::Span<const MarkRun> runs);
  // The marks of the batches of one piece with indexes 64 c to 64 c + 63, where
  // c is the index of `chunk`; bit i is batch 64 c + i.
  struct Bits {
    BatchId chunk;
    uint64_t applied = 0;
    uint64_t rejected = 0;
  };
  // Copies all marks, in no order. This is the fastest way to read them.
  std::vector<Bits> Copy() const;
  // Turns the copied marks into runs. This takes seconds for millions of
  // pieces, so do not call it under a lock that other threads need.
  static std::vector<MarkRun> RunsOf(std::vector<Bits> bits);
  std::vector<MarkRun> Runs() const { return RunsOf(Copy()); }
  MarkTotals Totals() const { return totals_; }

  // The number of copies of batches that came, when the batch was marked or
  // being applied.
  uint64_t repeats_refused() const { return repeats_refused_; }
  uint64_t applied() const { return totals_.applied; }
  uint64_t rejected() const { return totals_.rejected; }

 private:
  // The batches of a chunk that came under one lease; each bit is a batch.
  struct Pass {
    uint64_t lease = 0;
    uint64_t made = 0;      // marked under this lease
    uint64_t repeated = 0;  // copied under this lease; reported once
  };
  // The batches of one piece with indexes 64 c to 64 c + 63.
  struct Chunk {
    uint64_t applied = 0;
    uint64_t rejected = 0;
    absl::InlinedVector<Pass, 1> passes;
  };
  // A copy that waits for the push that has its batches.
  struct Waiting {
    uint64_t ticket = 0;
    PushedBatches batches;
  };
  // A batch that is being applied.
  struct Applying {
    BatchId first;  // the first batch of the push, which names the push
    std::vector<Waiting> waiting;  // for the push; kept with its first batch
  };

  static BatchId ChunkOf(const BatchId& batch);
  std::optional<Verdict> VerdictOn(const BatchId& batch) const;
  // The verdict on a copy of marked batches. FAILED_PRECONDITION if no verdict
  // is true of all. REQUIRES: all are marked.
  absl::StatusOr<Verdict> FirstVerdict(
      absl::Span<const PushedBatch> batches) const;
  // The error of a push of which some batches are known, in more than one way.
  absl::Status KnownInPart(absl::Span<const PushedBatch> batches) const;
  // The error of a push whose new chunks exceed chunks_max.
  absl::Status CheckChunks(absl::Span<const PushedBatch> batches) const;
  absl::Status CheckPending(size_t more) const;
  // The error of a push under a lease that is refused.
  absl::Status CheckLeases(absl::Span<const PushedBatch> batches) const;
  // Admits a copy of which some batches are being applied.
  absl::StatusOr<Admitted> Wait(absl::Span<const PushedBatch> batches,
                                uint64_t ticket);
  void SetMark(const PushedBatch& batch, Verdict verdict);
  // Counts that batch `index` of the chunk has become marked.
  void CountMark(const BatchId& chunk, uint64_t index, Verdict verdict);
  // REQUIRES: the batch is marked.
  void CountRepeat(const PushedBatch& batch);

  const MarksOptions options_;
  absl::flat_hash_map<BatchId, Chunk> chunks_;  // by first batch / 64
  absl::flat_hash_map<BatchId, Applying> applying_;
  size_t waiting_ = 0;  // batches of copies that wait
  uint64_t refused_leases_ = 0;  // the newest one; 0: none is refused
  std::vector<Mark> pending_;
  uint64_t repeats_refused_ = 0;
  MarkTotals totals_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_MARKS_H_
