#ifndef SHOAL_PS_SHARD_MARKS_H_
#define SHOAL_PS_SHARD_MARKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/mark.h"
#include "core/mark_run.h"
#include "core/parameter_service.h"

namespace shoal {

struct MarksOptions {
  // Most chunks of 64 batches, of about 100 bytes each. At the limit, batches
  // of new chunks are refused.
  size_t chunks_max = kMaxMarkChunks;
  // Most marks, of 32 bytes each, that Take has not yet returned.
  size_t pending_max = size_t{1} << 20;
  // Most copies that wait for a batch that is being applied.
  size_t waiting_max = 1024;
};

// Records which batches this shard has applied or rejected, and decides what to
// do with a push:
//   unknown --Begin: kApply--> being applied --Finish--> marked
// A copy of a marked batch is a repeat, answered with the first copy's verdict.
// A copy of a batch that is being applied waits for that verdict. Pure protocol
// logic: no threads, no clocks. Thread-compatible (the shard locks it).
class Marks {
 public:
  enum class Admission {
    kApply,   // apply it, then call Finish
    kRepeat,  // the batch is marked with `verdict`; change nothing
    kWait,    // Finish of the other copy returns this copy's ticket
  };
  struct Admitted {
    Admission admission = Admission::kApply;
    Verdict verdict = Verdict::kApplied;  // the repeat's verdict
  };

  explicit Marks(MarksOptions options) : options_(options) {}

  // If the batch is marked, counts this copy as a repeat and returns the
  // verdict. `lease` is the lease of this copy. RESOURCE_EXHAUSTED if there is
  // no room to report the repeat (pending_max).
  absl::StatusOr<std::optional<Verdict>> Repeat(const BatchId& batch,
                                                uint64_t lease);

  // Admits a push that is validated and whose memory is reserved. `ticket`,
  // which the caller chooses, names this copy if it has to wait. At a limit of
  // the options nothing is changed: RESOURCE_EXHAUSTED if a later call may
  // succeed, OUT_OF_RANGE if chunks_max chunks are kept already.
  absl::StatusOr<Admitted> Begin(const BatchId& batch, uint64_t lease,
                                 uint64_t ticket);

  // Marks a batch for which Begin returned kApply. Returns the tickets of the
  // copies that waited, in the order of their arrival: they are repeats with
  // the same verdict.
  std::vector<uint64_t> Finish(const BatchId& batch, Verdict verdict);

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

  // The number of pushes that were copies, of marked batches or of batches that
  // were being applied.
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
  struct Applying {
    uint64_t lease = 0;
    std::vector<std::pair<uint64_t, uint64_t>> waiting;  // ticket, lease
  };

  static BatchId ChunkOf(const BatchId& batch);
  // Counts that batch `index` of the chunk has become marked.
  void CountMark(const BatchId& chunk, uint64_t index, Verdict verdict);
  // REQUIRES: the batch is marked.
  void CountRepeat(Chunk* chunk, const BatchId& batch, Verdict verdict,
                   uint64_t lease);

  const MarksOptions options_;
  absl::flat_hash_map<BatchId, Chunk> chunks_;  // by first batch / 64
  absl::flat_hash_map<BatchId, Applying> applying_;
  size_t waiting_ = 0;
  std::vector<Mark> pending_;
  uint64_t repeats_refused_ = 0;
  MarkTotals totals_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_MARKS_H_
