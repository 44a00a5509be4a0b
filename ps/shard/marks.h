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
  // Of about 100 bytes each; beyond so many new batches are refused.
  size_t chunks_max = kMaxMarkChunks;
  // Marks that TakeMarks has not fetched, of 32 bytes each.
  size_t pending_max = size_t{1} << 20;
  // Copies that wait for a batch that is being applied.
  size_t waiting_max = 1024;
};

// Which batches this shard has applied or rejected, and what to do with a push:
//   unknown --Begin: kApply--> being applied --Finish--> marked
// A copy of a marked batch is a repeat, answered by the first one's verdict. A
// copy of a batch that is being applied waits for that verdict. Pure protocol
// logic: no threads, no clocks. Thread-compatible (the shard locks it).
class Marks {
 public:
  enum class Admission {
    kApply,   // apply it, then call Finish
    kRepeat,  // done before: `verdict` says how; change nothing
    kWait,    // Finish of the other copy returns this one's ticket
  };
  struct Admitted {
    Admission admission = Admission::kApply;
    Verdict verdict = Verdict::kApplied;  // of a repeat
  };

  explicit Marks(MarksOptions options) : options_(options) {}

  // If the batch is marked, counts this copy as a repeat and returns the
  // verdict. `lease` is the copy's; RESOURCE_EXHAUSTED where its mark has no
  // room.
  absl::StatusOr<std::optional<Verdict>> Repeat(const BatchId& batch,
                                                uint64_t lease);

  // Admits a push that is validated and whose memory is reserved. `ticket`
  // names a copy that has to wait; the caller's to choose. At a limit of the
  // options nothing has changed: RESOURCE_EXHAUSTED where it may pass,
  // OUT_OF_RANGE where chunks_max are kept already.
  absl::StatusOr<Admitted> Begin(const BatchId& batch, uint64_t lease,
                                 uint64_t ticket);

  // Marks a batch that Begin said to apply. Returns the tickets of the copies
  // that waited, in their order: repeats with the same verdict.
  std::vector<uint64_t> Finish(const BatchId& batch, Verdict verdict);

  // The marks made since the last call, in order, and all repeats so far.
  MarkDelta Take();

  // Adds marks that were loaded, before the first push. Which passes they came
  // from is not known, and Take does not tell of them. INVALID_ARGUMENT: not a
  // whole set as core/mark_run.h wants it. RESOURCE_EXHAUSTED: chunks_max.
  absl::Status Restore(absl::Span<const MarkRun> runs);
  // The marks of the batches of one piece with indexes 64 c to 64 c + 63, where
  // c is the index of `chunk`; bit i is batch 64 c + i.
  struct Bits {
    BatchId chunk;
    uint64_t applied = 0;
    uint64_t rejected = 0;
  };
  // All marks, in no order: takes as little time as they can be copied in.
  std::vector<Bits> Copy() const;
  // The same as runs, which takes seconds for millions of pieces: not under a
  // lock that others wait for.
  static std::vector<MarkRun> RunsOf(std::vector<Bits> bits);
  std::vector<MarkRun> Runs() const { return RunsOf(Copy()); }
  MarkTotals Totals() const { return totals_; }

  // Pushes that were copies, of marked batches and of waiting ones.
  uint64_t repeats_refused() const { return repeats_refused_; }
  uint64_t applied() const { return totals_.applied; }
  uint64_t rejected() const { return totals_.rejected; }

 private:
  // Which batches of a chunk came under a lease, each bit a batch.
  struct Pass {
    uint64_t lease = 0;
    uint64_t made = 0;      // by this lease
    uint64_t repeated = 0;  // a copy came from this lease, reported once
  };
  // Batches of one piece with indexes 64 c to 64 c + 63.
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
  // Batch `index` of the chunk has become marked.
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
